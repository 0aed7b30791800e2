// SPDX-License-Identifier: MIT
// The products of every row with given directions.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"

namespace flightdeck::answers {
namespace {

// Returns directions [V, *shape] as lines [V, entries] of the rows' type.
Tensor lines_of(const Questions& questions, const at::TensorOptions& options) {
  const Tensor& directions = questions.directions;
  return directions.reshape({directions.size(0), -1}).to(options.dtype());
}

class DotsOfPieces final : public Accumulator {
 public:
  DotsOfPieces(const Questions& questions, const RowsSize& size)
      : size_(size), directions_(lines_of(questions, size.options)) {}

  void add(const Piece& piece) override {
    const int64_t V = directions_.size(0);
    if (piece.is_whole(size_) && V > 1) {
      dots_ = at::mm(piece.rows, directions_.t());
      return;
    }
    if (!dots_.defined()) dots_ = at::zeros({size_.N, V}, size_.options);
    // A product with one long column is slow in most BLAS.
    for (int64_t v = 0; v < V; ++v) {
      const Tensor direction = directions_[v].slice(0, piece.entry, piece.end_entry());
      dots_.slice(0, piece.sample, piece.end_sample())
          .select(1, v)
          .add_(at::mv(piece.rows, direction));
    }
  }

  Values finish(Sums&) override { return {dots_}; }

 private:
  RowsSize size_;
  Tensor directions_, dots_;
};

class Dots final : public TensorAnswer {
 public:
  Dots() : TensorAnswer(Need::kDots, &ParameterGradients::dots) {}

  AnswerKind kind() const override {
    return {"dots",
            "Need::kDots",
            "products with directions",
            Extent::kSamples,
            Power::kLinear,
            OverRanks::kSideBySide,
            /*is_linear=*/true};
  }

  Look look() const override {
    Look look;
    look.rows = true;
    return look;
  }
  bool follows_others() const override { return true; }

  std::unique_ptr<Accumulator> start(const Questions& questions,
                                     const RowsSize& size) const override {
    return std::make_unique<DotsOfPieces>(questions, size);
  }

  // Uses <a_n b_nᵀ, V> = <a_n V, b_n>: one product per direction.
  Values from_products(const Products& products, const Questions& questions) const override {
    if (questions.along.is_known() && products.K() == 1) {
      return {dots_along_mean(products.a(), products.b(), questions.along).unsqueeze(1)};
    }
    std::vector<Tensor> columns;
    for (const Tensor& direction : questions.directions.unbind(0)) {
      const Tensor mapped = at::mm(products.a(), direction);
      columns.push_back(products.columns().mul(mapped).sum({2}).view({-1}));
    }
    return {at::stack(columns, 1)};
  }

  Values from_positions(const Positions& positions, const Questions& questions) const override {
    return {positions.dots(questions.directions)};
  }
  double flops_from_positions(const Positions&, const Questions&) const override { return 0; }

  Values from_lines(const Lines& lines, const Questions& questions) const override {
    std::vector<Tensor> columns;
    const Tensor flat_indices = lines.indices().reshape({-1});
    for (const Tensor& direction : questions.directions.unbind(0)) {
      const Tensor picked = direction.index_select(0, flat_indices).view_as(lines.b());
      columns.push_back(picked.mul_(lines.b()).sum({1, 2}));
    }
    return {at::stack(columns, 1)};
  }

  Values from_multiples(const Multiples& multiples, const Questions& questions) const override {
    const Tensor directions = lines_of(questions, multiples.v().options());
    return {at::mm(multiples.c(), at::mm(multiples.v(), directions.t()))};
  }

  Values zeros(int64_t count,
               const Shape&,
               const at::TensorOptions& options,
               const Questions& questions) const override {
    return {at::zeros({count, questions.directions.size(0)}, options)};
  }
};

}  // namespace

const Answer& dots() {
  static const Dots answer;
  return answer;
}

}  // namespace flightdeck::answers
