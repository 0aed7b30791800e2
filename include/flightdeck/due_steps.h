// SPDX-License-Identifier: MIT
// At which steps a quantity is computed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace flightdeck {

class DueSteps {
 public:
  /// Every step.
  DueSteps() : DueSteps(every(1)) {}

  /// offset, offset + interval, offset + 2 interval, ...
  static DueSteps every(int64_t interval, int64_t offset = 0);
  /// The steps 0 to first - 1, then every multiple of the interval: close at the start, where most
  /// changes and statistics gather, and cheap later.
  static DueSteps every_after(int64_t interval, int64_t first);
  /// The integer parts of `points` numbers spaced evenly in the exponent from base^start to
  /// base^end, and step 0 if `first`.
  static DueSteps logarithmic(
      double start, double end, int64_t points = 300, double base = 10, bool first = true);
  static DueSteps at(std::vector<int64_t> steps);
  static DueSteps when(std::function<bool(int64_t step)> predicate, std::string text = "predicate");
  /// "every 16", "every 16 from 3", "every 16 after the first 50", "log 0 4" (start and end
  /// exponent), "log 0 4 300", "at 0,5,9"; throws on anything else.
  static DueSteps parse(const std::string& text);

  bool contains(int64_t step) const { return contains_(step); }
  /// For people; what `parse` reads, except for predicates.
  const std::string& text() const { return text_; }

 private:
  DueSteps(std::function<bool(int64_t)> contains, std::string text)
      : contains_(std::move(contains)), text_(std::move(text)) {}

  std::function<bool(int64_t)> contains_;
  std::string text_;
};

}  // namespace flightdeck
