// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

struct Scatter {
  double mean = 0, error = 0;  // of the mean
};

Scatter scatter_of(const std::vector<NumberPoint>& points) {
  Scatter scatter;
  const auto count = static_cast<double>(points.size());
  for (const NumberPoint& point : points) scatter.mean += point.value / count;
  double squares = 0;
  for (const NumberPoint& point : points) squares += std::pow(point.value - scatter.mean, 2);
  scatter.error = std::sqrt(squares / (count - 1) / count);
  return scatter;
}

}  // namespace

Lamp skewed_ranks() {
  Lamp lamp;
  lamp.name = "skewed_ranks";
  lamp.summary = "The loss of one rank is far from that of all over its last 50 values";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"rank_loss", "loss"};
  lamp.pictured = {{"rank_loss", "", {}}};
  lamp.waits_for = 50;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const std::vector<Recent> ranks = recent(view, "rank_loss", 50);
    const Recent all = recent_of_model(view, "loss", 50);
    if (ranks.size() < 2 || all.points.empty()) return {};
    const Scatter usual = scatter_of(all.points);
    for (const Recent& rank : ranks) {
      const Scatter own = scatter_of(rank.points);
      const double apart = std::abs(own.mean - usual.mean);
      if (!(apart > 6 * std::hypot(own.error, usual.error) && apart > usual.mean / 4)) continue;
      Finding finding;
      finding.step = rank.points.back().step;
      finding.quantity = "rank_loss";
      finding.layers = {rank.series.group};
      finding.symptom = "One rank has other data";
      finding.evidence = "The loss of " + rank.series.group + " is " + short_text(own.mean) +
                         " and that of all " + short_text(usual.mean) +
                         " over the last 50 values up to step " + std::to_string(finding.step);
      finding.cause = "samples that are sorted or not shuffled before they are dealt to ranks";
      finding.advice = "Shuffle over all ranks, and compare label counts by rank";
      return {finding};
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
