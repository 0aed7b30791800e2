// SPDX-License-Identifier: MIT
#include "study/analysis/retuning.h"

#include <algorithm>
#include <tuple>

#include "study/analysis/competitor.h"

namespace flightdeck::study {
namespace {

auto key_of(const Choice& choice) {
  return std::tie(choice.problem, choice.competitor, choice.schedule, choice.budget);
}

void measure_shift(Retuning& retuning) {
  double low = retuning.found.front().performance.mean, high = low;
  for (const RetunedChoice& found : retuning.found) {
    low = std::min(low, found.performance.mean);
    high = std::max(high, found.performance.mean);
    retuning.largest_deviation = std::max(retuning.largest_deviation, found.performance.deviation);
  }
  retuning.shift = high - low;
}

}  // namespace

std::vector<Retuning> retunings(const std::vector<RetunedStudy>& studies) {
  std::vector<Retuning> all;
  for (const Result& first : studies.front().results) {
    if (is_baseline(first.choice.competitor)) continue;
    Retuning retuning;
    std::tie(retuning.problem, retuning.competitor, retuning.schedule, retuning.budget) =
        key_of(first.choice);
    retuning.measure = first.measure;
    for (const RetunedStudy& study : studies) {
      for (const Result& result : study.results) {
        if (key_of(result.choice) != key_of(first.choice) ||
            result.measure.is_accuracy != first.measure.is_accuracy) {
          continue;
        }
        const Trial& trial = study.trials[result.choice.trial];
        retuning.found.push_back({study.name,
                                  trial.setting.hyperparameters,
                                  trial.sample,
                                  result.performance,
                                  result.seeds});
      }
    }
    if (retuning.found.size() < 2) continue;
    measure_shift(retuning);
    all.push_back(std::move(retuning));
  }
  return all;
}

}  // namespace flightdeck::study
