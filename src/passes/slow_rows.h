// SPDX-License-Identifier: MIT
// Answers from rows that arrive one at a time, as the per-sample fallback produces them. Rows are
// kept only for questions that need several at once.
#pragma once

#include <vector>

#include "rows/form.h"

namespace flightdeck {

class SlowRows {
 public:
  explicit SlowRows(Questions questions) : questions_(std::move(questions)) {}

  /// The row of the next sample; it may be overwritten afterwards.
  void add(const Tensor& row);

  int64_t count() const { return count_; }
  Answers finish();

 private:
  bool keeps_rows() const { return questions_.dense || questions_.gram; }

  Questions questions_;
  int64_t count_ = 0;
  std::vector<Tensor> rows_;
  std::vector<Tensor> norms_;
  std::vector<Tensor> dots_;
  Answers answers_;
};

}  // namespace flightdeck
