// SPDX-License-Identifier: MIT
// Chooses learning rate, batch size and the end of a training by what a cockpit sees: alpha near 0,
// the batch size of CABS, and the criterion of early stopping. docs/assist.md says where it loses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "run/training.h"

namespace flightdeck {
class RunReader;
}

namespace flightdeck::run {

struct Tracking;

struct AssistChoice {
  double learning_rate = 0;
  int64_t batch_size = 0;
  int64_t steps = 0;  ///< that the choice took
};

/// Chooses by some sixty steps with a model of its own: from a hundredth of the optimizer's usual
/// rate the rate follows alpha until that is near 0. The batch size is what CABS says then, as a
/// power of two from 16 to 512 and at most a twentieth of the data. What `options` gives stays.
AssistChoice choose(const suite::Problem& problem, const TrainingOptions& options);

/// Adds the quantities that an assistant reads, every five steps, where they are not tracked.
void track_for_assist(Tracking& tracking);

/// Follows the run's own record, every twenty steps: the rate goes where the median of alpha is
/// near 0, by a factor of two at most. Where the gradient has looked like noise for sixty steps
/// the rate is halved and may not rise again, once in an epoch and not in the first; the fourth
/// time the training has converged. All depends on steps alone, as with Reactions.
class Assistant {
 public:
  using Tell = std::function<void(int64_t step, const std::string& what)>;

  /// Training and cockpit have to outlive it.
  Assistant(std::string folder, Training& training, Cockpit& cockpit, Tell tell);
  ~Assistant();

  /// Is called between the backward pass and the update of a step.
  void decide();
  bool has_converged() const { return halvings_ >= kMostHalvings; }

  std::map<std::string, Tensor> save() const;
  void load(const std::map<std::string, Tensor>& saved);

 private:
  static constexpr int64_t kMostHalvings = 4;

  void follow_alpha(double alpha);
  void heed_noise(double criterion);
  void say(const std::string& what);

  std::string folder_;
  Training& training_;
  Cockpit& cockpit_;
  Tell tell_;
  std::unique_ptr<RunReader> record_;
  double highest_factor_;    // of the rate
  int64_t noisy_looks_ = 0;  // in a row
  int64_t halvings_ = 0;
  int64_t heeds_noise_from_;  // step
};

}  // namespace flightdeck::run
