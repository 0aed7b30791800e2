// SPDX-License-Identifier: MIT
// Answers from rows that arrive one at a time, as the per-sample fallback produces them. Rows are
// kept only for questions that need several at once.
#pragma once

#include <vector>

#include "rows/rows.h"

namespace flightdeck {

class SlowRows {
 public:
  /// `keeps_rows`: the rows are wanted themselves, see `rows`.
  SlowRows(Questions questions, bool keeps_rows);

  /// The row of the next sample; it may be overwritten afterwards.
  void add(const Tensor& row);

  int64_t count() const { return count_; }
  Answers finish();

  /// After `finish`: all rows, if they were to be kept.
  const Rows& rows() const { return all_; }

 private:
  void add_to_variance(const Tensor& row);

  Questions questions_;
  bool keeps_rows_;
  int64_t count_ = 0;
  at::ScalarType given_type_ = at::kFloat;
  Tensor mean_;  // of the rows so far, if the variance is asked for
  std::vector<Tensor> rows_;
  Rows all_;
  std::vector<Tensor> norms_;
  std::vector<Tensor> dots_;
  Answers answers_;
};

}  // namespace flightdeck
