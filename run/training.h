// SPDX-License-Identifier: MIT
// A training of one problem of the suite, step by step: problem, model, data, optimizer, schedule
// and device, for every command that trains.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include "flightdeck/parameters.h"
#include "suite/data_set.h"
#include "suite/evaluate.h"
#include "suite/learning_rate.h"
#include "suite/optimizer.h"
#include "suite/prefetch.h"
#include "suite/problem.h"

namespace flightdeck {
class Cockpit;
}

namespace flightdeck::run {

struct TrainingOptions {
  std::string problem;
  std::string optimizer = "sgd";
  suite::Hyperparameters hyperparameters;  ///< those that are not given have their defaults
  std::string schedule = "constant";       ///< of the learning rate
  int64_t batch_size = 0;                  ///< 0: the problem's customary one
  int64_t epochs = 0;                      ///< 0: the problem's customary number
  int64_t steps = 0;                       ///< instead of epochs; 0: by epochs
  uint64_t seed = 42;                      ///< of parameters, dropout, split and order
  at::Device device = at::kCPU;
  suite::DataOptions data;  ///< its seed is replaced by `seed`
};

/// Checks names, hyperparameters and schedule without loading anything; throws c10::ValueError.
void check_training_options(const TrainingOptions& options);

/// Tensors of a step, on the device: who does not look at them does not wait.
struct StepOutcome {
  int64_t step = 0;
  Tensor loss;  ///< [], the objective: mean loss + penalty
  Tensor outputs, targets;
};

class Training {
 public:
  /// Loads the data and builds the model. Seeds LibTorch's default generator.
  explicit Training(const TrainingOptions& options);
  /// Trains a problem of the caller's own; `options.problem` is not read.
  Training(const suite::Problem& problem, const TrainingOptions& options);

  const suite::Problem& problem() const { return problem_; }
  const suite::Model& model() const { return model_; }
  const suite::DataSet& data() const { return data_; }
  const suite::Hyperparameters& hyperparameters() const { return hyperparameters_; }
  const suite::LearningRateSchedule& schedule() const { return schedule_; }
  torch::optim::Optimizer& optimizer() const { return *optimizer_; }
  const Parameters& parameters() const { return parameters_; }
  int64_t batch_size() const { return batch_size_; }
  int64_t steps_per_epoch() const { return batches_->per_epoch(); }
  int64_t total_steps() const { return total_steps_; }
  int64_t next_step() const { return step_; }
  bool is_done() const { return step_ >= total_steps_; }
  /// Returns the rate of the step that comes next.
  double learning_rate() const;

  /// Takes the next step: forward, backward and the optimizer's update; watched if there is a
  /// cockpit. It may go on past `total_steps`. `takes_update` is asked before the update, when the
  /// watch has ended; false leaves the update out.
  StepOutcome step(Cockpit* cockpit = nullptr, const std::function<bool()>& takes_update = {});

  /// Multiplies all learning rates from the next step on, beside the schedule.
  void set_rate_factor(double factor) { rate_factor_ = factor; }
  double rate_factor() const { return rate_factor_; }

  /// Returns parameters, buffers and random numbers before the step that comes next. The optimizer
  /// saves itself.
  std::map<std::string, Tensor> save() const;
  /// Returns parameters and buffers as they are, not copied; save_optimizer() has the optimizer's
  /// state.
  std::map<std::string, Tensor> save_model() const;
  std::string save_optimizer() const;
  /// Puts both back. Data and random numbers go on as they are.
  void restore(const std::map<std::string, Tensor>& model, const std::string& optimizer);

  /// Goes on before `step` with what was saved there, to the bit on the CPU.
  void load(const std::map<std::string, Tensor>& saved, int64_t step);

  /// Returns the accuracy on the step's batch; NaN if the problem has none.
  double accuracy(const StepOutcome& outcome) const;

  /// Returns loss and accuracy on a part of the data; other arguments are as in suite::evaluate.
  suite::Score evaluate(suite::Part part,
                        const std::function<bool()>& go_on = {},
                        std::optional<suite::Mistakes>* mistakes = nullptr) const;

 private:
  void load_model(const std::map<std::string, Tensor>& saved);

  suite::Problem problem_;
  suite::Hyperparameters hyperparameters_;
  suite::LearningRateSchedule schedule_;
  int64_t batch_size_;
  suite::DataSet data_;
  suite::Model model_;
  Parameters parameters_;
  std::shared_ptr<torch::optim::Optimizer> optimizer_;
  std::unique_ptr<suite::Prefetch> batches_;
  at::Device device_;
  int64_t total_steps_;
  int64_t step_ = 0;
  double rate_factor_ = 1;
  double update_seconds_ = 0;  // of the last optimizer step
};

}  // namespace flightdeck::run
