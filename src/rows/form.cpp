// SPDX-License-Identifier: MIT
#include "rows/form.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

namespace flightdeck {

Tensor Form::count(const Bins& bins, int64_t scratch_bytes) const {
  const int64_t piece = rows_per_piece(shape(), options(), scratch_bytes);
  Tensor counts = at::zeros({bins.count + 3}, options().dtype(at::kLong));
  for (int64_t begin = 0; begin < N(); begin += piece) {
    counts += count_into_bins(dense(begin, std::min(begin + piece, N())), bins);
  }
  return counts;
}

std::shared_ptr<const Form> Form::plus(const FormList&) const { return nullptr; }

int64_t rows_per_piece(const Shape& shape,
                       const at::TensorOptions& options,
                       int64_t scratch_bytes) {
  const int64_t row_bytes = product(shape) * static_cast<int64_t>(options.dtype().itemsize());
  return std::max<int64_t>(1, scratch_bytes / std::max<int64_t>(1, row_bytes));
}

Tensor in_row_precision(const Tensor& factor) {
  const bool is_half = factor.scalar_type() == at::kHalf || factor.scalar_type() == at::kBFloat16;
  return is_half ? factor.to(at::kFloat) : factor;
}

Tensor shared_sum(const Tensor& rows, double share) {
  // Each operation is a launch on a GPU, and small layers are bound by their number.
  const bool is_mean = std::abs(share * static_cast<double>(rows.size(0)) - 1) < 1e-12;
  if (is_mean) return rows.mean(0);
  return share == 1 ? rows.sum(0) : rows.sum(0).mul_(share);
}

Tensor norms_from_gram(const Tensor& gram) { return gram.diagonal().clamp_min(0).sqrt_(); }

void apply_share(const Questions& questions, Answers& answers) {
  if (questions.share == 1) return;
  if (answers.sum.defined()) answers.sum.mul_(questions.share);
  if (answers.second.defined()) answers.second.mul_(questions.share);
}

void answer_from_dense(const Tensor& dense, const Questions& questions, Answers& answers) {
  const Tensor flat = dense.reshape({dense.size(0), -1});
  if (questions.sum) answers.sum = shared_sum(dense, questions.share);
  if (questions.second) {
    answers.second = at::linalg_vector_norm(dense, 2, {0}).square_();
    if (questions.share != 1) answers.second.mul_(questions.share);
  }
  if (questions.gram) answers.gram = at::mm(flat, flat.t());
  if (questions.norms) {
    answers.norms =
        questions.gram ? norms_from_gram(answers.gram) : at::linalg_vector_norm(flat, 2, {1});
  }
  if (questions.dense) answers.dense = dense;
  if (questions.directions.defined()) {
    answers.dots =
        at::mm(flat, questions.directions.reshape({questions.directions.size(0), -1}).t());
  }
}

}  // namespace flightdeck
