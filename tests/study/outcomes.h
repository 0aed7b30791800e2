// SPDX-License-Identifier: MIT
// Small outcomes written by hand.
#pragma once

#include <string>
#include <vector>

#include "study/outcome.h"

namespace flightdeck::study {

// Evaluated after every epoch; the same scores on all parts. Ten steps an epoch.
inline Outcome outcome_with(const std::string& problem,
                            const std::string& optimizer,
                            const std::string& sample,
                            uint64_t seed,
                            const std::vector<double>& scores,
                            bool is_accuracy) {
  Outcome outcome;
  outcome.setting = {problem,
                     optimizer,
                     "constant",
                     {{"learning_rate", 0.1}},
                     128,
                     static_cast<int64_t>(scores.size()) - 1};
  outcome.seed = seed;
  outcome.ending = Ending::kFinished;
  outcome.steps_per_epoch = 10;
  outcome.steps = 10 * outcome.setting.epochs;
  outcome.reported_epoch = outcome.setting.epochs;
  for (int64_t epoch = 0; epoch <= outcome.setting.epochs; ++epoch) {
    outcome.evaluated.push_back(epoch);
  }
  const std::vector<double> losses(scores.size(), 1.0);
  outcome.train = {is_accuracy ? losses : scores, is_accuracy ? scores : std::vector<double>()};
  outcome.valid = outcome.test = outcome.train;
  outcome.training_seconds = 2.0 * static_cast<double>(outcome.setting.epochs);
  if (!sample.empty()) outcome.tags["sample"] = sample;
  return outcome;
}

inline Outcome with_accuracies(const std::string& optimizer,
                               const std::string& sample,
                               uint64_t seed,
                               const std::vector<double>& scores) {
  return outcome_with("mnist_mlp", optimizer, sample, seed, scores, /*is_accuracy=*/true);
}

inline Outcome with_losses(const std::string& optimizer,
                           const std::string& sample,
                           uint64_t seed,
                           const std::vector<double>& scores) {
  return outcome_with("quadratic_deep", optimizer, sample, seed, scores, /*is_accuracy=*/false);
}

// Stopped in epoch `epoch`, of `epochs` planned.
inline Outcome diverged_in(Outcome outcome, int64_t epoch, int64_t epochs) {
  outcome.ending = Ending::kDiverged;
  outcome.diverged_at = 10 * epoch - 5;
  outcome.setting.epochs = outcome.reported_epoch = epochs;
  return outcome;
}

}  // namespace flightdeck::study
