// SPDX-License-Identifier: MIT
// The mean of the rows' squares, entry by entry.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class SecondMoment final : public TensorAnswer {
 public:
  SecondMoment() : TensorAnswer(Need::kSecondMoment, &ParameterGradients::second_moment) {}

  AnswerKind kind() const override {
    return {"second_moment",
            "Need::kSecondMoment",
            "second moment",
            Extent::kEntries,
            Power::kSquare,
            OverRanks::kSum};
  }

  Look look() const override {
    Look look;
    look.squares = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize&) const override {
    return std::make_unique<SumReader>(&Sums::squares);
  }

  Values from_products(const Products& products, const Questions& questions) const override {
    const Tensor squares =
        products.K() == 1 ? products.b().square() : products.columns().square().sum(0);
    return {at::mm(products.a().square().t(),
                   questions.share != 1 ? squares.mul(questions.share) : squares)};
  }

  Values from_lines(const Lines& lines, const Questions& questions) const override {
    const Lines::Distinct& pairs = lines.distinct();
    Tensor squares =
        at::zeros(lines.shape(), lines.options()).index_add_(0, pairs.line, pairs.values.square());
    return {squares.mul_(questions.share)};
  }

  Values from_multiples(const Multiples& multiples, const Questions& questions) const override {
    return {multiples.squares_of(multiples.c()).mul_(questions.share)};
  }

  SumNeeds needs_of_sum(const Questions&) const override {
    return {true, Need::kSecondMoment, /*products=*/false};
  }
  Values from_sum(SumWithShared& sum, const Questions& questions) const override {
    const Tensor between = sum.squares_between(sum.multiples().c()).mul(questions.share);
    return {sum.of_x.second_moment + sum.of_multiples.second_moment + between};
  }
};

}  // namespace

const Answer& second_moment() {
  static const SecondMoment answer;
  return answer;
}

}  // namespace flightdeck::answers
