// SPDX-License-Identifier: MIT
// The squared distance of every row to the mean, in double.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class Deviations final : public TensorAnswer {
 public:
  Deviations() : TensorAnswer(Need::kDeviations, &ParameterGradients::deviations) {}

  AnswerKind kind() const override {
    return {"deviations",
            "Need::kDeviations",
            "distances from the mean",
            Extent::kSamples,
            Power::kSquare,
            OverRanks::kAboutMean,
            /*is_linear=*/false,
            /*in_double=*/true};
  }
  // The mean of the mean dots is the squared length of the mean, which says how much of the
  // deviations is rounding.
  Needs asks_along() const override { return Need::kMeanDots; }

  Look look() const override {
    Look look;
    look.centred = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize&) const override {
    return std::make_unique<SumReader>(&Sums::deviations);
  }

  Values from_products(const Products& products, const Questions&) const override {
    return {products.scatter().deviations.clamp_min(0)};
  }

  // Starts from the mean's whole length less what lies on the sample's lines, in double for the
  // difference to vanish.
  Values from_lines(const Lines& lines, const Questions&) const override {
    const Lines::Centred& centred = lines.centred();
    const Tensor outside = centred.lengths.sum() - lines.by_sample(centred.here);
    const Tensor inside = lines.by_sample(centred.squares.to(at::kDouble).sum(1));
    return {(inside + outside).clamp_min_(0)};
  }

  Values from_multiples(const Multiples& multiples, const Questions&) const override {
    const Tensor& c = multiples.centred();
    return {at::mm(c, multiples.products().to(at::kDouble)).mul_(c).sum(1).clamp_min_(0)};
  }

  SumNeeds needs_of_sum(const Questions&) const override {
    return {true, Need::kDeviations, /*products=*/true};
  }
  Values from_sum(SumWithShared& sum, const Questions&) const override {
    const Tensor dots = sum.dots_in_double();
    const Tensor cross =
        (dots - dots.mean(0, /*keepdim=*/true)).mul_(sum.multiples().centred()).sum(1);
    return {(sum.of_x.deviations + sum.of_multiples.deviations + cross.mul(2)).clamp_min_(0)};
  }

  // ||g_n - g||² = ||g_n - h||² + 2 <g_n - h, h - g> + ||h - g||².
  Tensor about(const Tensor& own, const MeanShift& shift) const override {
    const Tensor constant = shift.offset.square().sum() - 2 * (shift.own_mean * shift.offset).sum();
    return (own + 2 * shift.products + constant.to(own.device())).clamp_min(0);
  }
};

}  // namespace

const Answer& deviations() {
  static const Deviations answer;
  return answer;
}

}  // namespace flightdeck::answers
