// SPDX-License-Identifier: MIT
#include "flightdeck/operator.h"

#include <utility>

#include <ATen/ATen.h>

namespace flightdeck {

DenseOperator::DenseOperator(Tensor matrix) : matrix_(std::move(matrix)) {
  TORCH_CHECK_VALUE(matrix_.dim() == 2 && matrix_.size(0) == matrix_.size(1),
                    "dense operator: the matrix has shape ",
                    matrix_.sizes(),
                    " but it has to be square; pass [D, D]");
  matrix_ = matrix_.detach();
}

// A is symmetric: lines times A are A times columns.
Tensor DenseOperator::multiply(const Tensor& vectors) const { return vectors.mm(matrix_); }

Tensor DampedOperator::multiply(const Tensor& vectors) const {
  return undamped_.multiply(vectors).add(vectors, damping_);
}

}  // namespace flightdeck
