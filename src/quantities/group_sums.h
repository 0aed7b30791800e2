// SPDX-License-Identifier: MIT
// Sums of per-parameter numbers over groups.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/grouping.h"

namespace flightdeck {

using at::Tensor;

// Takes one tensor [...] per parameter, all of one shape. Returns their sums over each group, [G,
// ...] in double.
Tensor sum_by_group(const std::vector<Tensor>& per_parameter, const Groups& groups);

// Returns the same of [P, ...] in double.
Tensor sum_stacked_by_group(const Tensor& all, const Groups& groups);

// Returns the squares of numbers [], in double: [P].
Tensor squares_of(const std::vector<Tensor>& numbers);

}  // namespace flightdeck
