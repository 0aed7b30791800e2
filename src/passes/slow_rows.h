// SPDX-License-Identifier: MIT
// Answers from rows that come one at a time, as the per-sample fallback produces them. Rows are
// kept only for questions that need several at once.
#pragma once

#include <memory>
#include <vector>

#include "rows/rows.h"
#include "rows/sweep.h"

namespace flightdeck {

class SlowRows {
 public:
  // Expects `N` rows of this parameter. `keeps_rows`: they are wanted themselves, see `rows`.
  SlowRows(Questions questions, int64_t N, const Tensor& parameter, bool keeps_rows);

  // Adds the row of the next sample; it may be overwritten afterwards.
  void add(const Tensor& row);

  int64_t count() const { return count_; }
  Answers finish();

  // Returns all rows after `finish`, if they were to be kept.
  const Rows& rows() const { return all_; }

 private:
  Questions questions_;
  Asked asked_;
  Shape shape_;
  bool keeps_rows_;
  int64_t count_ = 0;
  at::ScalarType given_type_ = at::kFloat;
  std::vector<Tensor> rows_;
  Rows all_;
  std::unique_ptr<Sweep> sweep_;  // over rows that are not kept
};

}  // namespace flightdeck
