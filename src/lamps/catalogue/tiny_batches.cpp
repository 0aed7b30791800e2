// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp tiny_batches() {
  Lamp lamp;
  lamp.name = "tiny_batches";
  lamp.summary = "Batches have six samples or fewer";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "samples", {6}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent samples = recent_field(view, "inputs", "samples", 3);
    if (samples.points.empty() || !(samples.median() <= 6)) return {};
    Finding finding;
    finding.step = samples.points.back().step;
    finding.quantity = "inputs";
    finding.symptom = "The batches are tiny";
    finding.evidence = "A batch has " + short_text(samples.median()) + " samples" + samples.where();
    finding.cause = "batches that are too small: their gradients are mostly noise";
    finding.factor = std::ceil(32 / samples.median());
    finding.advice = "Take batches of about " + short_text(finding.factor * samples.median()) +
                     " samples, or accumulate the gradients of " + short_text(finding.factor) +
                     " batches";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
