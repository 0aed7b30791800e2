// SPDX-License-Identifier: MIT
#include "rows/form.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "rows/centred_sums.h"
#include "rows/counts.h"
#include "rows/dense.h"

namespace flightdeck {

void Questions::drop_counts() {
  histograms.clear();
  joint_histograms.clear();
  value_bins.clear();
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
  // The imaginary part of a conjugate is a view that is negated when read; kernels read memory.
  return is_half ? factor.to(at::kFloat) : factor.resolve_neg();
}

double machine_epsilon(at::ScalarType type) {
  switch (c10::toRealValueType(type)) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kHalf:
      return std::numeric_limits<at::Half>::epsilon();
    case at::kBFloat16:
      return std::numeric_limits<at::BFloat16>::epsilon();
    default:
      return std::numeric_limits<float>::epsilon();
  }
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
  if (answers.mean_dots.defined()) answers.mean_dots.mul_(questions.share);
  if (answers.variance.defined()) answers.variance.mul_(questions.share);
}

void answer_from_dense(const Tensor& dense, const Questions& questions, Answers& answers) {
  const Tensor flat = dense.reshape({dense.size(0), -1});
  if (questions.sum) answers.sum = shared_sum(dense, questions.share);
  if (questions.second) {
    answers.second = at::linalg_vector_norm(dense, 2, {0}).square_();
    if (questions.share != 1) answers.second.mul_(questions.share);
  }
  if (questions.gram) answers.gram = symmetric_product(flat, /*lines=*/true);
  if (questions.norms) {
    answers.norms =
        questions.gram ? norms_from_gram(answers.gram) : at::linalg_vector_norm(flat, 2, {1});
  }
  if (questions.dense) answers.dense = dense;
  if (questions.directions.defined()) {
    // A product with one long column is slow in most BLAS.
    const Tensor& directions = questions.directions;
    answers.dots = directions.size(0) == 1
                       ? at::mv(flat, directions.reshape({-1})).unsqueeze(1)
                       : at::mm(flat, directions.reshape({directions.size(0), -1}).t());
  }
  if (questions.any_centred()) {
    const Tensor mean = flat.mean(0);
    Tensor squares;
    if (questions.variance) squares = at::zeros_like(mean);
    CentredSums sums(dense.size(0), dense.options());
    sums.add(flat, mean, squares);
    sums.answer(questions, mean, answers);
    if (questions.mean_dots) answers.mean_dots.mul_(questions.share);
    if (questions.variance) {
      answers.variance = squares.mul_(questions.share).view(dense.sizes().slice(1));
    }
  }
  count_rows(dense, questions, answers);
}

std::shared_ptr<const Form> Form::followed_by(const FormList& others) const {
  std::vector<Tensor> rows{dense(0, N())};
  for (const auto& other : others) rows.push_back(other->dense(0, other->N()));
  return std::make_shared<DenseForm>(at::cat(rows), "dense");
}

bool is_same_memory(const Tensor& a, const Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.scalar_type() == b.scalar_type();
}

namespace {

// Few enough that each product is large, many enough to skip nearly half of the work.
constexpr int64_t kSymmetricBlocks = 6;
constexpr int64_t kSmallestBlock = 96;

int64_t block_size(int64_t size) {
  const int64_t even = (size + kSymmetricBlocks - 1) / kSymmetricBlocks;
  return std::max(kSmallestBlock, (even + 15) / 16 * 16);
}

}  // namespace

void add_symmetric_product(const Tensor& target, const Tensor& x) {
  if (!target.is_cpu()) {  // one launch is worth more than half of the work
    target.addmm_(x, x.t());
    return;
  }
  const int64_t size = target.size(0), block = block_size(size);
  for (int64_t begin = 0; begin < size; begin += block) {
    const int64_t end = std::min(begin + block, size);
    // One product per band: the diagonal block and everything to the right of it.
    target.slice(0, begin, end)
        .slice(1, begin)
        .addmm_(x.slice(0, begin, end), x.slice(0, begin).t());
  }
}

void mirror_upper(const Tensor& target) {
  if (!target.is_cpu()) return;
  const int64_t size = target.size(0), block = block_size(size);
  for (int64_t begin = 0; begin < size; begin += block) {
    const int64_t end = std::min(begin + block, size);
    if (end == size) break;
    target.slice(0, end).slice(1, begin, end).copy_(target.slice(0, begin, end).slice(1, end).t());
  }
}

Tensor symmetric_product(const Tensor& x, bool lines) {
  const Tensor rows = lines ? x : x.t();
  Tensor target = at::zeros({rows.size(0), rows.size(0)}, x.options());
  add_symmetric_product(target, rows);
  mirror_upper(target);
  return target;
}

}  // namespace flightdeck
