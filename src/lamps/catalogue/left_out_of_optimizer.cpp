// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the optimizer.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp left_out_of_optimizer() {
  Lamp lamp;
  lamp.name = "left_out_of_optimizer";
  lamp.summary = "Parameters are not in the optimizer";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"trained"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above_by_group(
      lamp,
      {"trained", "not_optimized", {0}},
      1,
      "not in the optimizer:",
      [](Finding& finding, double value) {
        finding.symptom = "Some parameters are not trained";
        finding.evidence = short_text(value) + " parameters are not in the optimizer";
        finding.cause =
            "an optimizer that was given other parameters, or was made before a layer was added";
        finding.advice = "Make the optimizer of all parameters of the model, after it is complete";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
