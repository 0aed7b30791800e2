// SPDX-License-Identifier: MIT
#include "base/exact_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"

namespace flightdeck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ExactText, IsShort) {
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(exact_text(3), "3");
  EXPECT_EQ(exact_text(-0.0), "-0");
  EXPECT_EQ(exact_text(0), "0");
  EXPECT_EQ(exact_text(1e-4), "0.0001");
  EXPECT_EQ(exact_text(-1.5e-5), "-1.5e-05");
  EXPECT_EQ(exact_text(100000), "100000");
  EXPECT_EQ(exact_text(1e6), "1e+06");
  EXPECT_EQ(exact_text(1234567.5), "1234567.5");
  EXPECT_EQ(exact_text(1e-300), "1e-300");
  EXPECT_EQ(exact_text(1.0 / 3), "0.3333333333333333");
}

TEST(ExactText, ReadsBackAsTheSameNumber) {
  Generator generator = generator_of(1, "texts");
  for (int i = 0; i < 10000; ++i) {
    const double scale = std::pow(10.0, 600 * uniform(generator) - 300);
    const double value = (uniform(generator) - 0.5) * scale;
    EXPECT_EQ(std::strtod(exact_text(value).c_str(), nullptr), value);
  }
  for (const double value : {std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::max(),
                             kInfinity,
                             -kInfinity}) {
    EXPECT_EQ(std::strtod(exact_text(value).c_str(), nullptr), value);
  }
}

TEST(ExactText, IsThatOfPrintfWithTheFewestDigits) {
  Generator generator = generator_of(2, "texts");
  for (int i = 0; i < 10000; ++i) {
    const double scale = std::pow(10.0, std::floor(40 * uniform(generator)) - 20);
    // Some with few digits, most with many.
    const double value = i % 4 == 0 ? rounded(uniform(generator), 1 + i % 7) * scale
                                    : (uniform(generator) - 0.5) * scale;
    char printed[40];
    for (int digits = 6; digits <= 17; ++digits) {
      std::snprintf(printed, sizeof printed, "%.*g", digits, value);
      if (std::strtod(printed, nullptr) == value) break;
    }
    EXPECT_EQ(exact_text(value), printed);
  }
}

TEST(ExactText, NamesWhatIsNoNumber) {
  EXPECT_EQ(exact_text(std::nan("")), "NaN");
  EXPECT_EQ(exact_text(kInfinity), "Infinity");
  EXPECT_EQ(exact_text(-kInfinity), "-Infinity");
}

TEST(Rounded, KeepsThatManyDigits) {
  EXPECT_EQ(rounded(1.0 / 3, 6), 0.333333);
  EXPECT_EQ(rounded(123456789, 3), 123000000);
  EXPECT_EQ(rounded(0, 6), 0);
  EXPECT_EQ(rounded(-kInfinity, 6), -kInfinity);
}

}  // namespace
}  // namespace flightdeck
