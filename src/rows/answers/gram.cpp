// SPDX-License-Identifier: MIT
// The products of all pairs of rows.
#include <algorithm>

#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/form.h"
#include "rows/sums.h"

namespace flightdeck::answers {
namespace {

class GramOfPieces final : public Accumulator {
 public:
  explicit GramOfPieces(const RowsSize& size)
      : size_(size), gram_(at::zeros({size.N, size.N}, size.options)) {}

  void add(const Piece& piece) override {
    if (piece.has_all_samples(size_)) {
      add_symmetric_product(gram_, piece.rows);
      is_upper_ = true;
    } else {
      block(piece, piece).copy_(at::mm(piece.rows, piece.rows.t()));
    }
  }

  void add_pair(const Piece& piece, const Piece& later) override {
    const Tensor products = at::mm(piece.rows, later.rows.t());
    block(piece, later).copy_(products);
    block(later, piece).copy_(products.t());
  }

  Values finish(Sums& sums) override {
    if (is_upper_) mirror_upper(gram_);
    sums.give_norms(norms_from_gram(gram_));
    return {gram_};
  }

 private:
  Tensor block(const Piece& lines, const Piece& columns) const {
    return gram_.slice(0, lines.sample, lines.end_sample())
        .slice(1, columns.sample, columns.end_sample());
  }

  RowsSize size_;
  Tensor gram_;
  bool is_upper_ = false;  // only the upper triangle was added to
};

// Lays out only lines that occur, densely and a few at a time: others do not matter.
Tensor gram_of_lines(const Lines& lines, int64_t scratch_bytes) {
  const Lines::Distinct& pairs = lines.distinct();
  auto [used, position, counts] =
      at::_unique2(pairs.line, /*sorted=*/true, /*return_inverse=*/true);
  const int64_t N = lines.N(), J = lines.shape()[1];
  const int64_t piece = rows_per_piece({N, J}, lines.options(), scratch_bytes);
  Tensor products = at::zeros({N, N}, lines.options());
  for (int64_t begin = 0; begin < used.size(0); begin += piece) {
    const int64_t count = std::min(piece, used.size(0) - begin);
    const Tensor here =
        (position >= begin).logical_and_(position < begin + count).nonzero().squeeze(1);
    Tensor block = at::zeros({N * count, J}, lines.options());
    block.index_copy_(
        0,
        pairs.sample.index_select(0, here) * count + position.index_select(0, here) - begin,
        pairs.values.index_select(0, here));
    const Tensor flat = block.view({N, -1});
    products.addmm_(flat, flat.t());
  }
  return products;
}

class Gram final : public TensorAnswer {
 public:
  Gram() : TensorAnswer(Need::kGram, &ParameterGradients::gram) {}

  AnswerKind kind() const override {
    return {"gram",
            "Need::kGram",
            "pairwise products",
            Extent::kPairs,
            Power::kSquare,
            OverRanks::kFromRows};
  }

  Look look() const override {
    Look look;
    look.rows = look.pairs = look.gives_norms = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize& size) const override {
    return std::make_unique<GramOfPieces>(size);
  }

  Values from_products(const Products& products, const Questions&) const override {
    const int64_t K = products.K(), samples = products.a().size(0);
    Tensor gram = symmetric_product(products.b(), /*lines=*/true);
    gram.view({K, samples, K, samples})
        .mul_(symmetric_product(products.a(), /*lines=*/true).view({1, samples, 1, samples}));
    return {gram};
  }

  Values from_positions(const Positions& positions, const Questions& questions) const override {
    return {positions.gram(questions.scratch_bytes)};
  }
  double flops_from_positions(const Positions& positions, const Questions&) const override {
    return positions.gram_flops;
  }
  double flops_on_rows(const Positions& positions) const override {
    return 2.0 * double(positions.N) * double(positions.N) * double(positions.I) *
           double(positions.J);
  }
  const char* route_over_positions() const override {
    return "pairwise products by Gram over positions";
  }

  Values from_lines(const Lines& lines, const Questions& questions) const override {
    return {gram_of_lines(lines, questions.scratch_bytes)};
  }

  Values from_multiples(const Multiples& multiples, const Questions&) const override {
    return {at::mm(at::mm(multiples.c(), multiples.products()), multiples.c().t())};
  }

  SumNeeds needs_of_sum(const Questions&) const override {
    return {true, Need::kGram, /*products=*/true};
  }
  Values from_sum(SumWithShared& sum, const Questions&) const override { return {sum.gram()}; }

  Values zeros(int64_t count,
               const Shape&,
               const at::TensorOptions& options,
               const Questions&) const override {
    return {at::zeros({count, count}, options)};
  }
};

}  // namespace

const Answer& gram() {
  static const Gram answer;
  return answer;
}

}  // namespace flightdeck::answers
