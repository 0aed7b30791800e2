// SPDX-License-Identifier: MIT
// alpha is -1 for no step, 0 in the minimum along it and 1 equally far beyond: a step is 1 + alpha
// times the one into the minimum. Good runs overshoot; from 1 on, the loss of the batch grows.
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp long_steps() {
  constexpr double kLimit = 1;
  Lamp lamp;
  lamp.name = "long_steps";
  lamp.summary = "Steps lead to a higher loss: alpha is above 1";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"alpha"};
  lamp.pictured = {{"alpha", "", {kLimit}}};
  lamp.waits_for = 20;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent alpha = recent_of_model(view, "alpha", 20);
    if (alpha.points.empty() || !(alpha.median() > kLimit)) return {};
    const std::string times = short_text(1 + alpha.median());
    Finding finding;
    finding.step = alpha.points.back().step;
    finding.quantity = "alpha";
    finding.symptom = "The steps are too long";
    finding.evidence = "alpha is " + short_text(alpha.median()) + alpha.where() + ": a step is " +
                       times + " times the one into the minimum along it";
    finding.cause = "a learning rate that is too large";
    finding.advice = "Divide the learning rate by about " + times;
    finding.rate_factor = 1 / (1 + alpha.median());
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
