// SPDX-License-Identifier: MIT
// Goes through one series by step: the database's rows, with the journal's values between them and
// in their place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/limits.h"
#include "flightdeck/record.h"
#include "record/sqlite.h"
#include "record/view.h"

namespace flightdeck::record {

class SeriesCursor {
 public:
  enum class Columns { kAll, kStep };

  // Borrows `view` and `series`. With Columns::kStep it has steps only, and reads no blobs.
  SeriesCursor(const View& view,
               const SeriesInfo& series,
               const StepRange& range,
               Columns columns = Columns::kAll);

  // Goes to the next step and returns false if there is none. Throws if the database's steps do not
  // ascend.
  bool next();
  bool is_over() const { return is_over_; }

  int64_t step() const { return step_; }
  double time() const;
  double number() const;
  // Returns the value of this step. Throws if the database has it as a histogram of more than
  // `most_bins`.
  Reading reading(int64_t most_bins = limits::kBins) const;

 private:
  using Values = std::map<int64_t, TailValue>;

  const SeriesInfo* series_;
  std::optional<Statement> rows_;  // on its next row; empty behind the last
  Values::const_iterator tail_, tail_end_;
  const TailValue* value_ = nullptr;  // null: the value is the row's
  bool row_is_used_ = true;
  int64_t step_ = 0;
  bool has_begun_ = false, is_over_ = false;
};

}  // namespace flightdeck::record
