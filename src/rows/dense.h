// SPDX-License-Identifier: MIT
// Rows written out. Not a last resort only: for a bias, a norm's scale or any broadcast operand the
// rows are no larger than the output gradient they are summed from.
#pragma once

#include "rows/form.h"

namespace flightdeck {

class DenseForm final : public Form {
 public:
  // Takes `rows` [N, *shape]; the coverage report calls the form `name` (sum, scale, dense).
  DenseForm(Tensor rows, const char* name);

  const char* name() const override { return name_; }
  int64_t N() const override { return rows_.size(0); }
  const Shape& shape() const override { return shape_; }
  at::TensorOptions options() const override { return rows_.options(); }
  using Form::answer;
  Answers answer(const Asked& asked, const Questions& questions) const override;
  Tensor combine(const Tensor& coefficients) const override;
  Tensor dense(int64_t begin, int64_t end) const override;
  std::shared_ptr<const Form> select(const Tensor& index) const override;
  std::vector<Tensor> factors() const override { return {rows_}; }
  std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const override;
  std::shared_ptr<const Form> plus(const FormList& others) const override;

 private:
  Tensor rows_;
  Shape shape_;
  const char* name_;
};

}  // namespace flightdeck
