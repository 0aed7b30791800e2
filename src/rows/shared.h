// SPDX-License-Identifier: MIT
// Rows that are multiples of few vectors all samples share: a penalty inside the losses, a learned
// scalar. g_n = sum_k c_nk v_k with as many k as there are such terms.
#pragma once

#include "rows/factored.h"
#include "rows/rows.h"

namespace flightdeck {

class SharedForm final : public Form {
 public:
  // Takes c [N, K] and v [K, *shape].
  SharedForm(Tensor c, Tensor v);

  const char* name() const override { return "shared"; }
  int64_t N() const override { return c_.size(0); }
  const Shape& shape() const override { return shape_; }
  at::TensorOptions options() const override { return v_.options(); }
  using Form::answer;
  Answers answer(const Asked& asked, const Questions& questions) const override;
  Tensor combine(const Tensor& coefficients) const override;
  Tensor dense(int64_t begin, int64_t end) const override;
  std::shared_ptr<const Form> select(const Tensor& index) const override;
  std::vector<Tensor> factors() const override { return {c_, v_}; }
  std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const override;
  std::shared_ptr<const Form> plus(const FormList& others) const override;

  const Tensor& multiples() const { return c_; }  // c
  const Tensor& vectors() const { return v_; }    // v
  // Returns the multiples as answers see them.
  Multiples factored() const { return {c_, v_.reshape({v_.size(0), -1}), shape_}; }

 private:
  Tensor c_, v_;
  Shape shape_;
};

// Returns the one shared term among the terms, or null.
const Rows::Term* find_shared(const std::vector<Rows::Term>& terms);

// Answers for x_n + s_n, as far as `asked` can, from the answers of the two and the products
// between them; returns the other answers that were asked for.
Asked answer_with_shared(const Rows& x,
                         const Rows::Term& shared,
                         const Asked& asked,
                         const Questions& questions,
                         Answers& total);

}  // namespace flightdeck
