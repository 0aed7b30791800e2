// SPDX-License-Identifier: MIT
#include <cmath>
#include <map>

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

constexpr int64_t kValues = 50;

Finding finding_of(const Recent& rank, const std::string& what, double own, double usual) {
  Finding finding;
  finding.step = rank.points.back().step;
  finding.quantity = rank.series.quantity;
  finding.layers = {rank.series.group};
  finding.symptom = "One rank has other data";
  finding.evidence = what + " of " + rank.series.group + " is " + short_text(own) +
                     " and that of " +
                     (rank.series.quantity == "rank_labels" ? "a random part " : "all ") +
                     short_text(usual) + " over the last " + std::to_string(kValues) +
                     " values up to step " + std::to_string(finding.step);
  finding.cause = "samples that are sorted or not shuffled before they are dealt to ranks";
  finding.advice = "Shuffle over all ranks, and compare label counts by rank";
  return finding;
}

bool is_beyond_chance(double apart, const Scatter& a, const Scatter& b) {
  return apart > 6 * std::hypot(a.error, b.error);
}

std::vector<Finding> look_at_losses(const LampView& view) {
  const Recent all = recent_of_model(view, "loss", kValues);
  if (all.points.empty()) return {};
  const Scatter usual = scatter_of(all.points);
  for (const Recent& rank : recent(view, "rank_loss", kValues)) {
    const Scatter own = scatter_of(rank.points);
    const double apart = std::abs(own.mean - usual.mean);
    if (!is_beyond_chance(apart, own, usual) || !(apart > usual.mean / 4)) continue;
    return {finding_of(rank, "The loss", own.mean, usual.mean)};
  }
  return {};
}

// Compares the distance of a rank's label shares from those of all with that of random samples.
std::vector<Finding> look_at_labels(const LampView& view) {
  const std::vector<Recent> all = recent(view, "rank_labels", kValues);
  for (const Recent& rank : all) {
    if (!rank.series.field.empty()) continue;
    for (const Recent& by_chance : all) {
      const bool is_its =
          by_chance.series.field == "by_chance" && by_chance.series.group == rank.series.group;
      if (!is_its) continue;
      const Scatter own = scatter_of(rank.points), usual = scatter_of(by_chance.points);
      const double apart = own.mean - usual.mean;
      // The estimate by chance is a fifth off where ranks have one or two samples.
      if (!is_beyond_chance(apart, own, usual) || !(apart > 0.2)) continue;
      return {finding_of(rank, "The distance of the label shares", own.mean, usual.mean)};
    }
  }
  return {};
}

// Finds a gradient that would be twice as long as the others' for equally many samples.
std::vector<Finding> look_at_gradients(const LampView& view) {
  const std::vector<Recent> norms = recent(view, "rank_grad_norm", kValues);
  std::map<std::string, double> samples;
  for (const Recent& rank : recent(view, "rank_samples", kValues)) {
    samples[rank.series.group] = scatter_of(rank.points).mean;
  }
  for (const Recent& rank : norms) {
    const Scatter own = scatter_of(rank.points);
    // This is the longest of the others, scaled to the number of samples that this rank has.
    Scatter longest;
    for (const Recent& other : norms) {
      if (other.series.group == rank.series.group) continue;
      const double fewer = samples[other.series.group] / samples[rank.series.group];
      Scatter scatter = scatter_of(other.points);
      if (!std::isfinite(scatter.mean)) return {};  // a matter of one_bad_rank
      const double factor = fewer > 1 ? std::sqrt(fewer) : 1;
      if (scatter.mean * factor > longest.mean) {
        longest = {scatter.mean * factor, scatter.error * factor};
      }
    }
    const double apart = own.mean - longest.mean;
    if (!is_beyond_chance(apart, own, longest) || !(own.mean > 2 * longest.mean)) continue;
    Finding finding = finding_of(rank, "The gradient's length", own.mean, longest.mean);
    finding.evidence = "The gradient of " + rank.series.group + " has length " +
                       short_text(own.mean) + " and the longest of the others " +
                       short_text(longest.mean) + " over the last " + std::to_string(kValues) +
                       " values up to step " + std::to_string(finding.step);
    return {finding};
  }
  return {};
}

}  // namespace

Lamp skewed_ranks() {
  Lamp lamp;
  lamp.name = "skewed_ranks";
  lamp.summary =
      "Loss, labels or gradient of one rank are far from those of all over its last 50 values";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"loss", "rank_grad_norm", "rank_labels", "rank_loss", "rank_samples"};
  lamp.pictured = {{"rank_loss", "", {}}, {"rank_labels", "", {}}, {"rank_grad_norm", "", {}}};
  lamp.waits_for = kValues;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    for (const auto& look : {look_at_losses, look_at_labels, look_at_gradients}) {
      std::vector<Finding> findings = look(view);
      if (!findings.empty()) return findings;
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
