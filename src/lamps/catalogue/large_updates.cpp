// SPDX-License-Identifier: MIT
#include "lamps/recent.h"
#include "lamps/update_lengths.h"

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
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "update_ratio", 3);
    if (ratio.points.empty() || !(ratio.median() > kLimit)) return {};
    Finding finding;
    finding.symptom = "The parameters are overwritten by single steps";
    finding.cause = "a learning rate that is too large, or gradients that exploded";
    tell_update_length(
        finding, ratio.points.back().step, ratio.median(), /*usual=*/0.01, ratio.where());
    finding.advice = rate_advice(finding.rate_factor) + ", or clip gradients";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
