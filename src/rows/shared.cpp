// SPDX-License-Identifier: MIT
#include "rows/shared.h"

#include <ATen/ATen.h>

namespace flightdeck {

SharedForm::SharedForm(Tensor c, Tensor v)
    : c_(c.to(in_row_precision(v).scalar_type())),
      v_(in_row_precision(v)),
      shape_(v.sizes().slice(1).vec()) {}

Answers SharedForm::answer(const Asked& asked, const Questions& questions) const {
  Answers answers;
  answers.algorithm = "multiples of " + std::to_string(v_.size(0)) + " shared";
  const Multiples multiples = factored();
  const Asked rest = answer_each(
      asked,
      [&](const Answer& answer) { return answer.from_multiples(multiples, questions); },
      answers);
  answer_written(*this, rest, questions, answers);
  return answers;
}

Tensor SharedForm::combine(const Tensor& coefficients) const {
  return at::tensordot(at::mm(coefficients.to(c_.scalar_type()), c_), v_, {1}, {0});
}

Tensor SharedForm::dense(int64_t begin, int64_t end) const {
  return at::tensordot(c_.slice(0, begin, end), v_, {1}, {0});
}

std::shared_ptr<const Form> SharedForm::select(const Tensor& index) const {
  return std::make_shared<SharedForm>(c_.index_select(0, index), v_);
}

std::shared_ptr<const Form> SharedForm::with_factors(std::vector<Tensor> factors) const {
  return std::make_shared<SharedForm>(std::move(factors[0]), std::move(factors[1]));
}

std::shared_ptr<const Form> SharedForm::plus(const FormList& others) const {
  std::vector<Tensor> c{c_}, v{v_};
  for (const auto& other : others) {
    const auto* shared = dynamic_cast<const SharedForm*>(other.get());
    if (!shared) return nullptr;
    c.push_back(shared->c_);
    v.push_back(shared->v_);
  }
  return std::make_shared<SharedForm>(at::cat(c, 1), at::cat(v));
}

const Rows::Term* find_shared(const std::vector<Rows::Term>& terms) {
  const Rows::Term* found = nullptr;
  for (const Rows::Term& term : terms) {
    if (!dynamic_cast<const SharedForm*>(term.form.get())) continue;
    if (found) return nullptr;  // in two places of the parameter
    found = &term;
  }
  return found;
}

Asked answer_with_shared(const Rows& x,
                         const Rows::Term& shared,
                         const Asked& asked,
                         const Questions& questions,
                         Answers& total) {
  Questions of_each = questions;
  of_each.what = Needs();
  of_each.directions = Tensor();
  of_each.histograms.clear();
  of_each.joint_histograms.clear();
  of_each.value_bins.clear();
  bool takes_products = false, is_able = false;
  for (const Answer* answer : asked) {
    const Answer::SumNeeds needs = answer->needs_of_sum(questions);
    of_each.what = of_each.what | needs.of_each;
    takes_products = takes_products || needs.products;
    is_able = is_able || needs.is_able;
  }
  if (!is_able) return asked;
  const auto& placed = static_cast<const SharedForm&>(*shared.form);
  // The vectors take the type of x, which may be another where the backward pass casts.
  const Tensor vectors = placed.vectors().to(x.options().dtype());
  const SharedForm form(placed.multiples(), shared.placement.to_parameter(vectors, /*lead=*/1));
  const Multiples multiples = form.factored();
  SumWithShared sum(x, multiples);
  sum.of_multiples = form.answer(of_each);
  if (takes_products) {
    of_each.what = of_each.what | Need::kDots;
    of_each.directions = form.vectors();
  }
  sum.of_x = x.answer(of_each);
  return answer_each(
      asked, [&](const Answer& answer) { return answer.from_sum(sum, questions); }, total);
}

}  // namespace flightdeck
