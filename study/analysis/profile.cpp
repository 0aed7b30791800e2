// SPDX-License-Identifier: MIT
#include "study/analysis/profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace flightdeck::study {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns at least one step, so that factors stay finite where untrained parameters reach the
// target.
double time_of(const Result& result) { return std::max(result.median_iterations, 1.0); }

}  // namespace

double Profile::share_within(double factor) const {
  const auto count = std::count_if(
      factors.begin(), factors.end(), [&](const auto& entry) { return entry.second <= factor; });
  return factors.empty() ? 0 : static_cast<double>(count) / static_cast<double>(factors.size());
}

std::vector<Profile> profiles(const std::vector<const Result*>& results) {
  std::map<std::string, double> fastest;
  std::set<std::string> competitors;
  for (const Result* result : results) {
    const auto [at, is_new] = fastest.insert({result->choice.problem, time_of(*result)});
    if (!is_new) at->second = std::min(at->second, time_of(*result));
    competitors.insert(result->choice.competitor);
  }
  std::map<std::string, Profile> all;
  for (const std::string& competitor : competitors) {
    all[competitor].competitor = competitor;
    for (const auto& [problem, time] : fastest) all[competitor].factors[problem] = kNever;
  }
  for (const Result* result : results) {
    const double time = time_of(*result);
    if (!std::isfinite(time)) continue;
    Profile& profile = all[result->choice.competitor];
    const double factor = time / fastest[result->choice.problem];
    profile.factors[result->choice.problem] = factor;
    ++profile.reached;
    // The score is the area under the profile: a problem adds what lies right of its factor.
    profile.score += std::max(0.0, kLargestFactor - factor) / (kLargestFactor - 1) /
                     static_cast<double>(fastest.size());
  }
  std::vector<Profile> sorted;
  for (auto& [competitor, profile] : all) sorted.push_back(std::move(profile));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Profile& a, const Profile& b) {
    return a.score > b.score;
  });
  return sorted;
}

}  // namespace flightdeck::study
