// SPDX-License-Identifier: MIT
// The mean of the rows' squared differences to their mean, entry by entry; never from sums of
// squares, of which nothing would be left where rows nearly agree.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class Variance final : public TensorAnswer {
 public:
  Variance() : TensorAnswer(Need::kVariance, &ParameterGradients::variance) {}

  AnswerKind kind() const override {
    return {"variance",
            "Need::kVariance",
            "variance",
            Extent::kEntries,
            Power::kSquare,
            OverRanks::kAboutMean};
  }
  // The mean's length says how much of the variance is rounding.
  Needs asks_along() const override { return Need::kMean; }

  Look look() const override {
    Look look;
    look.centred_squares = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize&) const override {
    return std::make_unique<SumReader>(&Sums::centred_squares);
  }

  Values from_products(const Products& products, const Questions& questions) const override {
    return {products.moments(questions).variance};
  }

  Values from_lines(const Lines& lines, const Questions& questions) const override {
    const Lines::Distinct& pairs = lines.distinct();
    const Lines::Centred& centred = lines.centred();
    const Tensor ones = at::ones({pairs.line.size(0)}, lines.options());
    const Tensor missing =
        static_cast<double>(lines.N()) -
        at::zeros({lines.shape()[0]}, lines.options()).index_add_(0, pairs.line, ones);
    Tensor squares = centred.mean.square().mul_(missing.unsqueeze(1));
    return {squares.index_add_(0, pairs.line, centred.squares).mul_(questions.share)};
  }

  Values from_multiples(const Multiples& multiples, const Questions& questions) const override {
    return {multiples.squares_of(multiples.centred()).mul_(questions.share).clamp_min_(0)};
  }

  SumNeeds needs_of_sum(const Questions&) const override {
    return {true, Need::kVariance, /*products=*/false};
  }
  Values from_sum(SumWithShared& sum, const Questions& questions) const override {
    const Tensor between = sum.squares_between(sum.multiples().centred()).mul(questions.share);
    return {(sum.of_x.variance + sum.of_multiples.variance + between).clamp_min_(0)};
  }

  Tensor about(const Tensor& own, const MeanShift& shift) const override {
    return own + shift.offset.square();
  }
};

}  // namespace

const Answer& variance() {
  static const Variance answer;
  return answer;
}

}  // namespace flightdeck::answers
