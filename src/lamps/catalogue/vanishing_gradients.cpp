// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// A start below the first ratio is so far out that the training has to mend it before it can begin.
constexpr double kLeastRatioAtStart = 1e-4, kLeastRatio = 1e-3;

bool is_below(const Recent& ratio, double least) {
  return !ratio.points.empty() && ratio.median() > 0 && ratio.median() < least;
}

}  // namespace

Lamp vanishing_gradients() {
  Lamp lamp;
  lamp.name = "vanishing_gradients";
  lamp.summary =
      "The gradient of the first layer is a thousandth of the last, a ten-thousandth at the start";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"activation_scale"};
  lamp.pictured = {{"activation_scale", "gradient_ratio", {kLeastRatioAtStart, kLeastRatio}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent first = first_of_field(view, "activation_scale", "gradient_ratio", 3);
    const Recent last = recent_field(view, "activation_scale", "gradient_ratio", 3);
    const bool is_start = is_below(first, kLeastRatioAtStart);
    if (!is_start && !is_below(last, kLeastRatio)) return {};
    const Recent& ratio = is_start ? first : last;
    Finding finding;
    finding.step = ratio.points.back().step;
    finding.quantity = "activation_scale";
    finding.symptom = "The gradient vanishes towards the inputs";
    finding.evidence = "The gradient at the first layer is " + short_text(ratio.median()) +
                       " times that at the last" + ratio.where();
    finding.cause =
        "saturated activations, weights that begin too small, or too many layers without shortcuts";
    finding.advice =
        "Use relu, begin with weights of variance 2 / inputs, or add normalisation or shortcuts";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
