// SPDX-License-Identifier: MIT
// How much of a scatter is rounding of the numbers it was computed from.
#pragma once

#include <cmath>
#include <limits>

#include <ATen/ATen.h>

namespace flightdeck {

// Returns true for half precision, where a few roundings are a visible share of any number.
inline bool is_coarse(double epsilon) { return epsilon > 1e-5; }

// Returns the relative error to expect in rows that were computed in a type of machine epsilon
// `epsilon`: activations and output gradients are sums, rounded in every layer, which makes about
// two roundings. More is lost where a function saturates or a sum cancels; four times as much
// covers all but one in thousands of variances of nets that have both. In half precision that would
// mark every value, and the mark say nothing.
inline double rounding_of_rows(double epsilon) { return (is_coarse(epsilon) ? 2 : 8) * epsilon; }

// Returns the error to expect in a row's single entries, where no sum over entries averages it: of
// some entries the variance is next to nothing by chance.
inline double rounding_of_entries(double epsilon) { return (is_coarse(epsilon) ? 8 : 3) * epsilon; }

// Sums in double that cancel have this error, relative to what they are sums of.
constexpr double kRoundingOfDoubles = 8 * std::numeric_limits<double>::epsilon();

// Estimates the error by rounding of `scatter`, a sum of squared differences over N samples whose
// gradients have the mean squared length `length`. Each gradient is off by a vector of squared
// length `noise`; its square adds to the scatter, and so does, at random, twice its product with
// the difference. One sample has no scatter and no error.
inline at::Tensor rounding_error(const at::Tensor& scatter,
                                 const at::Tensor& length,
                                 const at::Tensor& noise,
                                 int64_t N) {
  if (N < 2) return at::zeros_like(scatter);
  return double(N) * (noise + kRoundingOfDoubles * length) + 2 * (noise * scatter).sqrt();
}

inline double rounding_error(double scatter, double length, double noise, int64_t N) {
  if (N < 2) return 0;
  return double(N) * (noise + kRoundingOfDoubles * length) + 2 * std::sqrt(noise * scatter);
}

}  // namespace flightdeck
