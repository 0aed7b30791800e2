// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp beyond_stability() {
  Lamp lamp;
  lamp.name = "beyond_stability";
  lamp.summary = "The sharpest direction is over twice what the optimizer bears";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"sharpness"};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.005;
  lamp.is_evidence = false;
  light_above(lamp, {"sharpness", "", {2}}, 10, [](Finding& finding, double value) {
    finding.symptom = "The optimizer is beyond its stability";
    finding.evidence = "Steps along the sharpest direction grow: it is " + short_text(value) +
                       " times what the rate and the preconditioner bear";
    finding.cause = "a learning rate that is too high for the curvature here";
    finding.rate_factor = 1 / value;
    finding.advice = "Divide the learning rate by about " + short_text(value);
  });
  return lamp;
}

}  // namespace flightdeck::lamps
