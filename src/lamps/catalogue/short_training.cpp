// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp short_training() {
  Lamp lamp;
  lamp.name = "short_training";
  lamp.summary = "The run ended before its 30th step while the loss was falling";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"loss", "status"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 8;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    if (view.summary.status != RunStatus::kFinished || view.summary.last_step >= 30) return {};
    const int64_t count = count_of(view, "loss"), third = count / 3;
    if (count < 8) return {};
    const Recent first = first_of_field(view, "loss", "", third);
    const Recent last = recent_field(view, "loss", "", third);
    if (!(last.median() < first.median())) return {};
    Finding finding;
    finding.step = view.summary.last_step;
    finding.quantity = "loss";
    finding.symptom = "The run was short";
    finding.evidence = "It ended after " + std::to_string(view.summary.last_step + 1) +
                       " steps, in which the loss fell from " + short_text(first.median()) +
                       " to " + short_text(last.median());
    finding.cause = "too few steps or epochs";
    finding.factor = std::ceil(100.0 / static_cast<double>(view.summary.last_step + 1));
    finding.advice = "Train for at least " + short_text(finding.factor) + " times as many steps";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
