// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp scale_collapsed() {
  constexpr int64_t kFewest = 8;  // a scaler that begins too high halves a few times
  Lamp lamp;
  lamp.name = "scale_collapsed";
  lamp.summary = "The loss scale was halved eight times within 50 values";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"finite"};
  lamp.pictured = {{"finite", "loss_scale", {}}};
  lamp.waits_for = 20;
  lamp.false_alarms = 0.005;
  lamp.is_evidence = false;  // FaultBench trains with float32 alone
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const int64_t count = std::min<int64_t>(50, count_of(view, "finite", "loss_scale"));
    if (count < 20) return {};
    const Recent scales = recent_field(view, "finite", "loss_scale", count);
    int64_t halved = 0;
    Finding finding;
    for (size_t k = 1; k < scales.points.size(); ++k) {
      if (!(scales.points[k].value <= 0.5 * scales.points[k - 1].value)) continue;
      ++halved;
      finding.step = scales.points[k].step;
    }
    const double first = scales.points.front().value, last = scales.points.back().value;
    if (halved < kFewest || !(last < first / 100)) return {};
    finding.quantity = "finite";
    finding.symptom = "The loss scale collapses";
    finding.evidence = "The loss scale was halved " + std::to_string(halved) + " times in " +
                       std::to_string(count) + " values, from " + short_text(first) + " to " +
                       short_text(last);
    finding.cause =
        "gradients that overflow at any scale: NaN in the model or the data, or too long steps";
    finding.advice = "Look at what finite names first, clip gradients, or take bfloat16";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
