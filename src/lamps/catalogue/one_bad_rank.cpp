// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp one_bad_rank() {
  Lamp lamp;
  lamp.name = "one_bad_rank";
  lamp.summary = "The loss turned NaN or infinite on some ranks before it did on others";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"rank_loss"};
  lamp.pictured = {{"rank_loss", "", {}}};
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    // The first bad step of each rank.
    int64_t first = -1;
    std::vector<std::string> bad;
    size_t ranks = 0;
    for (const SeriesInfo& series : view.series) {
      if (series.quantity != "rank_loss" || !series.field.empty()) continue;
      ++ranks;
      for (const NumberPoint& point : view.run.numbers(series.id)) {
        if (std::isfinite(point.value)) continue;
        if (first < 0 || point.step < first) {
          first = point.step;
          bad.clear();
        }
        if (point.step == first) bad.push_back(series.group);
        break;
      }
    }
    if (first < 0 || bad.size() == ranks) return {};
    Finding finding;
    finding.step = first;
    finding.quantity = "rank_loss";
    finding.layers = bad;
    finding.symptom = "Some ranks went bad before the others";
    finding.evidence = "The loss of " + listed(bad) + " is not finite at step " +
                       std::to_string(first) + ", that of the other ranks is";
    finding.cause = "a sample of that rank, or its device: parameters are the same on all";
    finding.advice = "Look at the samples of that rank at this step; sample_ids name them";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
