// SPDX-License-Identifier: MIT
#include "rows/shared.h"

#include <ATen/ATen.h>

#include "rows/counts.h"

namespace flightdeck {

SharedForm::SharedForm(Tensor c, Tensor v)
    : c_(c.to(in_row_precision(v).scalar_type())),
      v_(in_row_precision(v)),
      shape_(v.sizes().slice(1).vec()) {}

Tensor SharedForm::centred() const {
  const Tensor c = c_.to(at::kDouble);
  return c - c.mean(0, /*keepdim=*/true);
}

Tensor SharedForm::squares_of(const Tensor& multiples) const {
  const Tensor products = at::mm(multiples.t(), multiples).to(v_.scalar_type());
  return products.mm(flat()).mul(flat()).sum(0).view(shape_);
}

Answers SharedForm::answer(const Questions& questions) const {
  Answers answers;
  const Tensor v = flat();
  const double share = questions.share;
  if (questions.sum) answers.sum = c_.sum(0).mul(share).matmul(v).view(shape_);
  if (questions.second) answers.second = squares_of(c_).mul_(share);
  if (questions.variance) answers.variance = squares_of(centred()).mul_(share).clamp_min_(0);
  const Tensor products = at::mm(v, v.t());  // [K, K]
  if (questions.norms || questions.gram) {
    const Tensor lines = at::mm(c_, products);
    if (questions.norms) answers.norms = lines.mul(c_).sum(1).clamp_min_(0).sqrt_();
    if (questions.gram) answers.gram = at::mm(lines, c_.t());
  }
  if (questions.deviations) {
    const Tensor c = centred();
    answers.deviations = at::mm(c, products.to(at::kDouble)).mul_(c).sum(1).clamp_min_(0);
  }
  if (questions.mean_dots) {
    const Tensor c = c_.to(at::kDouble);
    answers.mean_dots = at::mv(at::mm(c, products.to(at::kDouble)), c.sum(0)).mul_(share);
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
  const auto& placed = static_cast<const SharedForm&>(*shared.form);
  // In the type of x, which may be another where the backward pass casts.
  const Tensor vectors = placed.vectors().to(x.terms().front().form->options().dtype());
  const SharedForm form(placed.multiples(), shared.placement.to_parameter(vectors, /*lead=*/1));
  const Tensor& c = form.multiples();
  const Tensor& v = form.vectors();
  Questions own = questions;
  own.sum = questions.mean_dots;
  own.norms = questions.norms && !questions.gram;
  own.dense = false;
  own.directions = Tensor();
  own.drop_counts();
  const Answers of_shared = form.answer(own);
  // Between the two: <x_n, v_k>.
  if (own.norms || own.gram || own.deviations || own.mean_dots) own.directions = v;
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
  if (questions.deviations) {
    const Tensor dots = of_x.dots.to(at::kDouble);
    const Tensor cross = (dots - dots.mean(0, /*keepdim=*/true)).mul_(form.centred()).sum(1);
    total.deviations = (of_x.deviations + of_shared.deviations + cross.mul(2)).clamp_min_(0);
  }
  if (questions.mean_dots) {
    const Tensor dots = of_x.dots.to(at::kDouble), multiples = c.to(at::kDouble);
    const Tensor with_sum = at::mv(v.reshape({v.size(0), -1}), of_x.sum.reshape({-1}));  // [K]
    total.mean_dots = of_x.mean_dots + of_shared.mean_dots +
                      at::mv(dots, multiples.sum(0)).mul_(questions.share) +
                      at::mv(multiples, with_sum.to(at::kDouble));
  }
  const auto between = [&](const Tensor& multiples) {
    return x.combine(multiples.t().to(v.scalar_type())).mul(v).sum(0).mul(2 * questions.share);
  };
  if (questions.second) total.second = of_x.second + of_shared.second + between(c);
  if (questions.variance) {
    total.variance = (of_x.variance + of_shared.variance + between(form.centred())).clamp_min_(0);
  }
}

}  // namespace flightdeck
