// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp little_learned() {
  Lamp lamp;
  lamp.name = "little_learned";
  lamp.summary = "The loss stands still at over four fifths of that of equal odds";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"loss", "logits", "update_ratio"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 50;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const int64_t count = count_of(view, "loss"), quarter = std::min<int64_t>(count / 4, 500);
    if (count < 50) return {};
    Recent last = recent_field(view, "loss", "", 2 * quarter), before = last;
    before.points.resize(quarter);
    last.points.erase(last.points.begin(), last.points.begin() + quarter);
    const Recent uniform = first_of_field(view, "logits", "uniform_loss", 1);
    const Recent ratio = recent_of_model(view, "update_ratio", 20);
    if (uniform.points.empty() || ratio.points.empty()) return {};
    const double odds = uniform.points[0].value;
    // Steps that are too short are the business of `slow_steps`.
    if (!(last.median() > 0.8 * odds) || !(ratio.median() > -2.8)) return {};
    if (!(before.median() - last.median() < 0.06 * before.median())) return {};
    Finding finding;
    finding.step = last.points.back().step;
    finding.quantity = "loss";
    finding.symptom = "The training has come to rest with little learned";
    finding.evidence = "The loss is " + short_text(last.median()) + last.where() + ", after " +
                       short_text(before.median()) + " before; equal odds give " + short_text(odds);
    finding.cause =
        "labels or inputs that say little about one another, or layers that pass nothing";
    finding.advice = "Look at a batch with its labels, and try to learn one batch by heart";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
