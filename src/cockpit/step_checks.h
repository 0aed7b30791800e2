// SPDX-License-Identifier: MIT
// What a loop hands to `watch`, checked before anything is computed from it.
#pragma once

#include "flightdeck/batch.h"

namespace flightdeck {

// Returns the number of samples N, or throws an exception that says what is wrong.
int64_t checked_size(const Batch& batch, const Parameters& watched);

// Returns the inputs without their graph, [N, ...]; undefined where none are given.
Tensor checked_inputs(const Tensor& inputs, int64_t N);

}  // namespace flightdeck
