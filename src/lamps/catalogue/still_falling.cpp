// SPDX-License-Identifier: MIT
// Compares the last quarter of the losses with the quarter before.

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp still_falling() {
  Lamp lamp;
  lamp.name = "still_falling";
  lamp.summary = "The last quarter of a run that ended still lowered the loss";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"loss", "status"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 8;
  lamp.false_alarms = 0.209;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    if (view.summary.status != RunStatus::kFinished) return {};
    const int64_t count = count_of(view, "loss");
    if (count < 8) return {};
    const int64_t quarter = std::min<int64_t>(count / 4, 500);
    Recent last = recent_field(view, "loss", "", 2 * quarter);
    Recent before = last;
    before.points.resize(quarter);
    last.points.erase(last.points.begin(), last.points.begin() + quarter);
    const double first = first_of_field(view, "loss", "", 1).points[0].value;
    const double fall = before.median() - last.median();
    if (!(first > last.median()) || !(fall > 0.02 * before.median())) return {};
    // The last quarter has to have at least its share of all that was gained.
    if (!(fall > 0.15 * (first - last.median()))) return {};
    Finding finding;
    finding.step = last.points.back().step;
    finding.quantity = "loss";
    finding.symptom = "The loss was still falling";
    finding.evidence = "The last quarter of the run lowered it from " +
                       short_text(before.median()) + " to " + short_text(last.median());
    finding.cause = "too few steps, or a learning rate that is too low";
    finding.factor = 3;
    finding.advice = "Train for about three times as many steps";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
