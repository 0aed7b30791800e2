// SPDX-License-Identifier: MIT
#include "flightdeck/due_steps.h"

#include <gtest/gtest.h>

#include "errors.h"

namespace flightdeck::tests {
namespace {

std::vector<int64_t> steps_up_to(const DueSteps& due, int64_t last) {
  std::vector<int64_t> steps;
  for (int64_t step = 0; step <= last; ++step) {
    if (due.contains(step)) steps.push_back(step);
  }
  return steps;
}

using Steps = std::vector<int64_t>;

TEST(DueSteps, ContainsEveryStepByDefault) { EXPECT_EQ(steps_up_to({}, 3), Steps({0, 1, 2, 3})); }

TEST(DueSteps, RepeatsFromItsOffset) {
  EXPECT_EQ(steps_up_to(DueSteps::every(4), 9), Steps({0, 4, 8}));
  EXPECT_EQ(steps_up_to(DueSteps::every(4, 3), 12), Steps({3, 7, 11}));
}

TEST(DueSteps, ContainsAllOfAStartAndThenMultiples) {
  EXPECT_EQ(steps_up_to(DueSteps::every_after(4, 3), 12), Steps({0, 1, 2, 4, 8, 12}));
  EXPECT_EQ(steps_up_to(DueSteps::every_after(4, 6), 13), Steps({0, 1, 2, 3, 4, 5, 8, 12}));
}

TEST(DueSteps, SpacesLogarithmicStepsAsTheReferenceDoes) {
  EXPECT_EQ(steps_up_to(DueSteps::logarithmic(0, 2, 10), 200),
            Steps({0, 1, 2, 4, 7, 12, 21, 35, 59, 100}));
  EXPECT_EQ(steps_up_to(DueSteps::logarithmic(0, 3), 1000).size(), 180u);
  EXPECT_EQ(steps_up_to(DueSteps::logarithmic(0, 2, 3, 10, /*first=*/false), 200),
            Steps({1, 10, 100}));
}

TEST(DueSteps, TakesListsAndPredicates) {
  EXPECT_EQ(steps_up_to(DueSteps::at({5, 1, 5}), 9), Steps({1, 5}));
  EXPECT_EQ(steps_up_to(DueSteps::when([](int64_t step) { return step * step == 9; }), 9),
            Steps({3}));
}

TEST(DueSteps, ReadsWhatItsTextSays) {
  for (const DueSteps& due : {DueSteps::every(16),
                              DueSteps::every(16, 3),
                              DueSteps::every_after(16, 20),
                              DueSteps::logarithmic(0, 2, 10),
                              DueSteps::at({0, 5, 9})}) {
    const DueSteps again = DueSteps::parse(due.text());
    EXPECT_EQ(again.text(), due.text());
    EXPECT_EQ(steps_up_to(again, 200), steps_up_to(due, 200)) << due.text();
  }
  EXPECT_EQ(DueSteps::parse("log 0 3").text(), "log 0 3 300");
  EXPECT_EQ(DueSteps::parse("log 0.1 0.84509804 7").text(), "log 0.1 0.84509804 7");
}

TEST(DueSteps, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "sometimes",
                           "every",
                           "every x",
                           "every 4 to 5",
                           "every 4 5",
                           "every 4 after",
                           "every 4 after 50",
                           "every 4 after the 50",
                           "every 4 after the first",
                           "every 4 after the first x",
                           "every 4 after the first 50 60",
                           "log 1",
                           "at 99999999999999999999",
                           "log 0 3 10 4",
                           "at 1,x"}) {
    expect_error([&] { DueSteps::parse(text); }, {"names no steps", "every 16"});
  }
  expect_error([] { DueSteps::every(0); }, {"interval is 0", "at least 1"});
  expect_error([] { DueSteps::every(2, -1); }, {"offset is -1"});
  expect_error([] { DueSteps::every_after(0, 2); }, {"interval is 0", "at least 1"});
  expect_error([] { DueSteps::parse("every 4 after the first 0"); }, {"first 0", "at least 1"});
  expect_error([] { DueSteps::logarithmic(0, 400); }, {"10^400"});
  expect_error([] { DueSteps::parse("log 0 4 3005847700"); }, {"3005847700", "1 to 1000000"});
  expect_error([] { DueSteps::when(nullptr); }, {"predicate is empty"});
}

TEST(DueSteps, RefusesALogarithmThatFallsAndAnEmptyList) {
  expect_error([] { DueSteps::parse("log 4 0"); }, {"10^4", "10^0", "smaller exponent first"});
  EXPECT_TRUE(DueSteps::parse("log 2 2").contains(100));
  expect_error([] { DueSteps::parse("at"); }, {"'at' names no steps"});
}

}  // namespace
}  // namespace flightdeck::tests
