// SPDX-License-Identifier: MIT
#include "cli/text/terminal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

TEST(Sparkline, RisesFromTheLowestValueToTheHighest) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 20, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 20, false), "_.:-=+*#");
}

TEST(Sparkline, AveragesNeighboursWhereColumnsAreFew) {
  EXPECT_EQ(sparkline({0, 0, 0, 7, 7, 7}, 2, false), "_#");
  EXPECT_EQ(display_width(sparkline(std::vector<double>(1000, 1.0), 24, true)), 24u);
}

TEST(Sparkline, MarksValuesThatAreNotFinite) {
  EXPECT_EQ(sparkline({0, std::nan(""), 7, INFINITY}, 20, false), "_x#x");
  EXPECT_EQ(sparkline({}, 20, false), "");
}

TEST(Sparkline, IsFlatWhereValuesDifferByRounding) {
  EXPECT_EQ(sparkline({53.13, 53.1301, 53.13}, 20, false), "===");
}

TEST(BarLine, LeavesOnlyEmptyBinsBlank) {
  EXPECT_EQ(bar_line({0, 1, 1000000, 0}, 4, false), " _# ");
}

TEST(Wrapped, BreaksBetweenWordsAndIndents) {
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("averyverylongword", 5, 2), "averyverylongword");
}

TEST(Padding, CountsCharactersNotBytes) {
  EXPECT_EQ(pad_right("▁▂", 4), "▁▂  ");
  EXPECT_EQ(pad_left("▁▂", 4), "  ▁▂");
}

}  // namespace
}  // namespace flightdeck::cli
