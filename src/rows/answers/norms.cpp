// SPDX-License-Identifier: MIT
// The L2 norm of every row.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/form.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class Norms final : public TensorAnswer {
 public:
  Norms() : TensorAnswer(Need::kNorms, &ParameterGradients::norms) {}

  AnswerKind kind() const override {
    return {"norms",
            "Need::kNorms",
            "norms",
            Extent::kSamples,
            Power::kMagnitude,
            OverRanks::kSideBySide};
  }

  Look look() const override {
    Look look;
    look.norms = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize&) const override {
    return std::make_unique<SumReader>(&Sums::norms);
  }

  Values from_products(const Products& products, const Questions&) const override {
    const Tensor of_a = at::linalg_vector_norm(products.a(), 2, {1});
    return {at::linalg_vector_norm(products.columns(), 2, {2}).mul_(of_a).view({-1})};
  }

  Values from_positions(const Positions& positions, const Questions& questions) const override {
    if (is_in_gram(questions)) return {norms_from_gram(positions.gram(questions.scratch_bytes))};
    return {positions.norms(questions.scratch_bytes)};
  }
  double flops_from_positions(const Positions& positions,
                              const Questions& questions) const override {
    return is_in_gram(questions) ? 0 : positions.norms_flops;
  }
  const char* route_over_positions() const override { return "norms by Gram over positions"; }

  Values from_lines(const Lines& lines, const Questions&) const override {
    return {lines.by_sample(lines.distinct().values.square().sum(1)).sqrt_()};
  }

  Values from_multiples(const Multiples& multiples, const Questions&) const override {
    const Tensor lines = at::mm(multiples.c(), multiples.products());
    return {lines.mul(multiples.c()).sum(1).clamp_min_(0).sqrt_()};
  }

  SumNeeds needs_of_sum(const Questions& questions) const override {
    return {true, is_in_gram(questions) ? Needs() : Needs(Need::kNorms), /*products=*/true};
  }
  Values from_sum(SumWithShared& sum, const Questions& questions) const override {
    if (is_in_gram(questions)) return {norms_from_gram(sum.gram())};
    const Tensor cross = sum.of_x.dots.mul(sum.multiples().c()).sum(1);
    const Tensor squares = sum.of_x.norms.square() + sum.of_multiples.norms.square() + cross.mul(2);
    return {squares.clamp_min_(0).sqrt_()};
  }

  void add(Values& total, const Values& part) const override {
    total[0] = at::hypot(total[0], part[0]);
  }

  bool is_sum_in_total() const override { return false; }
  // Keeps the parts for a sum in double: the total may add up thousands of parameters.
  void add_to_total(Values& total, const Values& part) const override { total.push_back(part[0]); }
  void finish_total(Values& total) const override {
    const Tensor all = at::stack(total);
    total = {at::linalg_vector_norm(all.to(at::kDouble), 2, {0}).to(all.dtype())};
  }

 private:
  static bool is_in_gram(const Questions& questions) { return questions.what.has(Need::kGram); }
};

}  // namespace

const Answer& norms() {
  static const Norms answer;
  return answer;
}

}  // namespace flightdeck::answers
