// SPDX-License-Identifier: MIT
// Loss and accuracy of a model on a part of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "suite/data_set.h"
#include "suite/problem.h"

namespace flightdeck::suite {

struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();      ///< mean loss + R
  double accuracy = std::numeric_limits<double>::quiet_NaN();  ///< in [0, 1]; NaN: has none
  double penalty = 0.0;                                        ///< R
  int64_t samples = 0;                                         ///< that were read
};

/// A sample that a model takes for another class than its label.
struct Mistake {
  int64_t id = 0;  ///< place in the data set (Samples::places)
  int64_t label = 0, prediction = 0;
  double loss = 0;
};

struct Mistakes {
  static constexpr int64_t kMostNamed = 48;
  static constexpr int64_t kMostClasses = 200;
  int64_t count = 0;           ///< of all
  std::vector<Mistake> worst;  ///< at most kMostNamed, the largest losses first
  /// Counts of samples by class and by the class they are taken for, [C, C] row by row, right ones
  /// included; empty if there are more than kMostClasses.
  std::vector<int64_t> confusion;
};

/// Evaluates in evaluation mode and without gradients, then restores the module's mode. As in
/// DeepOBS only full batches count (10 000 samples in batches of 128 are 9 984); a part smaller
/// than a batch counts whole. `go_on` is asked before each batch: false ends early with the score
/// so far. `mistakes` is set where it is given and samples have one label each; else it is left as
/// it is.
Score evaluate(const Problem& problem,
               const Model& model,
               const DataSet& data,
               Part part,
               int64_t batch_size,
               const std::function<bool()>& go_on = {},
               std::optional<Mistakes>* mistakes = nullptr);

}  // namespace flightdeck::suite
