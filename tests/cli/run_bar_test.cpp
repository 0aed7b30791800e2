// SPDX-License-Identifier: MIT
#include "cli/reports/run_bar.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cli/reports/run_words.h"
#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

RunBar some_bar() {
  RunBar bar;
  bar.title = "mnist_mlp SYNTHETIC";
  bar.done = 7;
  bar.of = 1200;
  bar.loss = 0.5;
  bar.accuracy = 0.05;
  bar.steps_per_second = 80;
  bar.seconds_left = 12;
  return bar;
}

TEST(RunBar, StandsStillWhateverItsNumbersAre) {
  RunBar other = some_bar();
  other.done = 1199;
  other.loss = -1.2345e-05;
  other.accuracy = 1;
  other.steps_per_second = 12345.678;
  other.seconds_left = 3599;
  for (const size_t columns : {39, 79, 119, 199}) {
    const std::string a = bar_text(some_bar(), columns, false), b = bar_text(other, columns, false);
    EXPECT_EQ(a.find('['), b.find('[')) << columns;
    EXPECT_EQ(a.find(']'), b.find(']')) << columns;
    EXPECT_EQ(a.find("/1200"), b.find("/1200")) << columns;
    EXPECT_EQ(a.find(" left"), b.find(" left")) << columns;
  }
}

TEST(RunBar, KeepsStepsAndTimeLeftAtAnyWidth) {
  for (size_t columns = 30; columns <= 200; ++columns) {
    const std::string text = bar_text(some_bar(), columns, true);
    EXPECT_LE(display_width(text), columns);
    EXPECT_NE(text.find("7/1200"), std::string::npos) << columns;
    EXPECT_NE(text.find("12 s left"), std::string::npos) << columns;
  }
  EXPECT_LE(display_width(bar_text(some_bar(), 5, true)), 5u);
}

TEST(RunBar, LeavesOutAnAccuracyThatIsNone) {
  RunBar bar = some_bar();
  bar.accuracy = std::nan("");
  EXPECT_EQ(bar_text(bar, 199, false).find("accuracy"), std::string::npos);
}

TEST(RunWords, ExplainLogarithmicSteps) {
  EXPECT_EQ(due_words("economy: loss; log 0 4 300"),
            "log 0 4 300: at most 300 steps, evenly spaced in the exponent from step 10^0 to 10^4, "
            "and step 0");
  EXPECT_EQ(due_words("economy: loss; every 10"), "");
}

TEST(RunWords, ExplainTheLearningRate) {
  EXPECT_EQ(schedule_words("constant"), "constant");
  EXPECT_NE(schedule_words("cosine:0.1@epoch").find("over the run"), std::string::npos);
  EXPECT_EQ(schedule_words("of my own"), "of my own");
}

}  // namespace
}  // namespace flightdeck::cli
