// SPDX-License-Identifier: MIT
// What a scalar loss was reduced from, where the caller does not say.
#pragma once

#include "flightdeck/batch.h"

namespace flightdeck {

struct ScalarReading {
  int64_t batch_size = 0;  // 0: the terms of the loss do not agree, or have no samples
  Reduction reduction = Reduction::kMean;
  double factor =
      1;  // on every term of the loss, as 1/4 of one divided by 4; NaN where they differ
};

// Reads the batch size: the samples are the leading dimension of what the ops of the loss reduce.
// Where lines were made of two dimensions just before, as the positions of sequences are, they are
// the first of the two.
ScalarReading read_scalar(const Tensor& loss);

}  // namespace flightdeck
