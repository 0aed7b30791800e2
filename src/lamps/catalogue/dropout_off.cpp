// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph of each step.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp dropout_off() {
  Lamp lamp;
  lamp.name = "dropout_off";
  lamp.summary = "Dropout was on and has gone off while the training goes on";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.pictured = {{"wiring", "dropouts", {0}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent last = recent_field(view, "wiring", "dropouts", 3);
    if (last.points.empty()) return {};
    for (const NumberPoint& point : last.points) {
      if (point.value != 0) return {};
    }
    int64_t had = -1;
    double dropouts = 0;
    for (const NumberStretch& stretch : view.run.stretches(last.series.id, {}, 256)) {
      if (!(stretch.max > 0)) continue;
      had = stretch.max_step;
      dropouts = stretch.max;
    }
    if (had < 0) return {};
    Finding finding;
    finding.step = last.points.front().step;
    finding.quantity = "wiring";
    finding.symptom = "Dropout has gone off";
    finding.evidence = "The graph had " + short_text(dropouts) + " dropouts at step " +
                       std::to_string(had) + " and has had none since step " +
                       std::to_string(finding.step) + " at the latest";
    finding.cause = "eval() for an evaluation, without train() after it";
    finding.advice = "Call train() on the model after every evaluation";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
