// SPDX-License-Identifier: MIT
#include "cli/text/work_line.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>
#include <utility>

#include "cli/text/numbers.h"
#include "cli/text/quiet.h"
#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

constexpr double kPauseSeconds = 0.1;
constexpr size_t kTimeColumns = 18;  // "59 min 59 s left" and two blanks

}  // namespace

std::string work_text(const std::string& title,
                      int64_t done,
                      int64_t of,
                      double seconds_left,
                      const std::string& what,
                      size_t columns,
                      bool utf8) {
  std::string text = title;
  if (of > 0) {
    const std::string total = std::to_string(of);
    const std::string count = pad_left(std::to_string(done), total.size()) + "/" + total;
    const std::string time =
        pad_right(seconds_left < 0 ? "" : duration(seconds_left) + " left", kTimeColumns);
    const size_t taken = display_width(title) + count.size() + time.size() + 5;
    const size_t bar = std::min<size_t>(24, columns > taken ? columns - taken : 0);
    if (bar >= 4) {
      text += " " + progress_bar(double(done) / double(of), bar, utf8);
    }
    text += " " + count + "  " + time;
  } else {
    text += "  ";
  }
  text += what;
  if (display_width(text) > columns) {
    // The text is cut between characters, not inside of one.
    size_t bytes = text.size();
    while (bytes > 0 && display_width(text.substr(0, bytes)) > columns) --bytes;
    text.resize(bytes);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

WorkLine::WorkLine(std::string title)
    : title_(std::move(title)),
      is_wanted_(isatty(STDERR_FILENO) != 0 && !is_quiet()),
      begin_(Clock::now()),
      last_shown_(begin_) {}

void WorkLine::show(int64_t done, int64_t of, const std::string& what) {
  if (!is_wanted_) return;
  const Clock::time_point now = Clock::now();
  const double pause = std::chrono::duration<double>(now - last_shown_).count();
  if (is_shown_ && what == last_what_ && pause < kPauseSeconds) return;
  last_shown_ = now;
  last_what_ = what;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double left = done == 0 ? -1 : seconds / double(done) * double(of - done);
  const auto columns = static_cast<size_t>(std::max(2, terminal_width(STDERR_FILENO, 80))) - 1;
  std::cerr << "\r\033[K" << work_text(title_, done, of, left, what, columns, is_utf8())
            << std::flush;
  is_shown_ = true;
}

void WorkLine::clear() {
  if (is_shown_) std::cerr << "\r\033[K" << std::flush;
  is_shown_ = false;
}

}  // namespace flightdeck::cli
