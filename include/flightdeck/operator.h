// SPDX-License-Identifier: MIT
// A symmetric matrix that is known only by what it does to vectors.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

/// A symmetric linear map on R^D, known by what it does to vectors.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual int64_t dim() const = 0;                ///< D
  virtual at::TensorOptions options() const = 0;  ///< type and device of its vectors
  /// [V, D] -> [V, D]: each line is one vector.
  virtual Tensor multiply(const Tensor& vectors) const = 0;
};

}  // namespace flightdeck
