// SPDX-License-Identifier: MIT
#include "record/stretch_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "record/schema.h"
#include "record/series_cursor.h"
#include "record/stretch.h"

namespace flightdeck::record {

namespace {

using Values = std::map<int64_t, TailValue>;

bool has_value_between(const Values& values, int64_t first, int64_t last) {
  const auto value = values.lower_bound(first);
  return value != values.end() && value->first <= last;
}

void read_points(const View& view,
                 const SeriesInfo& series,
                 const StepRange& range,
                 std::vector<NumberStretch>& pieces) {
  const bool has_numbers = series.kind == ReadingKind::kNumber;
  SeriesCursor cursor(view,
                      series,
                      range,
                      has_numbers ? SeriesCursor::Columns::kAll : SeriesCursor::Columns::kStep);
  while (cursor.next()) {
    pieces.push_back(stretch_of(cursor.step(), has_numbers ? cursor.number() : 0, series.kind));
  }
}

// Checks that the last row lies behind the one before and has no more points than fit into it.
void check(const std::vector<NumberStretch>& rows) {
  const NumberStretch& row = rows.back();
  const bool is_behind = rows.size() == 1 || row.first_step > rows[rows.size() - 2].last_step;
  const bool has_points = row.count >= 1 && row.count <= 2 * kStretchPoints &&
                          row.not_a_number >= 0 && row.not_a_number <= row.count;
  if (is_behind && has_points && row.first_step <= row.last_step) return;
  throw std::runtime_error("record: table stretches has " + std::to_string(row.count) +
                           " points from step " + std::to_string(row.first_step) + " to " +
                           std::to_string(row.last_step) + "; the record is damaged");
}

// Returns the rows that meet the range.
std::vector<NumberStretch> stored_rows(const View& view,
                                       const SeriesInfo& series,
                                       const StepRange& range) {
  std::vector<NumberStretch> rows;
  if (!view.database) return rows;
  // Runs recorded before this table existed are read point by point.
  if (view.database->integer("SELECT count(*) FROM sqlite_master WHERE name = 'stretches'") == 0) {
    return rows;
  }
  Statement row(*view.database,
                "SELECT first_step, last_step, count, not_a_number, first, last, min, max, "
                "min_step, max_step FROM stretches WHERE series = ?1 AND first_step <= ?3 AND "
                "first_step >= coalesce((SELECT max(first_step) FROM stretches WHERE series = ?1 "
                "AND first_step <= ?2), ?2) ORDER BY first_step");
  row.bind(1, series.id).bind(2, range.first).bind(3, range.last);
  while (row.step()) {
    if (row.integer(1) < range.first) continue;
    rows.push_back({row.integer(0),
                    row.integer(1),
                    row.integer(2),
                    row.integer(3),
                    row.number(4),
                    row.number(5),
                    row.number(6),
                    row.number(7),
                    row.integer(8),
                    row.integer(9)});
    check(rows);
  }
  return rows;
}

// Takes whole rows of the table where it can, and points elsewhere. All stored steps up to the last
// row's belong to a row, so that between two rows only the journal can have values.
std::vector<NumberStretch> read_pieces(const View& view,
                                       const SeriesInfo& series,
                                       const StepRange& range) {
  std::vector<NumberStretch> pieces;
  if (range.first > range.last) return pieces;
  const Values& values = view.tail->values_of(series.id);
  int64_t next = range.first;  // first step that is not read yet
  bool has_points = false;     // stored ones, between `next` and the row
  for (const NumberStretch& row : stored_rows(view, series, range)) {
    const bool is_whole = row.first_step >= range.first && row.last_step <= range.last &&
                          !has_value_between(values, row.first_step, row.last_step);
    if (!is_whole) {
      has_points = true;
      continue;
    }
    if (row.first_step > next &&
        (has_points || has_value_between(values, next, row.first_step - 1))) {
      read_points(view, series, {next, row.first_step - 1}, pieces);
    }
    pieces.push_back(row);
    if (row.last_step == std::numeric_limits<int64_t>::max()) return pieces;
    next = row.last_step + 1;
    has_points = false;
  }
  read_points(view, series, {next, range.last}, pieces);
  return pieces;
}

// Returns the last step of the range that has a value.
std::optional<int64_t> last_step(const View& view,
                                 const SeriesInfo& series,
                                 const StepRange& range) {
  std::optional<int64_t> last;
  if (range.first > range.last) return last;
  if (view.database) {
    Statement row(*view.database,
                  "SELECT step FROM " + std::string(table_of(series.kind)) +
                      " WHERE series = ? AND step BETWEEN ? AND ? ORDER BY step DESC LIMIT 1");
    row.bind(1, series.id).bind(2, range.first).bind(3, range.last);
    if (row.step()) last = row.integer(0);
  }
  const Values& values = view.tail->values_of(series.id);
  const auto behind = values.upper_bound(range.last);
  if (behind != values.begin()) {
    const int64_t step = std::prev(behind)->first;
    if (step >= range.first) last = last ? std::max(*last, step) : step;
  }
  return last;
}

// Returns the steps of the points at ascending `places`, counted from 0.
std::vector<int64_t> steps_at(const View& view,
                              const SeriesInfo& series,
                              const std::vector<NumberStretch>& pieces,
                              const std::vector<int64_t>& places) {
  std::optional<Statement> inside;
  std::vector<int64_t> steps;
  int64_t before = 0;
  size_t piece = 0;
  for (const int64_t place : places) {
    while (before + pieces[piece].count <= place) before += pieces[piece++].count;
    if (pieces[piece].count == 1) {
      steps.push_back(pieces[piece].first_step);
      continue;
    }
    if (!inside) {
      inside.emplace(*view.database,
                     "SELECT step FROM " + std::string(table_of(series.kind)) +
                         " WHERE series = ? AND step >= ? ORDER BY step LIMIT 1 OFFSET ?");
    }
    inside->bind(1, series.id).bind(2, pieces[piece].first_step).bind(3, place - before);
    if (inside->step()) steps.push_back(inside->integer(0));
    inside->reset();
  }
  return steps;
}

std::vector<int64_t> frame_steps(const View& view,
                                 const SeriesInfo& series,
                                 const StepRange& range,
                                 int64_t at_most) {
  if (at_most == 1) {
    const std::optional<int64_t> last = last_step(view, series, range);
    return last ? std::vector<int64_t>{*last} : std::vector<int64_t>{};
  }
  const std::vector<NumberStretch> pieces = read_pieces(view, series, range);
  const int64_t points = points_of(pieces), frames = std::min(points, at_most);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < frames; ++i) {
    places.push_back(frames == 1 ? 0 : i * (points - 1) / (frames - 1));
  }
  return steps_at(view, series, pieces, places);
}

}  // namespace

std::vector<NumberStretch> read_stretches(const View& view,
                                          const SeriesInfo& series,
                                          const StepRange& range,
                                          int64_t at_most) {
  std::vector<NumberStretch> pieces = read_pieces(view, series, range);
  const int64_t points = points_of(pieces);
  // Rows are too coarse if a stretch of the answer has fewer points than a row.
  if (points / kStretchPoints < at_most && points > static_cast<int64_t>(pieces.size())) {
    pieces.clear();
    read_points(view, series, range, pieces);
  }
  return reduce(pieces, at_most);
}

std::vector<std::pair<int64_t, Reading>> read_frames(const View& view,
                                                     const SeriesInfo& series,
                                                     const StepRange& range,
                                                     int64_t at_most,
                                                     NumberBudget& budget) {
  std::vector<std::pair<int64_t, Reading>> frames;
  const auto add = [&](const SeriesCursor& cursor) {
    frames.emplace_back(cursor.step(), budget.take(cursor.reading(budget.left())));
  };
  if (series.count <= at_most) {
    SeriesCursor cursor(view, series, range);
    while (static_cast<int64_t>(frames.size()) < at_most && cursor.next()) add(cursor);
    return frames;
  }
  for (const int64_t step : frame_steps(view, series, range, at_most)) {
    SeriesCursor cursor(view, series, {step, step});
    if (cursor.next()) add(cursor);
  }
  return frames;
}

}  // namespace flightdeck::record
