// SPDX-License-Identifier: MIT
#include "cli/reports/tune_progress.h"

#include <gtest/gtest.h>

#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

study::Progress busy() {
  study::Progress progress;
  progress.ended = 1234;
  progress.running = 16;
  progress.planned = 2345;
  progress.most = 34567;
  progress.failed = 12;
  progress.elsewhere = 8;
  progress.seconds_left = 3 * 3600.0 + 25 * 60;
  return progress;
}

TEST(TuneProgress, SaysAllWhereThereIsRoom) {
  const std::string text = text_of(busy(), std::string::npos);
  for (const char* words : {"1234 of 2345 runs done",
                            "16 running",
                            "1083 left",
                            "8 held by other processes",
                            "12 failed",
                            "up to 32222 more to plan",
                            "at most 3 h 25 min left"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in: " << text;
  }
}

TEST(TuneProgress, KeepsTheTimeLeftInFewColumns) {
  for (const size_t columns : {120u, 100u, 80u, 69u, 55u}) {
    const std::string text = text_of(busy(), columns);
    EXPECT_LE(display_width(text), columns) << text;
    EXPECT_NE(text.find("1234 of 2345 runs done"), std::string::npos) << text;
    EXPECT_NE(text.find("at most 3 h 25 min left"), std::string::npos) << text;
  }
  EXPECT_NE(text_of(busy(), 69).find("12 failed"), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::cli
