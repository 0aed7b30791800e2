// SPDX-License-Identifier: MIT
#include "rows/gather.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "rows/counts.h"

namespace flightdeck {

GatherForm::GatherForm(const Tensor& indices, const Tensor& b, int64_t V, int64_t padding_index)
    : indices_(indices.to(at::kLong)), b_(in_row_precision(b)), shape_{V, b.size(2)} {
  if (padding_index >= 0) {
    b_ = b_.masked_fill(indices_.eq(padding_index).unsqueeze(2), 0);
  }
}

GatherForm::Lines GatherForm::lines() const {
  const int64_t V = shape_[0], J = shape_[1];
  const Tensor sample = at::arange(N(), indices_.options()).view({-1, 1});
  const Tensor keys = (sample * V + indices_).reshape({-1});
  auto [unique, inverse, counts] = at::_unique2(keys, /*sorted=*/true, /*return_inverse=*/true);
  Tensor values = at::zeros({unique.size(0), J}, b_.options());
  values.index_add_(0, inverse, b_.reshape({-1, J}));
  return {unique.div(V, "floor"), unique.remainder(V), values};
}

Answers GatherForm::answer(const Questions& questions) const {
  Answers answers;
  const int64_t J = shape_[1];
  const Tensor flat_indices = indices_.reshape({-1});
  if (questions.sum || questions.any_centred()) {
    answers.sum = at::zeros(shape_, options()).index_add_(0, flat_indices, b_.reshape({-1, J}));
  }
  if (questions.directions.defined()) answers.dots = dots(questions.directions);
  answers.algorithm = "distinct (sample, line) pairs";
  if (questions.second || questions.norms || questions.gram || questions.any_centred() ||
      questions.any_counts()) {
    const Lines distinct = lines();
    if (questions.second) {
      answers.second =
          at::zeros(shape_, options()).index_add_(0, distinct.line, distinct.values.square());
    }
    if (questions.gram) answers.gram = gram(distinct, questions.scratch_bytes);
    if (questions.norms) {
      answers.norms = at::zeros({N()}, options())
                          .index_add_(0, distinct.sample, distinct.values.square().sum(1))
                          .sqrt_();
    }
    if (questions.any_centred()) {
      answer_centred(distinct, answers.sum.div(double(N())), questions, answers);
    }
    count(distinct, questions, answers);
  }
  if (!questions.sum) answers.sum = Tensor();
  apply_share(questions, answers);
  if (questions.dense) answers.dense = dense(0, N());
  return answers;
}

// Differences to the mean on the lines that a sample has; on those it has not, the mean itself: all
// of its length but what lies on the sample's lines, in double for the difference to vanish.
void GatherForm::answer_centred(const Lines& distinct,
                                const Tensor& mean,
                                const Questions& questions,
                                Answers& answers) const {
  const Tensor centre = mean.index_select(0, distinct.line);
  const Tensor differences = distinct.values - centre;
  const Tensor lengths = mean.to(at::kDouble).square().sum(1);  // [V]
  const Tensor here = lengths.index_select(0, distinct.line);
  const auto by_sample = [&](const Tensor& values) {
    return at::zeros({N()}, values.options()).index_add_(0, distinct.sample, values);
  };
  const Tensor squares = differences.square();
  if (questions.deviations) {
    const Tensor outside = lengths.sum() - by_sample(here);
    answers.deviations = by_sample(squares.to(at::kDouble).sum(1)).add_(outside).clamp_min_(0);
  }
  if (questions.mean_dots) {
    const Tensor along = differences.mul(centre).to(at::kDouble).sum(1);
    answers.mean_dots = by_sample(along.add_(here)).mul_(double(N()));
  }
  if (questions.variance) {
    const Tensor ones = at::ones({distinct.line.size(0)}, options());
    const Tensor missing =
        double(N()) - at::zeros({shape_[0]}, options()).index_add_(0, distinct.line, ones);
    answers.variance =
        mean.square().mul_(missing.unsqueeze(1)).index_add_(0, distinct.line, squares);
  }
}

Tensor GatherForm::gram(const Lines& distinct, int64_t scratch_bytes) const {
  // Only lines that occur matter: lay those out densely, a few at a time.
  auto [used, position, counts] =
      at::_unique2(distinct.line, /*sorted=*/true, /*return_inverse=*/true);
  const int64_t J = shape_[1];
  const int64_t piece = rows_per_piece({N(), J}, options(), scratch_bytes);
  Tensor products = at::zeros({N(), N()}, options());
  for (int64_t begin = 0; begin < used.size(0); begin += piece) {
    const int64_t count = std::min(piece, used.size(0) - begin);
    const Tensor here =
        (position >= begin).logical_and_(position < begin + count).nonzero().squeeze(1);
    Tensor block = at::zeros({N() * count, J}, options());
    block.index_copy_(
        0,
        distinct.sample.index_select(0, here) * count + position.index_select(0, here) - begin,
        distinct.values.index_select(0, here));
    const Tensor flat = block.view({N(), -1});
    products.addmm_(flat, flat.t());
  }
  return products;
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

Tensor GatherForm::dots(const Tensor& directions) const {
  std::vector<Tensor> columns;
  const Tensor flat_indices = indices_.reshape({-1});
  for (const Tensor& direction : directions.unbind(0)) {
    const Tensor picked = direction.index_select(0, flat_indices).view_as(b_);
    columns.push_back(picked.mul_(b_).sum({1, 2}));
  }
  return at::stack(columns, 1);
}

void GatherForm::count(const Lines& distinct, const Questions& questions, Answers& answers) const {
  if (!questions.any_counts()) return;
  // All rows are zero but for the lines that occur.
  Questions occurring = questions;
  for (Tensor& bin : occurring.value_bins) bin = bin.index_select(0, distinct.line);
  const Tensor values = distinct.values.view({1, -1});
  count_zeros(N(), product(shape_), options(), questions, answers);
  count_zeros(-1, values.numel(), options(), occurring, answers);
  count_rows(values, occurring, answers);
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
