// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp small_updates() {
  constexpr double kLimit = -6;
  Lamp lamp;
  lamp.name = "small_updates";
  lamp.summary = "A step changes the parameters by less than a millionth";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"update_ratio"};
  lamp.pictured = {{"update_ratio", "", {kLimit}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.02;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "update_ratio", 3);
    if (ratio.points.empty() || !(ratio.median() < kLimit)) return {};
    Finding finding;
    finding.step = ratio.points.back().step;
    finding.quantity = "update_ratio";
    finding.symptom = "The parameters hardly move";
    finding.evidence = "A step is " + short_text(std::pow(10, ratio.median())) +
                       " times as long as the parameters" + ratio.where() + "; 0.001 is usual";
    finding.cause = "a learning rate that is too small, or gradients that vanished";
    // To a step of a thousandth.
    finding.rate_factor = std::pow(10, -3 - ratio.median());
    finding.advice = "Multiply the learning rate by about " + short_text(finding.rate_factor) +
                     ", and look at grad_norm by layer";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
