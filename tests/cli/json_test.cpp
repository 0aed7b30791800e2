// SPDX-License-Identifier: MIT
#include "cli/text/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

TEST(Json, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(json_string("a\"b\\c\nd\x1b"), "\"a\\\"b\\\\c\\nd\\u001b\"");
}

TEST(Json, WritesNullForNumbersItDoesNotHave) {
  EXPECT_EQ(json_number(std::nan("")), "null");
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json_number(0.5), "0.5");
}

TEST(JsonObject, KeepsTheOrderOfItsFields) {
  EXPECT_EQ(JsonObject().field("b", 1).field("a", "x").field("c", true).text(),
            "{\"b\": 1, \"a\": \"x\", \"c\": true}");
}

}  // namespace
}  // namespace flightdeck::cli
