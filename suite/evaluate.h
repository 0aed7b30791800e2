// SPDX-License-Identifier: MIT
// Loss and accuracy of a model on a part of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "suite/data_set.h"
#include "suite/problem.h"

namespace flightdeck::suite {

struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();      ///< mean loss + R
  double accuracy = std::numeric_limits<double>::quiet_NaN();  ///< in [0, 1]; NaN: has none
  double penalty = 0.0;                                        ///< R
  int64_t samples = 0;                                         ///< that were read
};

/// In evaluation mode and without gradients; the module's mode is restored. As in DeepOBS only full
/// batches count (10 000 samples in batches of 128 are 9 984); a part smaller than a batch counts
/// whole. `go_on` is asked before each batch: false ends early with the score so far.
Score evaluate(const Problem& problem,
               const Model& model,
               const DataSet& data,
               Part part,
               int64_t batch_size,
               const std::function<bool()>& go_on = {});

}  // namespace flightdeck::suite
