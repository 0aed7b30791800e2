// SPDX-License-Identifier: MIT
// This lamp is exact: it finds gradients before a backward pass that were not there before the
// first one. If a program accumulates on purpose, they are there from the first step on.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp stale_gradients() {
  Lamp lamp;
  lamp.name = "stale_gradients";
  lamp.summary = "Gradients of the step before are still there when the next are computed";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"trained"};
  lamp.pictured = {{"trained", "leftover", {0}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent first = first_of_field(view, "trained", "leftover", 1);
    const Recent last = recent_field(view, "trained", "leftover", 2);
    if (last.points.empty() || first.points[0].step != 0 || first.points[0].value != 0) return {};
    if (!(last.points[0].value > 0 && last.points[1].value > 0)) return {};
    const Recent share = recent_field(view, "trained", "leftover_ratio", 1);
    Finding finding;
    finding.step = last.points.back().step;
    finding.quantity = "trained";
    finding.symptom = "Gradients of earlier steps add up";
    finding.evidence = "Before the backward pass of step " + std::to_string(finding.step) + ", " +
                       short_text(last.points[1].value) + " parameters have a gradient already";
    if (!share.points.empty()) {
      finding.evidence += ", as long as " + percent_text(share.median()) + " of the sum";
    }
    finding.cause = "zero_grad() is not called";
    finding.advice = "Call zero_grad() on the optimizer before every backward pass";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
