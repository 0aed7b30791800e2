// SPDX-License-Identifier: MIT
// For what alpha means see long_steps.cpp.
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp short_steps() {
  constexpr double kLimit = -0.95;
  Lamp lamp;
  lamp.name = "short_steps";
  lamp.summary = "Steps go a twentieth of the way or less: alpha is below -0.95";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"alpha"};
  lamp.pictured = {{"alpha", "", {kLimit}}};
  lamp.waits_for = 20;
  lamp.false_alarms = 0.028;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent alpha = recent_of_model(view, "alpha", 20);
    if (alpha.points.empty() || !(alpha.median() < kLimit)) return {};
    Finding finding;
    finding.step = alpha.points.back().step;
    finding.quantity = "alpha";
    finding.symptom = "The steps are very short";
    finding.evidence = "alpha is " + short_text(alpha.median()) + alpha.where() + ": a step is " +
                       short_text(1 + alpha.median()) + " times the one into the minimum along it";
    finding.cause = "a learning rate that is too small";
    finding.advice = "Try a learning rate that is ten times as large";
    finding.rate_factor = 10;
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
