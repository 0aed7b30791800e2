// SPDX-License-Identifier: MIT
// This lamp is exact: gradients of earlier passes are there from the first step on, which is
// accumulation on purpose, but the pass that is watched has the weight of a whole mean, not of its
// part.
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp summed_gradients() {
  Lamp lamp;
  lamp.name = "summed_gradients";
  lamp.summary = "Means of several passes are added up without dividing";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"trained", "wiring"};
  lamp.pictured = {{"trained", "leftover", {0}}};
  lamp.waits_for = 2;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent weight = recent_field(view, "wiring", "loss_weight", 1);
    const Recent first = first_of_field(view, "trained", "leftover", 1);
    if (weight.points.empty() || first.points.empty()) return {};
    const bool is_accumulated = first.points[0].step == 0 && first.points[0].value > 0;
    if (!is_accumulated || !(std::abs(weight.median() - 1) < 0.01)) return {};
    Finding finding;
    finding.step = weight.points.back().step;
    finding.quantity = "wiring, trained";
    finding.symptom = "Accumulated gradients are summed";
    finding.evidence =
        "A pass whose losses have the weight of a whole mean is added to gradients that are there";
    finding.cause = "gradients are accumulated without dividing by the number of passes";
    finding.advice = "Divide the loss of every pass by the number of passes between two updates";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
