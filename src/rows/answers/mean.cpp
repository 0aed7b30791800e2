// SPDX-License-Identifier: MIT
// The mean of the rows, or their sum where the share is 1.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class Mean final : public TensorAnswer {
 public:
  Mean() : TensorAnswer(Need::kMean, &ParameterGradients::mean) {}

  AnswerKind kind() const override {
    return {"mean",
            "Need::kMean",
            "mean",
            Extent::kEntries,
            Power::kLinear,
            OverRanks::kSum,
            /*is_linear=*/true};
  }

  Look look() const override {
    Look look;
    look.sum = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize&) const override {
    return std::make_unique<SumReader>(&Sums::sum);
  }

  Values from_products(const Products& products, const Questions& questions) const override {
    if (questions.what.has(Need::kVariance)) return {products.moments(questions).sum};
    // The share goes into the small factor: the result is as large as the parameter.
    const Tensor total = products.K() == 1 ? products.b() : products.columns().sum(0);
    return {at::mm(products.a().t(), questions.share != 1 ? total.mul(questions.share) : total)};
  }

  Values from_positions(const Positions& positions, const Questions& questions) const override {
    Tensor sum = positions.sum();
    return {questions.share == 1 ? sum : sum.mul_(questions.share)};
  }
  double flops_from_positions(const Positions& positions, const Questions&) const override {
    return positions.sum_flops();
  }

  Values from_lines(const Lines& lines, const Questions& questions) const override {
    return {questions.share == 1 ? lines.sum() : lines.sum().mul(questions.share)};
  }

  Values from_multiples(const Multiples& multiples, const Questions& questions) const override {
    const Tensor sum = multiples.c().sum(0).mul(questions.share);
    return {sum.matmul(multiples.v()).view(multiples.shape())};
  }
};

}  // namespace

const Answer& mean() {
  static const Mean answer;
  return answer;
}

}  // namespace flightdeck::answers
