// SPDX-License-Identifier: MIT
#include "record/stretch_store.h"

#include <algorithm>
#include <string>

#include "record/schema.h"

namespace flightdeck::record {

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string points_sql(ReadingKind kind) {
  return std::string("SELECT step, ") + (kind == ReadingKind::kNumber ? "value" : "NULL") +
         " FROM " + table_of(kind) + " WHERE series = ? AND step BETWEEN ? AND ? ORDER BY step";
}

NumberStretch joined(const std::vector<NumberStretch>& points, size_t from, size_t to) {
  NumberStretch stretch;
  for (size_t i = from; i < to; ++i) join(stretch, points[i]);
  return stretch;
}

// Returns the only column of the only row, or `otherwise` if there is none.
int64_t value_of(Statement& statement, int64_t otherwise) {
  const int64_t value = statement.step() ? statement.integer(0) : otherwise;
  statement.reset();
  return value;
}

}  // namespace

StretchStore::StretchStore(const Database& database)
    : put_(database, "INSERT INTO stretches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      remove_(database, "DELETE FROM stretches WHERE series = ? AND first_step = ?"),
      at_(database,
          "SELECT first_step FROM stretches WHERE series = ? AND first_step <= ? "
          "ORDER BY first_step DESC LIMIT 1"),
      first_(database, "SELECT min(first_step) FROM stretches WHERE series = ?"),
      before_(database,
              "SELECT count(*) FROM (SELECT 1 FROM stretches WHERE series = ? AND first_step < ? "
              "LIMIT 1)"),
      behind_(database,
              "SELECT first_step FROM stretches WHERE series = ? AND first_step > ? "
              "ORDER BY first_step LIMIT 1"),
      last_(database,
            "SELECT last_step FROM stretches WHERE series = ? ORDER BY first_step DESC LIMIT 1"),
      points_{Statement(database, points_sql(ReadingKind::kNumber)),
              Statement(database, points_sql(ReadingKind::kList)),
              Statement(database, points_sql(ReadingKind::kHistogram))} {}

OpenStretch StretchStore::load(int64_t series, ReadingKind kind) {
  OpenStretch state;
  state.series = series;
  state.kind = kind;
  // The values behind the last row are read when they are needed.
  state.is_stale = true;
  if (last_.bind(1, series).step()) {
    state.has_rows = true;
    state.stored_to = last_.integer(0);
  }
  last_.reset();
  return state;
}

void StretchStore::append(OpenStretch& series, int64_t step, double value) {
  if (series.is_stale) return;
  join(series.open, stretch_of(step, value, series.kind));
  if (series.open.count == kStretchPoints) close(series, series.open);
}

void StretchStore::touch(OpenStretch& series, int64_t step) {
  if (!series.has_rows || step > series.stored_to) {
    series.is_stale = true;
    return;
  }
  // A step before the first row belongs to that row.
  int64_t row = value_of(at_.bind(1, series.series).bind(2, step), kLeast);
  if (row == kLeast) row = value_of(first_.bind(1, series.series), kLeast);
  series.stale_rows.insert(row);
}

void StretchStore::settle(OpenStretch& series) {
  for (const int64_t row : series.stale_rows) rebuild_row(series, row);
  series.stale_rows.clear();
  if (series.is_stale) rebuild_open(series);
}

void StretchStore::close(OpenStretch& series, const NumberStretch& stretch) {
  put(series.series, stretch);
  series.has_rows = true;
  series.stored_to = stretch.last_step;
  series.open = {};
}

void StretchStore::put(int64_t series, const NumberStretch& stretch) {
  put_.bind(1, series)
      .bind(2, stretch.first_step)
      .bind(3, stretch.last_step)
      .bind(4, stretch.count)
      .bind(5, stretch.not_a_number)
      .bind(6, stretch.first)
      .bind(7, stretch.last)
      .bind(8, stretch.min)
      .bind(9, stretch.max)
      .bind(10, stretch.min_step)
      .bind(11, stretch.max_step)
      .run();
}

// Splits a row that has grown to twice the size, so that rows stay between one size and two
// whatever the order of the values.
void StretchStore::rebuild_row(const OpenStretch& series, int64_t first_step) {
  const bool is_first = value_of(before_.bind(1, series.series).bind(2, first_step), 0) == 0;
  const int64_t next = value_of(behind_.bind(1, series.series).bind(2, first_step), kLeast);
  const Points points =
      read(series, is_first ? kLeast : first_step, next == kLeast ? series.stored_to : next - 1);
  remove_.bind(1, series.series).bind(2, first_step).run();
  const size_t rows = std::max<size_t>(points.size() / kStretchPoints, 1);
  for (size_t i = 0; i < rows; ++i) {
    put(series.series, joined(points, points.size() * i / rows, points.size() * (i + 1) / rows));
  }
}

void StretchStore::rebuild_open(OpenStretch& series) {
  series.is_stale = false;
  series.open = {};
  if (series.has_rows && series.stored_to == kMost) return;
  const Points points = read(series, series.has_rows ? series.stored_to + 1 : kLeast, kMost);
  for (const NumberStretch& point : points) {
    join(series.open, point);
    if (series.open.count == kStretchPoints) close(series, series.open);
  }
}

StretchStore::Points StretchStore::read(const OpenStretch& series, int64_t first, int64_t last) {
  Statement& rows = points_[static_cast<size_t>(series.kind)];
  rows.bind(1, series.series).bind(2, first).bind(3, last);
  Points points;
  while (rows.step()) points.push_back(stretch_of(rows.integer(0), rows.number(1), series.kind));
  rows.reset();
  return points;
}

}  // namespace flightdeck::record
