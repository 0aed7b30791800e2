// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp vanishing_gradients() {
  Lamp lamp;
  lamp.name = "vanishing_gradients";
  lamp.summary = "The gradient of the first layer is a thousandth of the last";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"activation_scale"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.01;
  constexpr double kLimit = 1e-3;
  light_by_median(
      lamp,
      {"activation_scale", "gradient_ratio", {kLimit}},
      3,
      [](double value) { return value > 0 && value < kLimit; },
      [](Finding& finding, double value) {
        finding.symptom = "The gradient vanishes towards the inputs";
        finding.evidence =
            "The gradient at the first layer is " + short_text(value) + " times that at the last";
        finding.cause =
            "saturated activations, weights that begin too small, or too many layers without "
            "shortcuts";
        finding.advice =
            "Use relu, begin with weights of variance 2 / inputs, or add normalisation or "
            "shortcuts";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
