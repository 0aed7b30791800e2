// SPDX-License-Identifier: MIT
// Exact.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp broken_inputs() {
  Lamp lamp;
  lamp.name = "broken_inputs";
  lamp.summary = "Inputs are NaN or infinite";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"inputs"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  light_above(lamp, {"inputs", "not_finite", {0}}, 1, [](Finding& finding, double value) {
    finding.symptom = "Inputs are not finite";
    finding.evidence = percent_text(value) + " of the entries of the inputs are NaN or infinite";
    finding.cause = "broken samples, or a division by zero while normalising";
    finding.advice = "Look at these samples, and guard the division by a small number";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
