// SPDX-License-Identifier: MIT
// Joint histograms of the rows' entries and the parameter's: counts [gradient bins, parameter
// bins].
#include <ATen/ATen.h>

#include "rows/answer.h"
#include "rows/factored.h"
#include "rows/histogram.h"

namespace flightdeck::answers {
namespace {

// Counts entries whose parameter is NaN into one column more, which is cut off: they need not be
// searched for.
int64_t columns_of(const JointBins& bins) { return bins.parameters.count + 1; }

Tensor without_last_column(const Tensor& counts) {
  return counts.slice(1, 0, counts.size(1) - 1).contiguous();
}

// Counts the entries of `rows` [n, e] whose parameters lie in these bins, [e].
Values count_rows(const Tensor& rows, const Questions& questions, const Values& value_bins) {
  Values values;
  for (size_t k = 0; k < questions.joint_histograms.size(); ++k) {
    const JointBins& bins = questions.joint_histograms[k];
    values.push_back(count_into_joint_bins(rows, bins.gradients, value_bins[k], columns_of(bins)));
  }
  return values;
}

// Returns the bins of all entries of the parameter, [entries].
Values flat_bins(const Questions& questions) {
  Values flat;
  for (const Tensor& bins : questions.value_bins) flat.push_back(bins.reshape({-1}));
  return flat;
}

class JointCountsOfPieces final : public Accumulator {
 public:
  explicit JointCountsOfPieces(const Questions& questions)
      : questions_(questions), value_bins_(flat_bins(questions)) {}

  void add(const Piece& piece) override {
    Values here;
    for (const Tensor& bins : value_bins_) {
      here.push_back(bins.slice(0, piece.entry, piece.end_entry()));
    }
    const Values counts = count_rows(piece.rows, questions_, here);
    counts_.resize(counts.size());
    for (size_t k = 0; k < counts.size(); ++k) {
      counts_[k] = counts_[k].defined() ? counts_[k].add_(counts[k]) : counts[k];
    }
  }

  Values finish(Sums&) override {
    for (Tensor& counts : counts_) counts = without_last_column(counts);
    return counts_;
  }

 private:
  Questions questions_;
  Values value_bins_, counts_;
};

class JointHistograms final : public Answer {
 public:
  AnswerKind kind() const override {
    return {"joint_histograms",
            "GradientOptions::joint_histograms",
            "joint histograms",
            Extent::kCounts,
            Power::kNone,
            OverRanks::kSum};
  }
  bool is_asked(const Questions& questions) const override {
    return !questions.joint_histograms.empty();
  }
  Values get(const ParameterGradients& from) const override { return from.joint_histograms; }
  void put(ParameterGradients& to, Values values) const override {
    to.joint_histograms = std::move(values);
  }

  Look look() const override {
    Look look;
    look.rows = true;
    return look;
  }

  std::unique_ptr<Accumulator> start(const Questions& questions, const RowsSize&) const override {
    return std::make_unique<JointCountsOfPieces>(questions);
  }

  Values from_products(const Products& products, const Questions& questions) const override {
    Values values;
    for (size_t k = 0; k < questions.joint_histograms.size(); ++k) {
      const JointBins& bins = questions.joint_histograms[k];
      values.push_back(without_last_column(count_outer_into_joint_bins(products.a_of_rows(),
                                                                       products.b(),
                                                                       questions.value_bins[k],
                                                                       bins.gradients,
                                                                       columns_of(bins))));
    }
    return values;
  }

  // All entries are zero but for the lines that occur.
  Values from_lines(const Lines& lines, const Questions& questions) const override {
    const Tensor rows = lines.distinct().values.view({1, -1});
    Questions occurring = questions;
    for (Tensor& bins : occurring.value_bins) {
      bins = bins.index_select(0, lines.distinct().line).reshape({-1});
    }
    Values counts = count_rows(rows, questions, occurring.value_bins);
    for (Tensor& table : counts) table = without_last_column(table);
    add_zeros(counts, lines.N(), product(lines.shape()), lines.options(), questions);
    add_zeros(counts, -1, rows.numel(), lines.options(), occurring);
    return counts;
  }

  Values zeros(int64_t count,
               const Shape& shape,
               const at::TensorOptions& options,
               const Questions& questions) const override {
    Values counts;
    for (const JointBins& bins : questions.joint_histograms) {
      counts.push_back(
          at::zeros({bins.gradients.count, bins.parameters.count}, options.dtype(at::kLong)));
    }
    add_zeros(counts, count, product(shape), options, questions);
    return counts;
  }

  void add_zeros(Values& counts,
                 int64_t times,
                 int64_t entries,
                 const at::TensorOptions& options,
                 const Questions& questions) const override {
    const Tensor row = at::zeros({1, 1}, options).expand({1, entries});
    const Values zeros = count_rows(row, questions, flat_bins(questions));
    for (size_t k = 0; k < counts.size(); ++k) {
      counts[k] += without_last_column(zeros[k]).mul_(times);
    }
  }
};

}  // namespace

const Answer& joint_histograms() {
  static const JointHistograms answer;
  return answer;
}

}  // namespace flightdeck::answers
