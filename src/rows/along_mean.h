// SPDX-License-Identifier: MIT
// Directions that are known in factors. An update of plain SGD is a multiple of the mean of its
// step's rows: products with it are products between factors of two steps, without the direction
// itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

class Rows;

// The direction multiple * (1/M) sum_m a_m b_mᵀ.
struct AlongMean {
  Tensor a, b;  // [M, I], [M, J]; undefined if the direction is not known so
  double multiple = 0;
  uint32_t version_a = 0, version_b = 0;  // of the factors when it was found

  bool is_known() const { return a.defined(); }
};

// What is known of the directions of all parameters.
struct KnownDirections {
  std::vector<AlongMean> of_parameter;
};

// Returns true if products between factors cost less than those with `direction`, a tensor that
// fills the parameter of these rows. Rows that are no outer products on one position do not.
bool pays_along_mean(const Rows& rows, const Tensor& direction);

// Finds the multiple of the mean of these rows that `direction` [*shape] is; it is not known if the
// two differ by more than the rounding of `parameter`, from whose values it is a difference.
AlongMean find_along_mean(const Rows& rows, const Tensor& direction, const Tensor& parameter);

// Computes <a_n b_nᵀ, direction> for a [N, I], b [N, J]: [N]. Throws if a factor has changed.
Tensor dots_along_mean(const Tensor& a, const Tensor& b, const AlongMean& direction);

}  // namespace flightdeck
