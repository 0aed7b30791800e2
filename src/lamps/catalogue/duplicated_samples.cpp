// SPDX-License-Identifier: MIT
// This lamp is exact: it compares samples.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp duplicated_samples() {
  Lamp lamp;
  lamp.name = "duplicated_samples";
  lamp.summary = "Samples appear more than once in a batch";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.01;
  lamp.is_exact = true;
  light_above(lamp, {"inputs", "duplicates", {0.1}}, 3, [](Finding& finding, double value) {
    finding.symptom = "A batch has samples twice";
    finding.evidence = percent_text(value) + " of the samples equal another one of their batch";
    finding.cause =
        "workers with the same seed, sampling with replacement from few samples, or a data set "
        "with copies";
    finding.advice = "Give every worker its own seed, and look for copies in the data";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
