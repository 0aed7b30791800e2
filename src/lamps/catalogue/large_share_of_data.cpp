// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp large_share_of_data() {
  Lamp lamp;
  lamp.name = "large_share_of_data";
  lamp.summary = "The samples of a batch have all been in one of the eight batches before";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "seen_before", {0.9}}};
  lamp.waits_for = 20;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent seen = recent_field(view, "inputs", "seen_before", 20);
    const Recent same = recent_field(view, "inputs", "same_batch", 20);
    const Recent samples = recent_field(view, "inputs", "samples", 1);
    if (seen.points.empty() || same.points.empty() || samples.points.empty()) return {};
    if (!(seen.median() > 0.9) || same.median() > 0) return {};
    Finding finding;
    finding.step = seen.points.back().step;
    finding.quantity = "inputs";
    finding.symptom = "A batch is a large part of the data";
    finding.evidence = percent_text(seen.median()) +
                       " of the samples of a batch were in one of the eight before" + seen.where();
    finding.cause = "batches that are too large, or very few data";
    finding.factor = 0.125;
    finding.advice = "Take batches of about " +
                     short_text(std::ceil(samples.median() * finding.factor)) +
                     " samples: as many steps cost less";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
