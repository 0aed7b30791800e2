// SPDX-License-Identifier: MIT
// How much of a scatter is rounding of the numbers it was computed from.
#pragma once

#include <limits>

#include <ATen/ATen.h>

namespace flightdeck {

/// Error of activations and output gradients in units of their type's machine epsilon: they are
/// sums themselves, rounded in every layer.
constexpr double kRoundingsOfFactors = 2;

/// Error of sums in double that cancel, relative to what they are sums of.
constexpr double kRoundingOfDoubles = 8 * std::numeric_limits<double>::epsilon();

/// Estimates the error by rounding of `scatter`, a sum of squared differences over N samples whose
/// gradients have the mean squared length `length`. Each gradient is off by a vector of squared
/// length `noise`; its square adds to the scatter, and so does, at random, twice its product with
/// the difference. One sample has no scatter and no error.
inline at::Tensor rounding_error(const at::Tensor& scatter,
                                 const at::Tensor& length,
                                 const at::Tensor& noise,
                                 int64_t N) {
  if (N < 2) return at::zeros_like(scatter);
  return double(N) * (noise + kRoundingOfDoubles * length) + 2 * (noise * scatter).sqrt();
}

}  // namespace flightdeck
