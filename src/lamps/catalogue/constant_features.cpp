// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp constant_features() {
  Lamp lamp;
  lamp.name = "constant_features";
  lamp.summary = "More than half of the features have one value in the whole batch";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.01;
  lamp.is_exact = true;
  light_above(lamp, {"inputs", "constant_features", {0.6}}, 3, [](Finding& finding, double value) {
    finding.symptom = "Most features are constant";
    finding.evidence =
        percent_text(value) + " of the features are equal for all samples of a batch";
    finding.cause = "inputs that were read, scaled or masked wrongly";
    finding.advice = "Look at a batch as it enters the model";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
