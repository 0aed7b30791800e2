// SPDX-License-Identifier: MIT
// The rows themselves.
#include <ATen/ATen.h>

#include "rows/answer.h"

namespace flightdeck::answers {
namespace {

class KeptPieces final : public Accumulator {
 public:
  explicit KeptPieces(const RowsSize& size) : size_(size) {}

  void add(const Piece& piece) override {
    if (piece.is_whole(size_)) {
      rows_ = piece.rows;
      return;
    }
    if (!rows_.defined()) rows_ = at::empty({size_.N, size_.entries}, size_.options);
    rows_.slice(0, piece.sample, piece.end_sample())
        .slice(1, piece.entry, piece.end_entry())
        .copy_(piece.rows);
  }

  Values finish(Sums&) override { return {rows_}; }

 private:
  RowsSize size_;
  Tensor rows_;
};

class Individual final : public TensorAnswer {
 public:
  Individual() : TensorAnswer(Need::kIndividual, &ParameterGradients::individual) {}

  AnswerKind kind() const override {
    return {"individual",
            "Need::kIndividual",
            "the gradients themselves",
            Extent::kRows,
            Power::kLinear,
            OverRanks::kFromRows,
            /*is_linear=*/true};
  }

  Look look() const override {
    Look look;
    look.keeps = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize& size) const override {
    return std::make_unique<KeptPieces>(size);
  }
};

}  // namespace

const Answer& individual() {
  static const Individual answer;
  return answer;
}

}  // namespace flightdeck::answers
