// SPDX-License-Identifier: MIT
// The product of every row with the mean, in double so that differences of them keep their digits.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class MeanDots final : public TensorAnswer {
 public:
  MeanDots() : TensorAnswer(Need::kMeanDots, &ParameterGradients::mean_dots) {}

  AnswerKind kind() const override {
    return {"mean_dots",
            "Need::kMeanDots",
            "products with the mean",
            Extent::kSamples,
            Power::kSquare,
            OverRanks::kAboutMean,
            /*is_linear=*/false,
            /*in_double=*/true};
  }

  Look look() const override {
    Look look;
    look.centred = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize&) const override {
    return std::make_unique<SumReader>(&Sums::mean_dots);
  }

  Values from_products(const Products& products, const Questions& questions) const override {
    return {products.scatter().dots.mul(questions.share * static_cast<double>(products.N()))};
  }

  Values from_lines(const Lines& lines, const Questions& questions) const override {
    const Lines::Centred& centred = lines.centred();
    const Tensor along = centred.differences.mul(centred.centre).to(at::kDouble).sum(1);
    const Tensor with_mean = lines.by_sample(along + centred.here);
    return {with_mean.mul(static_cast<double>(lines.N())).mul_(questions.share)};
  }

  Values from_multiples(const Multiples& multiples, const Questions& questions) const override {
    const Tensor c = multiples.c().to(at::kDouble);
    const Tensor lines = at::mm(c, multiples.products().to(at::kDouble));
    return {at::mv(lines, c.sum(0)).mul_(questions.share)};
  }

  SumNeeds needs_of_sum(const Questions&) const override {
    return {true, Need::kMeanDots | Need::kMean, /*products=*/true};
  }
  Values from_sum(SumWithShared& sum, const Questions& questions) const override {
    const Tensor multiples = sum.multiples().c().to(at::kDouble);
    const Tensor with_sum = at::mv(sum.multiples().v(), sum.of_x.mean.reshape({-1}));  // [K]
    return {sum.of_x.mean_dots + sum.of_multiples.mean_dots +
            at::mv(sum.dots_in_double(), multiples.sum(0)).mul_(questions.share) +
            at::mv(multiples, with_sum.to(at::kDouble))};
  }

  Tensor about(const Tensor& own, const MeanShift& shift) const override {
    return own - shift.products;
  }
};

}  // namespace

const Answer& mean_dots() {
  static const MeanDots answer;
  return answer;
}

}  // namespace flightdeck::answers
