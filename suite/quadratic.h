// SPDX-License-Identifier: MIT
// The ill-conditioned quadratic of DeepOBS in 100 dimensions, the same numbers on every machine.
#pragma once

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

using at::Tensor;

constexpr int64_t kQuadraticDimensions = 100;

/// Q = transpose(B) diag(e) B, float64: 90 eigenvalues e in [0, 1), ten in [30, 60).
struct Quadratic {
  Tensor eigenvalues;  ///< e, [100], as drawn
  Tensor basis;        ///< B, [100, 100], a rotation
};
Quadratic quadratic();

/// Draws n points [n, 100] of independent normal values with deviation 0.6, float32.
Tensor quadratic_points(uint32_t seed, int64_t n);

}  // namespace flightdeck::suite
