// SPDX-License-Identifier: MIT
// A loss that grows and stays finite is as lost as one that does not.
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp loss_grew() {
  Lamp lamp;
  lamp.name = "loss_grew";
  lamp.summary = "The loss is over twice what it began with";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"loss"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 6;
  lamp.false_alarms = 0.01;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent first = first_of_field(view, "loss", "", 3),
                 last = recent_field(view, "loss", "", 3);
    if (first.points.empty() || last.series.count < 6) return {};
    const double before = first.median(), now = last.median();
    // A loss that is not positive has no multiple that it could have grown to.
    if (!(before > 0) || !(now > 2 * before) || !(now - before > 0.5)) return {};
    Finding finding;
    finding.step = last.points.back().step;
    finding.quantity = "loss";
    finding.symptom = "The loss grows";
    finding.evidence =
        "It began at " + short_text(before) + " and is " + short_text(now) + last.where();
    finding.cause = "a learning rate that is too high, or gradients that add up from step to step";
    finding.advice = "Divide the learning rate by ten";
    finding.rate_factor = 0.1;
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
