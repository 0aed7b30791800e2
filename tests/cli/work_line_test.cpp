// SPDX-License-Identifier: MIT
#include "cli/text/work_line.h"

#include <gtest/gtest.h>

#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

TEST(WorkLine, FitsAnyWidthAndKeepsTheTimeLeft) {
  for (const size_t columns : {39, 79, 199}) {
    const std::string text =
        work_text("coverage", 2, 4, 65, "Hessian diagonal and trace", columns, true);
    EXPECT_LE(display_width(text), columns);
    EXPECT_NE(text.find("1 min 05 s left"), std::string::npos) << text;
    EXPECT_NE(text.find("2/4"), std::string::npos) << text;
  }
}

TEST(WorkLine, StandsStillWhileItsWordsChange) {
  const std::string a = work_text("analyze", 1, 12, 5, "reading a", 79, false);
  const std::string b = work_text("analyze", 11, 12, 0.5, "comparing 1000 runs", 79, false);
  EXPECT_EQ(a.find(']'), b.find(']'));
  EXPECT_EQ(a.find("reading"), b.find("comparing"));
}

TEST(WorkLine, HasNoBarWithoutAnEnd) {
  EXPECT_EQ(work_text("coverage", 0, 0, -1, "building vgg16", 79, false),
            "coverage  building vgg16");
}

}  // namespace
}  // namespace flightdeck::cli
