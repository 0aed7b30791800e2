// SPDX-License-Identifier: MIT
// One line on the terminal that says how far a command is and how long it still takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace flightdeck::cli {

// Writes "coverage [####----] 2/5  GGN-vector products  3.0 s left" in at most `columns` columns.
// The bar and what follows it stand still: only the words of `what` differ in length, and they come
// last. Without an end, `of` 0, there is no bar. A negative time is not known yet.
std::string work_text(const std::string& title,
                      int64_t done,
                      int64_t of,
                      double seconds_left,
                      const std::string& what,
                      size_t columns,
                      bool utf8);

// Writes to the standard error, if that is a terminal and the tool is not quiet; nothing else is
// printed while it is shown.
class WorkLine {
 public:
  explicit WorkLine(std::string title);
  ~WorkLine() { clear(); }
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  // Shows that `done` of `of` pieces are done and `what` is at work now. It may be called often: it
  // writes ten times a second at most.
  void show(int64_t done, int64_t of, const std::string& what);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  bool is_wanted_, is_shown_ = false;
  std::string last_what_;
  Clock::time_point begin_, last_shown_;
};

}  // namespace flightdeck::cli
