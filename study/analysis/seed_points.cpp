// SPDX-License-Identifier: MIT
#include "study/analysis/seed_points.h"

#include <algorithm>
#include <tuple>

namespace flightdeck::study {
namespace {

constexpr size_t kFewestSettings = 3;

bool belongs_to(const Trial& trial, const Choice& choice) {
  const Setting& setting = trial.setting;
  return setting.problem == choice.problem && trial.competitor() == choice.competitor &&
         setting.schedule == choice.schedule && is_in_budget(trial.sample, choice.budget) &&
         setting.hyperparameters.count("learning_rate") != 0;
}

void add(const Trial& trial,
         const Choice& choice,
         const Measure& measure,
         std::vector<SeedPoint>& points) {
  for (const TrialRun& run : trial.runs) {
    SeedPoint point;
    std::tie(point.problem, point.competitor, point.schedule, point.budget) =
        std::tie(choice.problem, choice.competitor, choice.schedule, choice.budget);
    point.sample = trial.sample;
    point.learning_rate = trial.setting.hyperparameters.at("learning_rate");
    point.seed = run.seed;
    point.is_tuning_seed = run.seed == choice.tuning_seed;
    point.score = scores_of(run, measure)[trial.reported()];
    point.has_diverged = run.has_diverged;
    point.measure = measure;
    points.push_back(std::move(point));
  }
}

}  // namespace

std::vector<SeedPoint> seed_points(const std::vector<Trial>& trials,
                                   const std::vector<Choice>& choices,
                                   const std::map<std::string, Target>& targets) {
  std::vector<SeedPoint> all;
  for (const Choice& choice : choices) {
    const auto target = targets.find(choice.problem);
    if (target == targets.end()) continue;
    std::vector<const Trial*> tried;
    for (const Trial& trial : trials) {
      if (belongs_to(trial, choice) && trial.has(target->second.measure)) tried.push_back(&trial);
    }
    const auto several = std::count_if(
        tried.begin(), tried.end(), [](const Trial* trial) { return trial->runs.size() > 1; });
    if (tried.size() < kFewestSettings || 2 * static_cast<size_t>(several) <= tried.size()) {
      continue;
    }
    std::sort(tried.begin(), tried.end(), [](const Trial* a, const Trial* b) {
      return a->setting.hyperparameters.at("learning_rate") <
             b->setting.hyperparameters.at("learning_rate");
    });
    for (const Trial* trial : tried) add(*trial, choice, target->second.measure, all);
  }
  return all;
}

}  // namespace flightdeck::study
