// SPDX-License-Identifier: MIT
#include "cli/text/table.h"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

Table example() {
  Table table({"name", "step", "value"});
  table.add({"first", 100000, 0.1234567});
  table.add({"b", 7, -std::numeric_limits<double>::infinity()});
  return table;
}

TEST(Table, IsPaddedWithNumbersToTheRight) {
  EXPECT_EQ(padded_text(example()),
            "name     step   value\n"
            "first  100000  0.1235\n"
            "b           7    -inf\n");
}

TEST(Table, KeepsAllDigitsInFiles) {
  EXPECT_EQ(csv_text(example()), "name,step,value\nfirst,100000,0.1234567\nb,7,-inf\n");
}

TEST(Table, QuotesTextInFiles) {
  Table table({"a,b", "c"});
  table.add({"say \"so\"", "=1"});
  EXPECT_EQ(csv_text(table), "\"a,b\",c\n\"say \"\"so\"\"\",'=1\n");
}

TEST(Table, HasNullsInJsonWhereThereIsNoNumber) {
  EXPECT_EQ(json_of(example()).text(),
            R"([{"name":"first","step":100000,"value":0.1234567},)"
            R"({"name":"b","step":7,"value":null}])");
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table({"one", "two"});
  EXPECT_THROW(table.add({1}), std::logic_error);
}

}  // namespace
}  // namespace flightdeck::cli
