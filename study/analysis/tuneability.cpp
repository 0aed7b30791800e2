// SPDX-License-Identifier: MIT
#include "study/analysis/tuneability.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace flightdeck::study {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;

struct Found {
  TunedPoint point;
  Measure measure;
  double untrained = 0;
};

double learning_rate_of(const Setting& setting) {
  const auto at = setting.hyperparameters.find("learning_rate");
  return at == setting.hyperparameters.end() ? NAN : at->second;
}

void keep_best(std::map<Key, double>& best, const Key& key, const Found& found) {
  if (found.point.has_diverged) return;
  const auto [at, is_new] = best.insert({key, found.point.score});
  if (!is_new && found.measure.is_better(found.point.score, at->second)) {
    at->second = found.point.score;
  }
}

double relative_to(const std::map<Key, double>& best, const Key& key, const Found& found) {
  const auto at = best.find(key);
  if (found.point.has_diverged || at == best.end()) return 0;
  return relative_performance(found.measure, found.point.score, at->second, found.untrained);
}

// Says whether the best of a grid lies inside of it.
void look_at_grid(const std::vector<Trial>& trials, const Choice& choice, Tuneability& row) {
  if (choice.budget != "grid") return;
  std::map<std::string, std::set<double>> axes;
  for (const Trial& trial : trials) {
    if (trial.setting.problem != choice.problem || trial.competitor() != choice.competitor ||
        trial.setting.schedule != choice.schedule || !is_in_budget(trial.sample, choice.budget)) {
      continue;
    }
    for (const auto& [name, value] : trial.setting.hyperparameters) axes[name].insert(value);
  }
  for (const auto& [name, values] : axes) {
    if (values.size() < 3) continue;  // fixed, or a choice between two
    row.is_on_grid = true;
    const auto best = row.best.find(name);
    if (best == row.best.end()) continue;
    const bool is_lowest = best->second == *values.begin();
    if (!is_lowest && best->second != *values.rbegin()) continue;
    row.at_edge += (row.at_edge.empty() ? "" : ", ") + name +
                   (is_lowest ? " at the lower end" : " at the upper end");
  }
  row.is_interior = row.is_on_grid && row.at_edge.empty();
}

}  // namespace

double relative_performance(const Measure& measure, double score, double best, double untrained) {
  double relative = 0;
  if (score == best) {
    relative = 1;
  } else if (measure.is_accuracy) {
    relative = score / best;
  } else if (best > 0) {
    relative = best / score;
  } else {
    relative = (untrained - score) / (untrained - best);
  }
  return std::isfinite(relative) ? std::max(0.0, relative) : 0;
}

std::vector<TunedPoint> tuned_points(const std::vector<Trial>& trials,
                                     const std::vector<Choice>& choices,
                                     const std::map<std::string, Target>& targets) {
  std::map<Key, uint64_t> seeds;
  for (const Choice& choice : choices) {
    if (choice.samples < 2) continue;
    seeds[{choice.problem, choice.competitor, choice.schedule}] = choice.tuning_seed;
  }
  std::vector<Found> all;
  std::map<Key, double> best_of_problem, best_of_own;
  for (const Trial& trial : trials) {
    const Setting& setting = trial.setting;
    const Key own = {setting.problem, trial.competitor(), setting.schedule};
    const auto seed = seeds.find(own);
    const auto target = targets.find(setting.problem);
    if (trial.sample == "default" || seed == seeds.end() || target == targets.end()) continue;
    const Measure& measure = target->second.measure;
    if (!trial.has(measure)) continue;
    const TrialRun& run = run_on(trial, seed->second);
    const std::vector<double>& scores = scores_of(run, measure);
    Found found;
    found.point = {setting.problem, trial.competitor(), setting.schedule, trial.sample};
    found.point.learning_rate = learning_rate_of(setting);
    found.point.score = scores[trial.reported()];
    found.point.has_diverged = run.has_diverged;
    found.measure = measure;
    found.untrained = scores.front();
    keep_best(best_of_own, own, found);
    keep_best(best_of_problem, {setting.problem, "", setting.schedule}, found);
    all.push_back(found);
  }
  std::vector<TunedPoint> points;
  for (Found& found : all) {
    TunedPoint& point = found.point;
    point.relative = relative_to(best_of_problem, {point.problem, "", point.schedule}, found);
    point.relative_to_own =
        relative_to(best_of_own, {point.problem, point.competitor, point.schedule}, found);
    points.push_back(point);
  }
  return points;
}

std::vector<Tuneability> tuneabilities(const std::vector<Trial>& trials,
                                       const std::vector<Choice>& choices,
                                       const std::vector<TunedPoint>& points) {
  std::map<Key, std::vector<const TunedPoint*>> tried;
  for (const TunedPoint& point : points) {
    tried[{point.problem, point.competitor, point.schedule}].push_back(&point);
  }
  std::vector<Tuneability> rows;
  for (const Choice& choice : choices) {
    if (choice.samples < 2) continue;
    Tuneability row;
    std::tie(row.problem, row.competitor, row.schedule, row.budget) =
        std::tie(choice.problem, choice.competitor, choice.schedule, choice.budget);
    row.best = trials[choice.trial].setting.hyperparameters;
    look_at_grid(trials, choice, row);
    std::vector<double> relative;
    for (const TunedPoint* point : tried[{choice.problem, choice.competitor, choice.schedule}]) {
      if (!is_in_budget(point->sample, choice.budget)) continue;
      relative.push_back(point->relative_to_own);
      row.diverged += point->has_diverged ? 1 : 0;
    }
    const auto share = [&](double at_least) {
      const auto count = std::count_if(
          relative.begin(), relative.end(), [&](double value) { return value >= at_least; });
      return static_cast<double>(count) / static_cast<double>(std::max<size_t>(relative.size(), 1));
    };
    row.samples = static_cast<int64_t>(relative.size());
    row.within_1 = share(0.99);
    row.within_10 = share(0.9);
    row.median_rel = median(relative);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::pair<double, double>> upper_envelope(const std::vector<TunedPoint>& points) {
  std::map<int64_t, std::pair<double, double>> best;
  std::set<double> rates;
  for (const TunedPoint& point : points) {
    if (!(point.learning_rate > 0)) continue;
    rates.insert(point.learning_rate);
    const auto third = static_cast<int64_t>(std::floor(3 * std::log10(point.learning_rate)));
    const auto [at, is_new] = best.insert({third, {point.learning_rate, point.relative}});
    if (!is_new && point.relative > at->second.second) {
      at->second = {point.learning_rate, point.relative};
    }
  }
  std::vector<std::pair<double, double>> line;
  if (rates.size() == points.size() && rates.size() <= 40 && !points.empty() &&
      points.front().sample.compare(0, 5, "grid-") == 0) {
    // A grid over the learning rate alone is a line already.
    for (const TunedPoint& point : points) line.push_back({point.learning_rate, point.relative});
    std::sort(line.begin(), line.end());
    return line;
  }
  for (const auto& [third, point] : best) line.push_back(point);
  return line;
}

}  // namespace flightdeck::study
