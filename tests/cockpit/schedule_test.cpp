// SPDX-License-Identifier: MIT
#include "flightdeck/schedule.h"

#include <gtest/gtest.h>

#include "errors.h"

namespace flightdeck::tests {
namespace {

std::vector<int64_t> steps_up_to(const Schedule& schedule, int64_t last) {
  std::vector<int64_t> steps;
  for (int64_t step = 0; step <= last; ++step) {
    if (schedule.contains(step)) steps.push_back(step);
  }
  return steps;
}

using Steps = std::vector<int64_t>;

TEST(Schedule, ContainsEveryStepByDefault) { EXPECT_EQ(steps_up_to({}, 3), Steps({0, 1, 2, 3})); }

TEST(Schedule, RepeatsFromItsOffset) {
  EXPECT_EQ(steps_up_to(Schedule::every(4), 9), Steps({0, 4, 8}));
  EXPECT_EQ(steps_up_to(Schedule::every(4, 3), 12), Steps({3, 7, 11}));
}

TEST(Schedule, SpacesLogarithmicStepsAsTheReferenceDoes) {
  EXPECT_EQ(steps_up_to(Schedule::logarithmic(0, 2, 10), 200),
            Steps({0, 1, 2, 4, 7, 12, 21, 35, 59, 100}));
  EXPECT_EQ(steps_up_to(Schedule::logarithmic(0, 3), 1000).size(), 180u);
  EXPECT_EQ(steps_up_to(Schedule::logarithmic(0, 2, 3, 10, /*first=*/false), 200),
            Steps({1, 10, 100}));
}

TEST(Schedule, TakesListsAndPredicates) {
  EXPECT_EQ(steps_up_to(Schedule::at({5, 1, 5}), 9), Steps({1, 5}));
  EXPECT_EQ(steps_up_to(Schedule::when([](int64_t step) { return step * step == 9; }), 9),
            Steps({3}));
}

TEST(Schedule, ReadsWhatItsTextSays) {
  for (const Schedule& schedule : {Schedule::every(16),
                                   Schedule::every(16, 3),
                                   Schedule::logarithmic(0, 2, 10),
                                   Schedule::at({0, 5, 9})}) {
    const Schedule again = Schedule::parse(schedule.text());
    EXPECT_EQ(again.text(), schedule.text());
    EXPECT_EQ(steps_up_to(again, 200), steps_up_to(schedule, 200)) << schedule.text();
  }
  EXPECT_EQ(Schedule::parse("log 0 3").text(), "log 0 3 300");
  EXPECT_EQ(Schedule::parse("log 0.1 0.84509804 7").text(), "log 0.1 0.84509804 7");
}

TEST(Schedule, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "sometimes",
                           "every",
                           "every x",
                           "every 4 to 5",
                           "every 4 5",
                           "log 1",
                           "at 99999999999999999999",
                           "log 0 3 10 4",
                           "at 1,x"}) {
    expect_error([&] { Schedule::parse(text); }, {"is not a schedule", "every 16"});
  }
  expect_error([] { Schedule::every(0); }, {"interval is 0", "at least 1"});
  expect_error([] { Schedule::every(2, -1); }, {"offset is -1"});
  expect_error([] { Schedule::logarithmic(0, 400); }, {"10^400"});
  expect_error([] { Schedule::parse("log 0 4 3005847700"); }, {"3005847700", "1 to 1000000"});
  expect_error([] { Schedule::when(nullptr); }, {"predicate is empty"});
}

TEST(Schedule, RefusesALogarithmThatFallsAndAnEmptyList) {
  expect_error([] { Schedule::parse("log 4 0"); }, {"10^4", "10^0", "smaller exponent first"});
  EXPECT_TRUE(Schedule::parse("log 2 2").contains(100));
  expect_error([] { Schedule::parse("at"); }, {"'at' is not a schedule"});
}

}  // namespace
}  // namespace flightdeck::tests
