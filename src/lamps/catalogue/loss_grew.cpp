// SPDX-License-Identifier: MIT
// A run whose loss grows and stays finite is as lost as one whose loss does not.
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// Finds the highest loss without reading every point of a long run.
NumberPoint highest(const LampView& view, const SeriesInfo& loss) {
  NumberPoint peak;
  for (const NumberStretch& stretch : view.run.stretches(loss.id, {}, 256)) {
    if (!(stretch.max > peak.value)) continue;
    peak.value = stretch.max;
    peak.step = stretch.max_step;
  }
  return peak;
}

}  // namespace

Lamp loss_grew() {
  Lamp lamp;
  lamp.name = "loss_grew";
  lamp.summary = "The loss is over twice what it began with, or was over ten times that";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"loss"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 6;
  lamp.false_alarms = 0.023;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent first = first_of_field(view, "loss", "", 3),
                 last = recent_field(view, "loss", "", 3);
    if (first.points.empty() || last.series.count < 6) return {};
    const double before = first.median(), now = last.median();
    // A loss that is not positive has no multiple that it could have grown to.
    if (!(before > 0)) return {};
    const NumberPoint peak = highest(view, last.series);
    const bool is_now = now > 2 * before && now - before > 0.5;
    if (!is_now && !(peak.value > 10 * before)) return {};
    Finding finding;
    finding.step = is_now ? last.points.back().step : peak.step;
    finding.quantity = "loss";
    finding.symptom = "The loss grows";
    finding.evidence =
        "It began at " + short_text(before) +
        (is_now ? " and is " + short_text(now) + last.where()
                : " and was " + short_text(peak.value) + " at step " + std::to_string(peak.step));
    finding.cause = "a learning rate that is too high, or gradients that add up from step to step";
    finding.advice = "Divide the learning rate by ten";
    finding.rate_factor = 0.1;
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
