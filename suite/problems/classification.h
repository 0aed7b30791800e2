// SPDX-License-Identifier: MIT
// What the problems that classify have in common.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite {

/// Softmax cross-entropy of `classes` classes; random batches have inputs drawn by `random_inputs`
/// and uniform labels.
Problem classification(int64_t classes, std::function<Tensor(int64_t N)> random_inputs);

/// ... of 28 x 28 grey images with values in [0, 1].
Problem grey_images(int64_t classes);

/// ... of standardised 32 x 32 colour images.
Problem colour_images(int64_t classes);

}  // namespace flightdeck::suite
