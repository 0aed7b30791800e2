// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp loss_spikes() {
  constexpr double kLimit = 8;
  Lamp lamp;
  lamp.name = "loss_spikes";
  lamp.summary = "Four of 30 losses are over eight deviations above their median";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"spikes"};
  lamp.pictured = {{"spikes", "", {kLimit}}};
  lamp.waits_for = 30;
  lamp.false_alarms = 0.015;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent scores = recent_field(view, "spikes", "", 30);
    if (scores.points.empty()) return {};
    const auto high = std::count_if(scores.points.begin(),
                                    scores.points.end(),
                                    [](const NumberPoint& point) { return point.value > kLimit; });
    if (high < 4) return {};
    Finding finding;
    finding.step = scores.points.back().step;
    finding.quantity = "spikes";
    finding.symptom = "The loss jumps";
    finding.evidence =
        std::to_string(high) + " of the last 30 losses are over 8 deviations above their median";
    finding.cause = "a learning rate that is too high, or broken samples";
    finding.advice = "Divide the learning rate by three, or clip gradients";
    finding.rate_factor = 0.3;
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
