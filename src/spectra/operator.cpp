// SPDX-License-Identifier: MIT
#include "flightdeck/operator.h"

#include <algorithm>
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

// As A is symmetric, lines times A are A times columns.
Tensor DenseOperator::multiply(const Tensor& vectors) const { return vectors.mm(matrix_); }

Tensor DampedOperator::multiply(const Tensor& vectors) const {
  return undamped_.multiply(vectors).add(vectors, damping_);
}

SubBlockOperator::SubBlockOperator(std::shared_ptr<const LinearOperator> whole,
                                   int64_t begin,
                                   int64_t end)
    : whole_(std::move(whole)), begin_(begin), end_(end) {
  TORCH_CHECK_INDEX(0 <= begin && begin < end && end <= whole_->dim(),
                    "sub-block operator: entries ",
                    begin,
                    " to ",
                    end,
                    " asked for of an operator over ",
                    whole_->dim(),
                    "; name some of them, from 0 on");
}

Tensor SubBlockOperator::multiply(const Tensor& vectors) const {
  if (dim() == whole_->dim()) return whole_->multiply(vectors);
  Tensor wide = at::zeros({vectors.size(0), whole_->dim()}, vectors.options());
  wide.slice(1, begin_, end_).copy_(vectors);
  return whole_->multiply(wide).slice(1, begin_, end_);
}

std::vector<std::pair<int64_t, int64_t>> line_blocks(const Tensor& parameter, int64_t count) {
  TORCH_CHECK_VALUE(count > 0, "line blocks: ", count, " blocks asked for; ask for at least one");
  const int64_t lines = parameter.dim() == 0 ? 1 : parameter.size(0);
  if (parameter.numel() == 0) return {};
  const int64_t size = parameter.numel() / lines;
  const int64_t blocks = std::min(count, lines);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t b = 0; b < blocks; ++b) {
    ranges.emplace_back(lines * b / blocks * size, lines * (b + 1) / blocks * size);
  }
  return ranges;
}

}  // namespace flightdeck
