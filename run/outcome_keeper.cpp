// SPDX-License-Identifier: MIT
#include "run/outcome_keeper.h"

#include <cmath>
#include <utility>

#include <ATen/ATen.h>

namespace flightdeck::run {
namespace {

constexpr int64_t kBatchLossEvery = 10;  // as DeepOBS
constexpr size_t kMostWaiting = 1000;

int64_t rounded_up(int64_t steps, int64_t per_epoch) { return (steps + per_epoch - 1) / per_epoch; }

void add(study::Curve& curve, const Scores& scores, const std::string& part) {
  const auto loss = scores.find(part + "_loss");
  if (loss == scores.end()) return;
  curve.loss.push_back(loss->second);
  const auto accuracy = scores.find(part + "_accuracy");
  if (accuracy != scores.end()) curve.accuracy.push_back(accuracy->second);
}

}  // namespace

OutcomeKeeper::OutcomeKeeper(const TrainingOptions& options,
                             const Training& training,
                             std::map<std::string, std::string> tags) {
  study::Setting& setting = outcome_.setting;
  setting.problem = training.problem().name;
  setting.optimizer = options.optimizer;
  setting.schedule = training.schedule().text();
  setting.hyperparameters = training.hyperparameters();
  setting.batch_size = training.batch_size();
  setting.epochs = rounded_up(training.total_steps(), training.steps_per_epoch());
  outcome_.seed = options.seed;
  outcome_.steps_per_epoch = training.steps_per_epoch();
  outcome_.reported_epoch = training.schedule().reported_epoch(setting.epochs);
  outcome_.batch_loss_every = kBatchLossEvery;
  outcome_.is_synthetic = training.data().is_synthetic;
  outcome_.version = FLIGHTDECK_VERSION;
  outcome_.tags = std::move(tags);
}

void OutcomeKeeper::step_done(int64_t step, const Tensor& loss, double seconds, bool ends_nothing) {
  if (ends_nothing) end_nothing_.insert(step);
  if (waiting_.empty()) first_waiting_ = step;
  waiting_.push_back(loss);
  outcome_.steps = step + 1;
  outcome_.training_seconds += seconds;
  if (waiting_.size() >= kMostWaiting) take_losses();
}

void OutcomeKeeper::evaluated(int64_t step, const Scores& scores) {
  outcome_.evaluated.push_back(rounded_up(step, outcome_.steps_per_epoch));
  add(outcome_.train, scores, "train");
  add(outcome_.valid, scores, "valid");
  add(outcome_.test, scores, "test");
}

void OutcomeKeeper::take_losses() {
  if (waiting_.empty()) return;
  const Tensor values = at::stack(waiting_).to(at::kCPU, at::kDouble).contiguous();
  const double* losses = values.data_ptr<double>();
  for (int64_t k = 0; k < values.numel(); ++k) {
    const int64_t step = first_waiting_ + k;
    if (step % kBatchLossEvery == 0) outcome_.batch_losses.push_back(losses[k]);
    const bool is_end = !std::isfinite(losses[k]) && end_nothing_.count(step) == 0;
    if (is_end && outcome_.diverged_at < 0) outcome_.diverged_at = step;
  }
  waiting_.clear();
  end_nothing_.clear();
}

bool OutcomeKeeper::has_diverged() {
  take_losses();
  return outcome_.diverged_at >= 0;
}

const study::Outcome& OutcomeKeeper::outcome() {
  take_losses();
  outcome_.seconds = seconds_before_ + seconds_since(begin_);
  return outcome_;
}

}  // namespace flightdeck::run
