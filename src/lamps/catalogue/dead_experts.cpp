// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

constexpr int64_t kSteps = 20;

// Counts the experts that got nothing in any of the last loads of a layer. Reads lists.
int64_t dead_in(const LampView& view, const SeriesInfo& loads, int64_t first_step) {
  std::vector<double> sums;
  for (const auto& [step, reading] : view.run.readings(loads.id, {first_step, loads.last_step})) {
    sums.resize(std::max(sums.size(), reading.list.size()), 0);
    for (size_t e = 0; e < reading.list.size(); ++e) sums[e] += reading.list[e];
  }
  return std::count(sums.begin(), sums.end(), 0.0);
}

}  // namespace

Lamp dead_experts() {
  Lamp lamp;
  lamp.name = "dead_experts";
  lamp.summary = "Experts got no token in any of the last 20 values";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"experts"};
  lamp.pictured = {{"experts", "dead", {0}}};
  lamp.waits_for = kSteps;
  lamp.false_alarms = 0.005;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent dead = recent_field(view, "experts", "dead", kSteps);
    // An expert that is dead at all of these steps is dead at each, so the median is not 0.
    if (dead.points.empty() || !(dead.median() > 0)) return {};
    Finding finding;
    int64_t count = 0;
    for (const SeriesInfo& series : view.series) {
      const std::string beginning = "load:";
      const bool is_load = series.quantity == "experts" && series.kind == ReadingKind::kList &&
                           series.field.rfind(beginning, 0) == 0;
      const int64_t here = is_load ? dead_in(view, series, dead.points.front().step) : 0;
      if (here == 0) continue;
      count += here;
      finding.layers.push_back("dead:" + series.field.substr(beginning.size()));
    }
    if (count == 0) return {};
    finding.step = dead.points.back().step;
    finding.quantity = "experts";
    finding.symptom = "Experts are dead";
    finding.evidence = std::to_string(count) + " experts got no token from step " +
                       std::to_string(dead.points.front().step) + " to step " +
                       std::to_string(finding.step) + ": " + listed(finding.layers);
    finding.cause = "a router that settled on some experts before the others could learn";
    finding.advice = "Add or raise a loss that balances loads, or noise on the router's scores";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
