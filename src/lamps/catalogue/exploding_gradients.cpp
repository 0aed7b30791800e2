// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp exploding_gradients() {
  Lamp lamp;
  lamp.name = "exploding_gradients";
  lamp.summary = "The gradient of the first layer is 70 times the last";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"activation_scale"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  light_above(
      lamp, {"activation_scale", "gradient_ratio", {70}}, 3, [](Finding& finding, double value) {
        finding.symptom = "The gradient grows towards the inputs";
        finding.evidence =
            "The gradient at the first layer is " + short_text(value) + " times that at the last";
        finding.cause = "weights that begin too large";
        finding.advice = "Begin with weights of variance 2 / inputs, or clip gradients";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
