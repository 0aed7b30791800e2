// SPDX-License-Identifier: MIT
#include "rows/gather.h"

#include <vector>

#include <ATen/ATen.h>

#include "rows/factored.h"

namespace flightdeck {

GatherForm::GatherForm(const Tensor& indices, const Tensor& b, int64_t V, int64_t padding_index)
    : indices_(indices.to(at::kLong)), b_(in_row_precision(b)), shape_{V, b.size(2)} {
  if (padding_index >= 0) {
    b_ = b_.masked_fill(indices_.eq(padding_index).unsqueeze(2), 0);
  }
}

Answers GatherForm::answer(const Asked& asked, const Questions& questions) const {
  Answers answers;
  answers.algorithm = "distinct (sample, line) pairs";
  const Lines lines(indices_, b_, shape_);
  const Asked rest = answer_each(
      asked, [&](const Answer& answer) { return answer.from_lines(lines, questions); }, answers);
  answer_written(*this, rest, questions, answers);
  return answers;
}

Tensor GatherForm::combine(const Tensor& coefficients) const {
  std::vector<Tensor> combined;
  for (const Tensor& c : coefficients.to(b_.scalar_type()).unbind(0)) {
    const Tensor weighted = b_.mul(c.view({-1, 1, 1})).reshape({-1, shape_[1]});
    combined.push_back(
        at::zeros(shape_, options()).index_add_(0, indices_.reshape({-1}), weighted));
  }
  return at::stack(combined);
}

Tensor GatherForm::dense(int64_t begin, int64_t end) const {
  const int64_t V = shape_[0], J = shape_[1];
  const Tensor sample = at::arange(end - begin, indices_.options()).view({-1, 1});
  const Tensor keys = (sample * V + indices_.slice(0, begin, end)).reshape({-1});
  return at::zeros({(end - begin) * V, J}, options())
      .index_add_(0, keys, b_.slice(0, begin, end).reshape({-1, J}))
      .view({end - begin, V, J});
}

std::shared_ptr<const Form> GatherForm::select(const Tensor& index) const {
  return std::make_shared<GatherForm>(
      indices_.index_select(0, index), b_.index_select(0, index), shape_[0], /*padding_index=*/-1);
}

std::shared_ptr<const Form> GatherForm::with_factors(std::vector<Tensor> factors) const {
  return std::make_shared<GatherForm>(factors[0], factors[1], shape_[0], /*padding_index=*/-1);
}

std::shared_ptr<const Form> GatherForm::plus(const FormList& others) const {
  std::vector<Tensor> indices{indices_}, b{b_};
  for (const auto& other : others) {
    const auto* gather = dynamic_cast<const GatherForm*>(other.get());
    if (!gather || gather->shape_ != shape_) return nullptr;
    indices.push_back(gather->indices_);
    b.push_back(gather->b_);
  }
  return std::make_shared<GatherForm>(at::cat(indices, 1), at::cat(b, 1), shape_[0], -1);
}

std::shared_ptr<const Form> GatherForm::followed_by(const FormList& others) const {
  std::vector<Tensor> indices{indices_}, b{b_};
  for (const auto& other : others) {
    const auto* gather = dynamic_cast<const GatherForm*>(other.get());
    if (!gather || gather->indices_.size(1) != indices_.size(1)) return Form::followed_by(others);
    indices.push_back(gather->indices_);
    b.push_back(gather->b_);
  }
  return std::make_shared<GatherForm>(at::cat(indices), at::cat(b), shape_[0], -1);
}

}  // namespace flightdeck
