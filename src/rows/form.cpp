// SPDX-License-Identifier: MIT
#include "rows/form.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rows/sweep.h"

namespace flightdeck {

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
  if (is_half) return factor.to(at::kFloat);
  return factor.is_neg() ? factor.resolve_neg() : factor;
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

Tensor norms_from_gram(const Tensor& gram) { return gram.diagonal().clamp_min(0).sqrt_(); }

void answer_written(const Form& form,
                    const Asked& asked,
                    const Questions& questions,
                    Answers& answers) {
  if (asked.empty()) return;
  Writable writable;
  writable.size = {form.N(), product(form.shape()), form.options()};
  writable.rows = [&form](int64_t begin, int64_t end) { return form.dense(begin, end); };
  writable.sum = [&form] { return form.combine(at::ones({1, form.N()}, form.options())); };
  Sweep sweep(asked, questions, writable.size);
  const int64_t samples_at_once =
      sweep.look().keeps ? form.N()
                         : rows_per_piece(form.shape(), form.options(), questions.scratch_bytes);
  sweep_samples(writable, samples_at_once, questions, sweep);
  sweep.finish(form.shape(), answers);
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

// These make blocks few enough that each product is large, and many enough to skip nearly half of
// the work.
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
    // Each band takes one product: the diagonal block and everything to the right of it.
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
