// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp large_start() {
  Lamp lamp;
  lamp.name = "large_start";
  lamp.summary =
      "At the start activations are over 3, or gradients grow fourfold towards the inputs";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"activation_scale"};
  lamp.pictured = {{"activation_scale", "", {3}}, {"activation_scale", "gradient_ratio", {4}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent scale = first_of_field(view, "activation_scale", "", 3);
    const Recent ratio = first_of_field(view, "activation_scale", "gradient_ratio", 3);
    if (scale.points.empty() || ratio.points.empty()) return {};
    if (!(scale.median() > 3) && !(ratio.median() > 4)) return {};
    Finding finding;
    finding.step = scale.points.back().step;
    finding.quantity = "activation_scale";
    finding.symptom = "The network begins at a large scale";
    finding.evidence = "At the first steps activations have a root mean square of " +
                       short_text(scale.median()) + ", and the gradient at the first layer is " +
                       short_text(ratio.median()) + " times that at the last";
    finding.cause = "weights that begin too large, or inputs that are not scaled";
    finding.advice = "Begin with weights of variance 2 / inputs, and normalise the inputs";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
