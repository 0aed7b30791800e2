// SPDX-License-Identifier: MIT
// Layers of which hardly a unit is left that answers to any sample.
#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {
namespace {

// Nine in ten: of relu networks that train well, layers with half of their units dead are common.
constexpr double kTooManyDead = 0.9;
// The recent past is the last of so many stretches.
constexpr int64_t kDeadStretches = 8;

bool stayed_dead(const RunReader& run, const SeriesInfo& series) {
  const std::vector<NumberStretch> stretches = run.stretches(series.id, {}, kDeadStretches);
  return !stretches.empty() && stretches.back().min >= kTooManyDead;
}

}  // namespace

Lamp dead_units() {
  Lamp lamp;
  lamp.name = "dead_units";
  lamp.summary = "Nine in ten units of a layer are zero for whole batches";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"dead_units"};
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    Finding finding;
    for (const LastNumber& last : view.summary.numbers) {
      const SeriesInfo& series = last.series;
      if (series.quantity != "dead_units" || series.field.empty()) continue;
      if (!(last.point.value >= kTooManyDead) || !stayed_dead(view.run, series)) continue;
      if (!finding.evidence.empty()) finding.evidence += ", ";
      finding.evidence +=
          std::to_string(static_cast<int>(100 * last.point.value)) + " % of " + series.field;
      finding.step = last.point.step;
    }
    if (finding.evidence.empty()) return {};
    finding.quantity = "dead_units";
    finding.symptom = "Most units of a layer are dead";
    finding.evidence += " are zero for all samples of the batch";
    finding.cause = "a learning rate that is too large, or a start with biases far below zero";
    finding.advice =
        "Lower the learning rate, check how weights and inputs are scaled, or take an activation "
        "with a slope below zero";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
