// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp large_updates() {
  constexpr double kLimit = -1;
  Lamp lamp;
  lamp.name = "large_updates";
  lamp.summary = "A step changes the parameters by more than a tenth";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"update_ratio"};
  lamp.pictured = {{"update_ratio", "", {kLimit}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.02;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "update_ratio", 3);
    if (ratio.points.empty() || !(ratio.median() > kLimit)) return {};
    Finding finding;
    finding.step = ratio.points.back().step;
    finding.quantity = "update_ratio";
    finding.symptom = "The parameters are overwritten by single steps";
    finding.evidence = "A step is " + short_text(std::pow(10, ratio.median())) +
                       " times as long as the parameters" + ratio.where() + "; 0.001 is usual";
    finding.cause = "a learning rate that is too large, or gradients that exploded";
    // To a step of a hundredth.
    finding.rate_factor = std::pow(10, -2 - ratio.median());
    finding.advice = "Divide the learning rate by about " + short_text(1 / finding.rate_factor) +
                     ", or clip gradients";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
