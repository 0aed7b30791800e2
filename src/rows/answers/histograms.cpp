// SPDX-License-Identifier: MIT
// Histograms of the entries of all rows: raw counts [bins + 3], see count_into_bins.
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/histogram.h"

namespace flightdeck::answers {
namespace {

template <typename Count>
Values for_each_bins(const Questions& questions, const Count& count) {
  Values values;
  for (const Bins& bins : questions.histograms) values.push_back(count(bins));
  return values;
}

class CountsOfPieces final : public Accumulator {
 public:
  explicit CountsOfPieces(const Questions& questions) : bins_(questions.histograms) {}

  void add(const Piece& piece) override {
    counts_.resize(bins_.size());
    for (size_t k = 0; k < bins_.size(); ++k) {
      const Tensor counts = count_into_bins(piece.rows, bins_[k]);
      counts_[k] = counts_[k].defined() ? counts_[k].add_(counts) : counts;
    }
  }

  Values finish(Sums&) override { return counts_; }

 private:
  std::vector<Bins> bins_;
  Values counts_;
};

class Histograms final : public Answer {
 public:
  AnswerKind kind() const override {
    return {"histograms",
            "GradientOptions::histograms",
            "histograms",
            Extent::kCounts,
            Power::kNone,
            OverRanks::kSum};
  }
  bool is_asked(const Questions& questions) const override { return !questions.histograms.empty(); }
  Values get(const ParameterGradients& from) const override { return from.histograms; }
  void put(ParameterGradients& to, Values values) const override {
    to.histograms = std::move(values);
  }

  Look look() const override {
    Look look;
    look.rows = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions& questions, const RowsSize&) const override {
    return std::make_unique<CountsOfPieces>(questions);
  }

  Values from_products(const Products& products, const Questions& questions) const override {
    return for_each_bins(questions, [&](const Bins& bins) {
      return count_outer_into_bins(products.a_of_rows(), products.b(), bins);
    });
  }

  // All entries are zero but for the lines that occur.
  Values from_lines(const Lines& lines, const Questions& questions) const override {
    const Tensor& values = lines.distinct().values;
    Values counts =
        for_each_bins(questions, [&](const Bins& bins) { return count_into_bins(values, bins); });
    add_zeros(counts, lines.N(), product(lines.shape()), lines.options(), questions);
    add_zeros(counts, -1, values.numel(), lines.options(), questions);
    return counts;
  }

  Values zeros(int64_t count,
               const Shape& shape,
               const at::TensorOptions& options,
               const Questions& questions) const override {
    Values counts = for_each_bins(questions, [&](const Bins& bins) {
      return at::zeros({bins.count + 3}, options.dtype(at::kLong));
    });
    add_zeros(counts, count, product(shape), options, questions);
    return counts;
  }

  void add_zeros(Values& counts,
                 int64_t times,
                 int64_t entries,
                 const at::TensorOptions& options,
                 const Questions& questions) const override {
    const Tensor zero = at::zeros({1, 1}, options);
    for (size_t k = 0; k < counts.size(); ++k) {
      counts[k] += count_into_bins(zero, questions.histograms[k]).mul_(times * entries);
    }
  }
};

}  // namespace

const Answer& histograms() {
  static const Histograms answer;
  return answer;
}

}  // namespace flightdeck::answers
