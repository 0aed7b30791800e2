// SPDX-License-Identifier: MIT
#include "curvature/kronecker_factors.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rows/outer.h"

namespace flightdeck {
namespace {

// Blocks of vectors longer than this are left out.
constexpr int64_t kLongestVector = 8192;

KroneckerShape matrix_shape(const Rows& rows) {
  const auto& term = rows.terms()[0];
  const bool is_flipped = term.form->is_flipped();
  if (term.placement.keeps_order() && term.placement.shape()[0] == term.form->shape()[0]) {
    return {KroneckerShape::Kind::kMatrix, is_flipped};
  }
  if (term.placement.is_transposition()) return {KroneckerShape::Kind::kMatrix, !is_flipped};
  return {};
}

// Tells how many samples to take at a time: patches take a kernel's size times the input.
int64_t inputs_per_piece(const Rows& rows, int64_t scratch_bytes) {
  const auto& form = rows.terms()[0].form;
  const Tensor b = form->position_gradients();
  const int64_t inputs = product(form->shape()) / b.size(2);
  return rows_per_piece({b.size(1), inputs}, form->options(), 4 * scratch_bytes);
}

std::shared_ptr<const Form> samples_of(const Rows& rows, int64_t begin, int64_t end) {
  const auto& form = rows.terms()[0].form;
  if (begin == 0 && end >= rows.N()) return form;
  return form->select(at::arange(begin, std::min(end, rows.N()), form->options().dtype(at::kLong)));
}

}  // namespace

KroneckerShape kronecker_shape(const Rows& rows) {
  const auto& terms = rows.terms();
  if (terms.size() == 1 && rows.shape().size() > 1 &&
      terms[0].form->position_gradients().defined()) {
    return matrix_shape(rows);
  }
  const bool is_vector = rows.shape().size() == 1 && rows.shape()[0] <= kLongestVector;
  return is_vector ? KroneckerShape{KroneckerShape::Kind::kVector, false} : KroneckerShape{};
}

Tensor input_factor(const Rows& rows, WeightSharing sharing, int64_t scratch_bytes) {
  const int64_t N = rows.N(), piece = inputs_per_piece(rows, scratch_bytes);
  int64_t T = 1;
  Tensor total;
  for (int64_t begin = 0; begin < N; begin += piece) {
    const Tensor a = samples_of(rows, begin, begin + piece)->position_inputs();  // [n, T, I]
    T = a.size(1);
    if (!total.defined()) total = at::zeros({a.size(2), a.size(2)}, a.options());
    const Tensor lines = sharing == WeightSharing::kReduce ? a.mean(1) : a.flatten(0, 1);
    add_symmetric_product(total, lines.t());
  }
  mirror_upper(total);
  const double count = sharing == WeightSharing::kExpand ? double(N) * double(T) : double(N);
  return total.div_(count);
}

Tensor output_factor(const std::vector<Rows>& columns,
                     const KroneckerShape& shape,
                     WeightSharing sharing) {
  std::vector<Tensor> lines;
  for (const Rows& rows : columns) {
    if (shape.kind == KroneckerShape::Kind::kVector) {
      lines.push_back(rows.dense(0, rows.N()));
      continue;
    }
    const Tensor b = rows.terms()[0].form->position_gradients();  // [N, T, J]
    const bool expands = sharing == WeightSharing::kExpand;
    lines.push_back(expands ? b.flatten(0, 1) : b.size(1) == 1 ? b.squeeze(1) : b.sum(1));
  }
  const Tensor all = lines.size() == 1 ? lines[0] : at::cat(lines);
  return symmetric_product(all).div_(static_cast<double>(columns[0].N()));
}

Tensor corrected_eigenvalues(const std::vector<Rows>& columns,
                             const KroneckerShape& shape,
                             const KroneckerFactors& factors,
                             int64_t scratch_bytes) {
  const Tensor& of_inputs = shape.is_flipped ? factors.input_basis : factors.output_basis;
  const Tensor& of_outputs = shape.is_flipped ? factors.output_basis : factors.input_basis;
  Questions questions;
  questions.what = Need::kSecondMoment;
  questions.share = 1.0 / static_cast<double>(columns[0].N());
  questions.scratch_bytes = scratch_bytes;
  Tensor total;
  const int64_t N = columns[0].N(), piece = inputs_per_piece(columns[0], scratch_bytes);
  for (int64_t begin = 0; begin < N; begin += piece) {
    const auto part = [&](const Rows& rows) { return samples_of(rows, begin, begin + piece); };
    const Tensor a = at::matmul(part(columns[0])->position_inputs(), of_inputs);
    for (const Rows& rows : columns) {
      const Tensor b = at::matmul(part(rows)->position_gradients(), of_outputs);
      const Tensor second = OuterForm(a, b).answer(questions).second_moment;  // [I, J]
      total = total.defined() ? total.add_(second) : second;
    }
  }
  return shape.is_flipped ? total.t() : total;
}

}  // namespace flightdeck
