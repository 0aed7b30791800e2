// SPDX-License-Identifier: MIT
// Rows of embeddings: sample n adds B_n[t] to table line indices[n][t]. All other lines are zero.
#pragma once

#include "rows/form.h"

namespace flightdeck {

class GatherForm final : public Form {
 public:
  // Takes indices [N, T] int64, b [N, T, J]; the rows have shape [V, J]. Lines equal to
  // `padding_index` receive no gradient (-1: there is none).
  GatherForm(const Tensor& indices, const Tensor& b, int64_t V, int64_t padding_index);

  const char* name() const override { return "gather"; }
  int64_t N() const override { return indices_.size(0); }
  const Shape& shape() const override { return shape_; }
  at::TensorOptions options() const override { return b_.options(); }
  using Form::answer;
  Answers answer(const Asked& asked, const Questions& questions) const override;
  Tensor combine(const Tensor& coefficients) const override;
  Tensor dense(int64_t begin, int64_t end) const override;
  std::shared_ptr<const Form> select(const Tensor& index) const override;
  std::vector<Tensor> factors() const override { return {indices_, b_}; }
  std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const override;
  std::shared_ptr<const Form> plus(const FormList& others) const override;
  std::shared_ptr<const Form> followed_by(const FormList& others) const override;

 private:
  Tensor indices_;
  Tensor b_;
  Shape shape_;
};

}  // namespace flightdeck
