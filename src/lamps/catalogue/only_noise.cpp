// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp only_noise() {
  constexpr double kLimit = 0;
  Lamp lamp;
  lamp.name = "only_noise";
  lamp.summary = "The gradient looks like noise: early_stopping stays above 0";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"early_stopping"};
  lamp.pictured = {{"early_stopping", "", {kLimit}}};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.165;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent criterion = recent_of_model(view, "early_stopping", 10);
    const auto is_above = [](const NumberPoint& point) { return point.value > kLimit; };
    const auto& points = criterion.points;
    if (points.empty() || !std::all_of(points.begin(), points.end(), is_above)) return {};
    Finding finding;
    finding.step = criterion.points.back().step;
    finding.quantity = "early_stopping";
    finding.symptom = "The gradient looks like noise";
    finding.evidence =
        "early_stopping is " + short_text(criterion.median()) + criterion.where() + ", above 0";
    finding.cause = "training that has converged as far as this batch size can tell";
    finding.advice = "Stop, lower the learning rate, or take larger batches";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
