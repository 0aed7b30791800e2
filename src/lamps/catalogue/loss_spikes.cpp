// SPDX-License-Identifier: MIT
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
    Finding finding;
    int64_t high = 0;
    for (const NumberPoint& point : scores.points) {
      if (!(point.value > kLimit)) continue;
      ++high;
      finding.step = point.step;  // of the last one, whose samples are named
    }
    if (high < 4) return {};
    finding.quantity = "spikes";
    finding.symptom = "The loss jumps";
    finding.evidence =
        std::to_string(high) +
        " of the last 30 losses are over 8 deviations above their median, the last one at step " +
        std::to_string(finding.step);
    finding.cause = "a learning rate that is too high, or broken samples";
    finding.advice = "Divide the learning rate by three, or clip gradients";
    finding.rate_factor = 0.3;
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
