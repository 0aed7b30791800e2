// SPDX-License-Identifier: MIT
#include "record/series_cursor.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/limits.h"
#include "record/blobs.h"
#include "record/schema.h"

namespace flightdeck::record {

SeriesCursor::SeriesCursor(const View& view,
                           const SeriesInfo& series,
                           const StepRange& range,
                           Columns columns)
    : series_(&series) {
  const Values& values = view.tail->values_of(series.id);
  tail_ = values.lower_bound(range.first);
  tail_end_ = range.first > range.last ? tail_ : values.upper_bound(range.last);
  if (!view.database) return;
  rows_.emplace(*view.database,
                "SELECT step" + std::string(columns == Columns::kAll ? ", time, value" : "") +
                    " FROM " + table_of(series.kind) +
                    " WHERE series = ? AND step BETWEEN ? AND ? ORDER BY step");
  rows_->bind(1, series.id).bind(2, range.first).bind(3, range.last);
}

bool SeriesCursor::next() {
  if (row_is_used_ && rows_ && !rows_->step()) rows_.reset();
  row_is_used_ = false;
  const bool has_tail = tail_ != tail_end_;
  is_over_ = !rows_ && !has_tail;
  if (is_over_) return false;
  const bool takes_tail = has_tail && (!rows_ || tail_->first <= rows_->integer(0));
  const int64_t before = step_;
  step_ = takes_tail ? tail_->first : rows_->integer(0);
  if (has_begun_ && step_ <= before) {
    throw std::runtime_error("record: step " + std::to_string(step_) + " of '" + series_->quantity +
                             "' follows step " + std::to_string(before) +
                             "; the record is damaged");
  }
  has_begun_ = true;
  row_is_used_ = rows_ && rows_->integer(0) == step_;
  value_ = takes_tail ? &tail_->second : nullptr;
  if (takes_tail) ++tail_;
  return true;
}

double SeriesCursor::time() const { return value_ != nullptr ? value_->time : rows_->number(1); }

double SeriesCursor::number() const {
  return value_ != nullptr ? value_->reading.number : rows_->number(2);
}

Reading SeriesCursor::reading(int64_t most_bins) const {
  Reading reading;
  if (value_ != nullptr) reading = value_->reading;
  reading.quantity = series_->quantity;
  reading.field = series_->field;
  reading.group = series_->group;
  reading.kind = series_->kind;
  if (value_ != nullptr) return reading;
  switch (reading.kind) {
    case ReadingKind::kNumber:
      reading.number = rows_->number(2);
      break;
    case ReadingKind::kList:
      reading.list = list_of_blob(rows_->blob(2));
      break;
    case ReadingKind::kHistogram:
      read_histogram_blob(rows_->blob(2), reading, std::min(most_bins, limits::kBins));
      break;
  }
  return reading;
}

}  // namespace flightdeck::record
