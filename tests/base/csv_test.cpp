// SPDX-License-Identifier: MIT
#include "base/csv.h"

#include <gtest/gtest.h>

namespace flightdeck {
namespace {

TEST(CsvFields, AreQuotedWhereTheyNeedIt) {
  EXPECT_EQ(csv_field("grad_norm@conv1.weight"), "grad_norm@conv1.weight");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"so\""), "\"say \"\"so\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(""), "");
}

TEST(CsvFields, AreNoFormulas) {
  EXPECT_EQ(csv_field("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("=1,\"2\""), "\"'=1,\"\"2\"\"\"");
  for (const char* text : {"+1", "-1", "@SUM(A1)", "\t=1", "\r=1"}) {
    EXPECT_NE(csv_field(text).find(std::string("'") + text), std::string::npos) << text;
  }
}

TEST(CsvLines, KeepEmptyFields) {
  EXPECT_EQ(csv_line({"1", "", "3", ""}), "1,,3,");
  EXPECT_EQ(csv_line({}), "");
}

}  // namespace
}  // namespace flightdeck
