// SPDX-License-Identifier: MIT
#include "rows/shared.h"

#include <ATen/ATen.h>

#include "rows/counts.h"

namespace flightdeck {

SharedForm::SharedForm(Tensor c, Tensor v)
    : c_(in_row_precision(c)), v_(in_row_precision(v)), shape_(v.sizes().slice(1).vec()) {}

Answers SharedForm::answer(const Questions& questions) const {
  Answers answers;
  const Tensor v = flat();
  const double share = questions.share;
  if (questions.sum) answers.sum = c_.sum(0).mul(share).matmul(v).view(shape_);
  if (questions.second) {
    answers.second = at::mm(c_.t(), c_).mul(share).mm(v).mul(v).sum(0).view(shape_);
  }
  if (questions.norms || questions.gram || questions.mean_dots) {
    const Tensor lines = at::mm(c_, at::mm(v, v.t()));  // [N, K]
    if (questions.norms) answers.norms = lines.mul(c_).sum(1).clamp_min_(0).sqrt_();
    if (questions.gram) answers.gram = at::mm(lines, c_.t());
    if (questions.mean_dots) answers.mean_dots = at::mv(lines, c_.sum(0)).mul_(share);
  }
  if (questions.dense) answers.dense = dense(0, N());
  if (questions.directions.defined()) {
    const Tensor directions = questions.directions.reshape({questions.directions.size(0), -1});
    answers.dots = at::mm(c_, at::mm(v, directions.to(v.scalar_type()).t()));
  }
  if (questions.any_counts()) count_in_pieces(*this, questions, answers);
  answers.algorithm = "multiples of " + std::to_string(v_.size(0)) + " shared";
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

void answer_with_shared(const Rows& x,
                        const Rows::Term& shared,
                        const Questions& questions,
                        Answers& total) {
  const auto& form = static_cast<const SharedForm&>(*shared.form);
  const Tensor& c = form.multiples();
  const Tensor v = shared.placement.to_parameter(form.vectors(), /*lead=*/1);  // [K, *shape]
  Questions own;
  own.second = questions.second;
  own.norms = questions.norms && !questions.gram;
  own.gram = questions.gram;
  own.share = questions.share;
  own.scratch_bytes = questions.scratch_bytes;
  const Answers of_shared = SharedForm(c, v).answer(own);
  if (own.norms || own.gram) own.directions = v;
  const Answers of_x = x.answer(own);
  if (questions.gram) {
    const Tensor cross = at::mm(of_x.dots, c.t());
    total.gram = of_x.gram + of_shared.gram + cross + cross.t();
    if (questions.norms) total.norms = norms_from_gram(total.gram);
  } else if (questions.norms) {
    const Tensor cross = of_x.dots.mul(c).sum(1);
    total.norms =
        (of_x.norms.square() + of_shared.norms.square() + cross.mul(2)).clamp_min_(0).sqrt_();
  }
  if (questions.second) {
    const Tensor cross = x.combine(c.t()).mul(v).sum(0);
    total.second = of_x.second + of_shared.second + cross.mul(2 * questions.share);
  }
}

}  // namespace flightdeck
