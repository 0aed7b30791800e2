// SPDX-License-Identifier: MIT
// This lamp is exact: it looks at every value that the graph keeps. Infinities of a forward pass
// may be masks, so only a gradient or a loss that is not finite counts, and not where a scaler left
// the step out.
#include <algorithm>
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// Returns true if a scaler halved the next scale, as it does after an overflow.
bool is_scaled_down(const std::vector<NumberPoint>& scales, int64_t step) {
  const auto at =
      std::lower_bound(scales.begin(), scales.end(), step, [](const NumberPoint& point, int64_t k) {
        return point.step < k;
      });
  if (at == scales.end() || at->step != step) return false;
  // The scale after the last step is not recorded yet, and may still fall.
  if (at + 1 == scales.end()) return at->value > 1;
  return (at + 1)->value <= 0.75 * at->value;
}

std::vector<NumberPoint> points_of(const LampView& view,
                                   const char* field,
                                   const StepRange& range) {
  const SeriesInfo* series = view.find("finite", "", field);
  if (!series || series->kind != ReadingKind::kNumber) return {};
  return view.run.numbers(series->id, range);
}

// Returns the first step that used gradients that were not finite; -1 if there is none.
int64_t first_bad_step(const LampView& view) {
  const SeriesInfo* backward = view.find("finite", "", "backward");
  if (!backward || backward->kind != ReadingKind::kNumber) return -1;
  std::vector<NumberPoint> scales;
  for (const NumberStretch& stretch : view.run.stretches(backward->id, {}, 256)) {
    if (!(stretch.max > 0)) continue;
    if (scales.empty()) {
      scales = points_of(view, "loss_scale", {stretch.first_step, view.summary.last_step});
    }
    for (const NumberPoint& point :
         view.run.numbers(backward->id, {stretch.first_step, stretch.last_step})) {
      if (point.value > 0 && !is_scaled_down(scales, point.step)) return point.step;
    }
  }
  return -1;
}

}  // namespace

Lamp not_finite() {
  Lamp lamp;
  lamp.name = "not_finite";
  lamp.summary = "Gradients are NaN or infinite, and no scaler left the step out";
  // The divergence that follows is the failure, and has a lamp of its own.
  lamp.severity = Severity::kWarning;
  lamp.reads = {"finite"};
  lamp.pictured = {{"finite", "backward", {0}}, {"finite", "forward", {}}};
  lamp.is_exact = true;
  lamp.is_evidence = false;  // it says where, beside `diverged` and `overflow`, which are
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const int64_t step = first_bad_step(view);
    if (step < 0) return {};
    Finding finding;
    finding.step = step;
    finding.quantity = "finite";
    finding.symptom = "Gradients are not finite";
    const std::vector<NumberPoint> count = points_of(view, "backward", {step, step});
    finding.evidence = short_text(count.at(0).value) +
                       " entries of gradients are NaN or infinite at step " + std::to_string(step);
    for (const Note& note : view.notes) {
      const bool says_where = note.kind == NoteKind::kRemark && note.quantity == "finite" &&
                              note.text.rfind("first not finite", 0) == 0;
      if (says_where) finding.evidence += "; " + note.text;
    }
    finding.cause =
        "an operation outside of its range, an input that is not finite, or steps that are too "
        "long";
    finding.advice =
        "Guard the operation that is named, and look at the sample and its inputs' range";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
