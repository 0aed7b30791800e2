// SPDX-License-Identifier: MIT
// The optimizers of the suite, by name, with checked hyperparameters. Entries live in optimizers/,
// one file each.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "suite/search.h"

namespace torch::optim {
class Optimizer;
}

namespace flightdeck::suite {

using at::Tensor;

/// Writes "log-uniform in [0.0001, 1]", "one of 0.1, 1" and the like, "fixed".
std::string to_string(const Search& search);

struct Hyperparameter {
  std::string name;  ///< "learning_rate", "momentum", ...
  std::string summary;
  double value = 0.0;  ///< default
  double low = 0.0;    ///< allowed range
  double high = std::numeric_limits<double>::infinity();
  bool includes_low = true;
  bool includes_high = false;
  bool is_whole = false;  ///< a count
  Search search;

  /// Writes "[0, 1)" and the like.
  std::string range() const;
  /// Throws c10::ValueError, naming the optimizer and the range, unless `given` may be set.
  void check(const std::string& optimizer, double given) const;
};

using Hyperparameters = std::map<std::string, double>;

struct OptimizerEntry {
  std::string name;
  std::string summary;
  std::vector<Hyperparameter> hyperparameters;  ///< "learning_rate" first
  /// Makes the optimizer from a value for every hyperparameter, all of them checked.
  std::function<std::shared_ptr<torch::optim::Optimizer>(std::vector<Tensor> parameters,
                                                         const Hyperparameters& values)>
      create;

  /// Returns `given` with the defaults of the others. Throws c10::ValueError on a name the
  /// optimizer does not have and on a value outside its range.
  Hyperparameters complete(const Hyperparameters& given) const;
  std::shared_ptr<torch::optim::Optimizer> make(std::vector<Tensor> parameters,
                                                const Hyperparameters& given = {}) const;
};

/// Returns those of the suite that need gradients only, by name.
const std::vector<OptimizerEntry>& first_order_optimizers();

// What follows needs all optimizers, the library flightdeck::optimizers.

/// Returns those of the suite that read the curvature from the losses
/// (suite/curvature_optimizer.h), by name.
const std::vector<OptimizerEntry>& curvature_optimizers();

/// Returns both and those that the program has added, by name.
std::vector<OptimizerEntry> all_optimizers();

/// Returns the entry with this name; throws c10::ValueError, naming the nearest and all, if there
/// is none.
const OptimizerEntry& find_optimizer(const std::string& name);

/// Adds an optimizer to the catalogue of this program: from now on it can train and be tuned by its
/// name. Throws c10::ValueError if there is one of that name, saying what both are, if `create` is
/// empty, and if its first hyperparameter is not "learning_rate", which schedules change. Safe to
/// call from any thread. Always true, so that a constant outside of functions can hold the call.
bool register_optimizer(OptimizerEntry entry);

}  // namespace flightdeck::suite
