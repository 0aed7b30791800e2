// SPDX-License-Identifier: MIT
// This lamp is exact: it compares targets with what the loss takes.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp labels_out_of_range() {
  Lamp lamp;
  lamp.name = "labels_out_of_range";
  lamp.summary = "Labels are none that the loss has: beyond the classes, or outside of 0 to 1";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "labels_outside", {0}}};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const SeriesInfo* outside = view.find("inputs", "", "labels_outside");
    if (!outside || outside->kind != ReadingKind::kNumber) return {};
    // One batch is enough.
    for (const NumberStretch& stretch : view.run.stretches(outside->id, {}, 256)) {
      if (!(stretch.max > 0)) continue;
      Finding finding;
      finding.step = stretch.max_step;
      finding.quantity = "inputs";
      finding.symptom = "Labels are out of range";
      finding.evidence = short_text(100 * stretch.max) +
                         " % of the labels are none that the loss has, at step " +
                         std::to_string(stretch.max_step);
      for (const char* end : {"label_low", "label_high"}) {
        const SeriesInfo* series = view.find("inputs", "", end);
        if (!series || series->kind != ReadingKind::kNumber) continue;
        const std::vector<NumberPoint> points =
            view.run.numbers(series->id, {finding.step, finding.step});
        if (points.empty()) continue;
        const bool is_first = end == std::string("label_low");
        finding.evidence += (is_first ? ": they go from " : " to ") + short_text(points[0].value);
      }
      finding.cause = "labels that count from 1 or mark what is missing, or masks from 0 to 255";
      finding.advice =
          "Count classes from 0, give the loss its ignore_index, and divide masks by their largest "
          "value";
      return {finding};
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
