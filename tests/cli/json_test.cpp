// SPDX-License-Identifier: MIT
#include "cli/text/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

TEST(Json, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Json("a\"b\\c\nd\x1b").text(), R"("a\"b\\c\nd\u001b")");
  EXPECT_EQ(Json("\x7f\xc2\x9b\xc2\xa0é").text(), "\"\\u007f\\u009b\xc2\xa0é\"");
}

TEST(Json, IsValidWhateverTheBytesAre) {
  EXPECT_EQ(Json("a\xff"
                 "b")
                .text(),
            "\"a\xef\xbf\xbd"
            "b\"");
}

TEST(Json, KeepsAllDigits) {
  EXPECT_EQ(Json(0.1).text(), "0.1");
  EXPECT_EQ(Json(1.0 / 3).text(), "0.3333333333333333");
  EXPECT_EQ(Json(measured(1.0 / 3)).text(), "0.333333");
  EXPECT_EQ(Json(2.0).text(), "2");
  EXPECT_EQ(Json(size_t{3}).text(), "3");
}

TEST(Json, WritesNullForNumbersItDoesNotHave) {
  EXPECT_EQ(Json(std::nan("")).text(), "null");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(Json().text(), "null");
}

TEST(Json, KeepsTheOrderOfFields) {
  EXPECT_EQ(Json::object().field("b", 1).field("a", "x").field("c", true).text(),
            R"({"b":1,"a":"x","c":true})");
}

TEST(Json, TakesListsAndMapsAndItself) {
  const std::vector<std::string> names = {"x", "y"};
  const std::map<std::string, double> values = {{"rate", 0.5}};
  Json rows = Json::array();
  rows.add(Json::object().field("names", names)).add(values).add(std::vector<double>{});
  EXPECT_EQ(rows.text(), R"([{"names":["x","y"]},{"rate":0.5},[]])");
  EXPECT_EQ(Json::array().text(), "[]");
  EXPECT_EQ(Json::object().text(), "{}");
}

}  // namespace
}  // namespace flightdeck::cli
