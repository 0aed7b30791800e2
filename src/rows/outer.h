// SPDX-License-Identifier: MIT
// Rows of linear layers: g_n = A_nᵀ B_n with A the layer's input and B its output gradient.
#pragma once

#include <algorithm>
#include <functional>

#include "rows/factored.h"
#include "rows/form.h"

namespace flightdeck {

class OuterForm final : public Form {
 public:
  // Takes A [N, T, I], B [N, T, J]; the rows have shape [I, J]. B may hold K columns of N samples
  // each, [K * N, T, J], that share A; there are then K * N rows. `is_padded`: some samples have
  // fewer positions, and zeros in place of the rest.
  OuterForm(Tensor a, Tensor b, bool is_padded = false);

  const char* name() const override { return "outer"; }
  int64_t N() const override { return b_.size(0); }
  const Shape& shape() const override { return shape_; }
  at::TensorOptions options() const override { return a_.options(); }
  using Form::answer;
  Answers answer(const Asked& asked, const Questions& questions) const override;
  Tensor combine(const Tensor& coefficients) const override;
  Tensor dense(int64_t begin, int64_t end) const override;
  std::shared_ptr<const Form> select(const Tensor& index) const override;
  std::vector<Tensor> factors() const override { return {a_, b_}; }
  std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const override;
  std::shared_ptr<const Form> plus(const FormList& others) const override;
  std::shared_ptr<const Form> followed_by(const FormList& others) const override;
  Tensor squares_with(const FormList& others, double share, bool is_for_trace) const override;
  // Returns an undefined tensor if padded: who asks takes averages over T positions of each sample.
  Tensor position_inputs() const override { return is_padded_ ? Tensor() : a_; }
  Tensor position_gradients() const override { return is_padded_ ? Tensor() : b_; }

 private:
  int64_t K() const { return b_.size(0) / std::max<int64_t>(1, a_.size(0)); }
  Tensor repeated_a() const;
  Answers answer_single_position(const Asked& asked, const Questions& questions) const;

  Tensor a_;
  Tensor b_;
  Shape shape_;
  bool is_padded_;
};

// Returns what the Gram route to the norms costs, in flops of one large product.
double gram_norm_flops(int64_t N, int64_t T, int64_t I, int64_t J, bool is_cpu);

// Answers for products over positions: each answer from the factors, or all of them from rows that
// `form` forms for a sweep (it returns how), whichever costs less.
Answers answer_positions(const Positions& positions,
                         const Asked& asked,
                         const Questions& questions,
                         const std::function<Answers(const Asked& asked)>& form);

// Computes norms of A_nᵀ B_n by ||A_nᵀ B_n||² = sum_ts (A A^T)_ts (B B^T)_ts, a few samples at
// a time; A [N, T, I], B [N, T, J].
Tensor norms_by_gram(const Tensor& a, const Tensor& b, int64_t scratch_bytes);

}  // namespace flightdeck
