// SPDX-License-Identifier: MIT
#include "cockpit/rank_readings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace flightdeck {
namespace {

Reading by_rank(const char* quantity, size_t rank, double number, const char* field = "") {
  Reading reading;
  reading.quantity = quantity;
  reading.field = field;
  reading.group = "rank " + std::to_string(rank);
  reading.number = number;
  return reading;
}

Reading of_all(const char* quantity, double number) {
  Reading reading;
  reading.quantity = quantity;
  reading.number = number;
  return reading;
}

// Counts ranks whose parameters are not those of the first, whose losses are those of another, and
// whose random numbers are.
void add_likenesses(const CrewTable& table, bool is_sharded, std::vector<Reading>& readings) {
  const auto is_same = [&](int64_t a, int64_t b, int64_t high, int64_t low) {
    return table.at(a, high) == table.at(b, high) && table.at(a, low) == table.at(b, low);
  };
  double drifted = 0;
  std::set<int64_t> twins, streams;
  int64_t reference = -1;
  for (int64_t rank = 0; rank < table.W(); ++rank) {
    if (!table.has_samples(rank)) continue;
    if (reference < 0) reference = rank;
    drifted += is_same(rank, reference, kParametersHigh, kParametersLow) ? 0 : 1;
    for (int64_t other = 0; other < table.W(); ++other) {
      if (other == rank || !table.has_samples(other)) continue;
      if (is_same(rank, other, kLossesHigh, kLossesLow)) twins.insert(rank);
      if (is_same(rank, other, kRandomHigh, kRandomLow)) streams.insert(rank);
    }
  }
  if (!is_sharded) readings.push_back(of_all("rank_drift", drifted));
  readings.push_back(of_all("rank_twins", static_cast<double>(twins.size())));
  readings.push_back(of_all("rank_streams", static_cast<double>(streams.size())));
}

}  // namespace

std::vector<Reading> rank_readings(const CrewTable& table, const Plan& layout, bool is_sharded) {
  std::vector<Reading> readings;
  for (int64_t rank = 0; rank < table.W(); ++rank) {
    const auto place = static_cast<size_t>(rank);
    readings.push_back(by_rank("rank_samples", place, table.at(rank, kSamples)));
    if (!table.has_samples(rank)) continue;
    if (table.at(rank, kKnowsLoss) > 0) {
      readings.push_back(by_rank("rank_loss", place, table.at(rank, kLoss)));
    }
    if (!std::isnan(table.at(rank, kOutside))) {
      readings.push_back(by_rank("rank_time", place, table.at(rank, kOutside)));
    }
    readings.push_back(by_rank("rank_time", place, table.at(rank, kBackward), "backward"));
    if (layout.is_light) continue;
    if (layout.gradients.has(Need::kArrivedNorm)) {
      readings.push_back(by_rank("rank_grad_norm", place, table.at(rank, kGradNorm)));
    }
  }
  if (!layout.is_light) add_likenesses(table, is_sharded, readings);
  return readings;
}

void add_overlap(const CrewTable& table,
                 const std::vector<double>& ids,
                 std::vector<Reading>& readings) {
  std::map<double, std::set<int64_t>> ranks_of;
  size_t begin = 0;
  for (int64_t rank = 0; rank < table.W(); ++rank) {
    const size_t end = begin + static_cast<size_t>(table.at(rank, kSamples));
    for (; begin < end; ++begin) ranks_of[ids[begin]].insert(rank);
  }
  const auto count = std::count_if(
      ranks_of.begin(), ranks_of.end(), [](const auto& one) { return one.second.size() > 1; });
  readings.push_back(of_all("rank_overlap", static_cast<double>(count)));
}

void add_label_distances(const CrewTable& table,
                         const std::vector<double>& labels,
                         std::vector<Reading>& readings) {
  std::map<double, double> of_all;
  for (const double label : labels) ++of_all[label];
  const auto N = static_cast<double>(labels.size());
  size_t begin = 0;
  for (int64_t rank = 0; rank < table.W(); ++rank) {
    const size_t end = begin + static_cast<size_t>(table.at(rank, kSamples));
    const auto n = static_cast<double>(end - begin);
    if (n == 0 || n == N) continue;
    std::map<double, double> own;
    for (; begin < end; ++begin) ++own[labels[begin]];
    double distance = 0, by_chance = 0;
    for (const auto& [label, count] : of_all) {
      const double share = count / N;
      const double variance = share * (1 - share) / n * (N - n) / (N - 1);  // without return
      distance += std::abs(own[label] / n - share) / 2;
      by_chance += std::sqrt(variance * 2 / M_PI) / 2;
    }
    const auto place = static_cast<size_t>(rank);
    readings.push_back(by_rank("rank_labels", place, distance));
    readings.push_back(by_rank("rank_labels", place, by_chance, "by_chance"));
  }
}

}  // namespace flightdeck
