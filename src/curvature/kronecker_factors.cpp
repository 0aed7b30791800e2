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
  const auto& form = rows.terms()[0].form;
  const int64_t N = rows.N();
  // Patches take a kernel's size times the input: a few samples at a time.
  const Tensor first =
      form->select(at::zeros({1}, form->options().dtype(at::kLong)))->position_inputs();
  const int64_t piece =
      rows_per_piece({first.size(1), first.size(2)}, form->options(), 4 * scratch_bytes);
  Tensor total = at::zeros({first.size(2), first.size(2)}, form->options());
  for (int64_t begin = 0; begin < N; begin += piece) {
    const int64_t end = std::min(begin + piece, N);
    const auto part =
        piece >= N ? form : form->select(at::arange(begin, end, form->options().dtype(at::kLong)));
    const Tensor a = part->position_inputs();  // [n, T, I]
    const Tensor lines = sharing == WeightSharing::kReduce ? a.mean(1) : a.flatten(0, 1);
    add_symmetric_product(total, lines.t());
  }
  mirror_upper(total);
  const double count = sharing == WeightSharing::kExpand ? double(N) * double(first.size(1)) : N;
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
  const Tensor a = at::matmul(columns[0].terms()[0].form->position_inputs(), of_inputs);
  Questions questions;
  questions.second = true;
  questions.share = 1.0 / static_cast<double>(columns[0].N());
  questions.scratch_bytes = scratch_bytes;
  Tensor total;
  for (const Rows& rows : columns) {
    const Tensor b = at::matmul(rows.terms()[0].form->position_gradients(), of_outputs);
    const Tensor second = OuterForm(a, b).answer(questions).second;  // [I, J]
    total = total.defined() ? total.add_(second) : second;
  }
  return shape.is_flipped ? total.t() : total;
}

}  // namespace flightdeck
