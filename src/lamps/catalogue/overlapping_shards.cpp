// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

constexpr int64_t kValues = 50, kMost = 2;

}  // namespace

Lamp overlapping_shards() {
  Lamp lamp;
  lamp.name = "overlapping_shards";
  lamp.summary = "Ranks have had the same sample at the same step now and then";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"rank_overlap", "rank_twins"};
  lamp.pictured = {{"rank_overlap", "", {0}}};
  lamp.waits_for = kValues;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent overlap = recent_of_model(view, "rank_overlap", kValues);
    const Recent twins = recent_of_model(view, "rank_twins", kValues);
    if (overlap.points.empty() || twins.points.empty()) return {};
    const auto steps = std::count_if(overlap.points.begin(),
                                     overlap.points.end(),
                                     [](const NumberPoint& point) { return point.value > 0; });
    // Where whole batches are the same, same_shard says so. A sampler that fills up its last batch
    // repeats a sample once in an epoch.
    if (steps <= kMost || twins.median() > 0) return {};
    Finding finding;
    finding.step = overlap.points.back().step;
    finding.quantity = "rank_overlap";
    finding.symptom = "Shards overlap";
    finding.evidence = "Two ranks had the same sample at " + short_text(double(steps)) +
                       " of the last " + std::to_string(kValues) + " steps looked at, up to step " +
                       std::to_string(finding.step);
    finding.cause =
        "ranks that shuffle by themselves: their random numbers are to be equal where the data set "
        "is dealt";
    finding.advice =
        "Give the sampler of every rank one seed and one epoch (set_epoch), or draw with "
        "replacement on purpose";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
