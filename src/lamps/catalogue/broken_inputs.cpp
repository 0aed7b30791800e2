// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp broken_inputs() {
  Lamp lamp;
  lamp.name = "broken_inputs";
  lamp.summary = "Inputs were NaN or infinite at a step or more";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "not_finite", {0}}};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const SeriesInfo* broken = view.find("inputs", "", "not_finite");
    if (!broken || broken->kind != ReadingKind::kNumber) return {};
    // One batch is enough, and of a long run not every point is read.
    for (const NumberStretch& stretch : view.run.stretches(broken->id, {}, 256)) {
      if (!(stretch.max > 0)) continue;
      Finding finding;
      finding.step = stretch.max_step;
      finding.quantity = "inputs";
      finding.symptom = "Inputs are not finite";
      finding.evidence = percent_text(stretch.max) +
                         " of the entries of the inputs are NaN or infinite at step " +
                         std::to_string(stretch.max_step);
      finding.cause = "broken samples, or a division by zero while normalising";
      finding.advice = "Look at these samples, and guard the division by a small number";
      return {finding};
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
