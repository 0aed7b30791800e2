// SPDX-License-Identifier: MIT
#include "rows/dense.h"

#include <ATen/ATen.h>

#include "rows/sweep.h"

namespace flightdeck {

DenseForm::DenseForm(Tensor rows, const char* name)
    : rows_(in_row_precision(rows)), shape_(rows.sizes().slice(1).vec()), name_(name) {}

Answers DenseForm::answer(const Asked& asked, const Questions& questions) const {
  Answers answers;
  answers.algorithm = "rows written out";
  Sweep sweep(asked, questions, {N(), product(shape_), options()});
  sweep.add({rows_.reshape({N(), -1})});
  sweep.finish(shape_, answers);
  return answers;
}

Tensor DenseForm::combine(const Tensor& coefficients) const {
  return at::tensordot(coefficients.to(rows_.scalar_type()), rows_, {1}, {0});
}

Tensor DenseForm::dense(int64_t begin, int64_t end) const { return rows_.slice(0, begin, end); }

std::shared_ptr<const Form> DenseForm::select(const Tensor& index) const {
  return std::make_shared<DenseForm>(rows_.index_select(0, index), name_);
}

std::shared_ptr<const Form> DenseForm::with_factors(std::vector<Tensor> factors) const {
  return std::make_shared<DenseForm>(std::move(factors[0]), name_);
}

std::shared_ptr<const Form> DenseForm::plus(const FormList& others) const {
  Tensor total = rows_.clone();
  for (const auto& other : others) {
    const auto* dense = dynamic_cast<const DenseForm*>(other.get());
    if (!dense) return nullptr;
    total += dense->rows_;
  }
  return std::make_shared<DenseForm>(total, name_);
}

}  // namespace flightdeck
