// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/order_statistics.h"
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp straggling_rank() {
  Lamp lamp;
  lamp.name = "straggling_rank";
  lamp.summary = "One rank takes half as long again as the others between its backward passes";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"rank_time"};
  lamp.pictured = {{"rank_time", "", {}}};
  lamp.waits_for = 20;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    std::vector<Recent> ranks = recent(view, "rank_time", 20);
    const auto is_field = [](const Recent& one) { return !one.series.field.empty(); };
    ranks.erase(std::remove_if(ranks.begin(), ranks.end(), is_field), ranks.end());
    if (ranks.size() < 2) return {};
    std::vector<double> times;
    for (const Recent& one : ranks) times.push_back(one.median());
    const auto slowest = std::max_element(times.begin(), times.end()) - times.begin();
    const Recent& slow = ranks[static_cast<size_t>(slowest)];
    const double seconds = times[static_cast<size_t>(slowest)];
    std::vector<double> others = times;
    others.erase(others.begin() + slowest);
    const double usual = median(std::move(others));
    // Differences below a millisecond come from the clock and the scheduler.
    if (!(seconds > 1.5 * usual && seconds - usual > 1e-3)) return {};
    Finding finding;
    finding.step = slow.points.back().step;
    finding.quantity = "rank_time";
    finding.layers = {slow.series.group};
    finding.symptom = "One rank makes the others wait";
    finding.evidence = slow.series.group + " takes " + short_text(seconds) +
                       " s between backward passes, the others " + short_text(usual) + " s" +
                       slow.where();
    finding.cause = "data that take longer to read there, or a machine that is slower or busy";
    finding.advice = "Look at the loader and the load of that machine";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
