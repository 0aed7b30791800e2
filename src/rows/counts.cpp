// SPDX-License-Identifier: MIT
#include "rows/counts.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

void add(std::vector<Tensor>& totals, size_t k, const Tensor& counts) {
  if (totals.size() <= k) totals.resize(k + 1);
  totals[k] = totals[k].defined() ? totals[k].add_(counts) : counts;
}

// Calls `one` and `joint` for every histogram and adds what they return.
template <typename One, typename Joint>
void add_counts(const Questions& questions, Answers& answers, const One& one, const Joint& joint) {
  for (size_t k = 0; k < questions.histograms.size(); ++k) {
    add(answers.histograms, k, one(questions.histograms[k]));
  }
  for (size_t k = 0; k < questions.joint_histograms.size(); ++k) {
    const JointBins& bins = questions.joint_histograms[k];
    const Tensor value_bin = questions.value_bins[k].reshape({-1});
    add(answers.joint_histograms, k, joint(bins.gradients, value_bin, bins.parameters.count + 1));
  }
}

}  // namespace

Tensor value_bin_index(const Tensor& values, const Bins& bins) {
  return bin_index(in_row_precision(values).clamp(bins.low, bins.high), bins)
      .clamp_max_(bins.count);
}

void count_rows(const Tensor& rows, const Questions& questions, Answers& answers) {
  if (!questions.any_counts()) return;
  const Tensor flat = rows.reshape({rows.size(0), -1});
  add_counts(
      questions,
      answers,
      [&](const Bins& bins) { return count_into_bins(flat, bins); },
      [&](const Bins& bins, const Tensor& value_bin, int64_t columns) {
        return count_into_joint_bins(flat, bins, value_bin, columns);
      });
}

void count_in_pieces(const Form& form, const Questions& questions, Answers& answers) {
  if (!questions.any_counts()) return;
  const int64_t piece = rows_per_piece(form.shape(), form.options(), questions.scratch_bytes);
  for (int64_t begin = 0; begin < form.N(); begin += piece) {
    count_rows(form.dense(begin, std::min(begin + piece, form.N())), questions, answers);
  }
}

void count_zeros(int64_t times,
                 int64_t entries,
                 const at::TensorOptions& options,
                 const Questions& questions,
                 Answers& answers) {
  const Tensor zero = at::zeros({1, 1}, options);
  add_counts(
      questions,
      answers,
      [&](const Bins& bins) { return count_into_bins(zero, bins).mul_(times * entries); },
      [&](const Bins& bins, const Tensor& value_bin, int64_t columns) {
        return count_into_joint_bins(zero.expand({1, entries}), bins, value_bin, columns)
            .mul_(times);
      });
}

}  // namespace flightdeck
