// SPDX-License-Identifier: MIT
#include "base/clock.h"

#include <cmath>
#include <ctime>

#include <gtest/gtest.h>

namespace flightdeck {
namespace {

TEST(Clock, AgreesWithTheSystem) {
  EXPECT_NEAR(seconds_since_1970(), static_cast<double>(std::time(nullptr)), 2);
}

TEST(Clock, WritesLocalTimes) {
  std::tm parts{};
  parts.tm_year = 126;
  parts.tm_mday = 31;
  parts.tm_hour = 18;
  parts.tm_min = 4;
  parts.tm_sec = 9;
  parts.tm_isdst = -1;
  const auto seconds = static_cast<double>(std::mktime(&parts));
  EXPECT_EQ(date_and_time(seconds), "2026-01-31 18:04:09");
  EXPECT_EQ(compact_date_and_time(seconds), "20260131-180409");
}

TEST(Clock, DoesNotWriteTimesThatNoCalendarHas) {
  EXPECT_EQ(date_and_time(1e300), "?");
  EXPECT_EQ(date_and_time(std::nan("")), "?");
}

}  // namespace
}  // namespace flightdeck
