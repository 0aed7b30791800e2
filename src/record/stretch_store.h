// SPDX-License-Identifier: MIT
// Keeps table stretches in step with the values, within the store's transactions
// (docs/decisions/0017-stretches-beside-the-numbers.md).
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "record/sqlite.h"
#include "record/stretch.h"

namespace flightdeck::record {

// Holds what is known of one series between its rows and its last value. Rows share out all steps
// up to `stored_to`: a step between two of them belongs to the one before.
struct OpenStretch {
  int64_t series = 0;
  ReadingKind kind = ReadingKind::kNumber;
  NumberStretch open;  // of the values behind `stored_to`
  bool is_stale = false;
  bool has_rows = false;
  int64_t stored_to = std::numeric_limits<int64_t>::min();  // last step of the last row
  std::set<int64_t> stale_rows;                             // by first step
};

class StretchStore {
 public:
  explicit StretchStore(const Database& database);

  // Returns the state of a series that the database has.
  OpenStretch load(int64_t series, ReadingKind kind);
  // Adds a value behind all others of its series.
  void append(OpenStretch& series, int64_t step, double value);
  // Notes that a value took another's place or came between others.
  void touch(OpenStretch& series, int64_t step);
  // Brings the rows in order again; call it before a commit.
  void settle(OpenStretch& series);

 private:
  using Points = std::vector<NumberStretch>;

  void close(OpenStretch& series, const NumberStretch& stretch);
  void put(int64_t series, const NumberStretch& stretch);
  void rebuild_row(const OpenStretch& series, int64_t first_step);
  void rebuild_open(OpenStretch& series);
  Points read(const OpenStretch& series, int64_t first, int64_t last);

  Statement put_, remove_, at_, first_, before_, behind_, last_;
  Statement points_[3];
};

}  // namespace flightdeck::record
