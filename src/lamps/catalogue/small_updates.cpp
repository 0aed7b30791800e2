// SPDX-License-Identifier: MIT
#include "lamps/recent.h"
#include "lamps/update_lengths.h"

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
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "update_ratio", 3);
    if (ratio.points.empty() || !(ratio.median() < kLimit)) return {};
    Finding finding;
    finding.symptom = "The parameters hardly move";
    finding.cause = "a learning rate that is too small, or gradients that vanished";
    tell_update_length(
        finding, ratio.points.back().step, ratio.median(), /*usual=*/0.001, ratio.where());
    finding.advice = rate_advice(finding.rate_factor) + ", and look at grad_norm by layer";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
