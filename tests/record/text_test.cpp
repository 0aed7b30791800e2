// SPDX-License-Identifier: MIT
// Text of files is shown, never obeyed: by terminals, by spreadsheets, by readers of JSON.
#include "record/text.h"

#include <gtest/gtest.h>

#include "base/csv_field.h"

namespace flightdeck::record {
namespace {

TEST(PrintableText, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31mb"),
            "a\\x9b31mb");
  EXPECT_EQ(printable("a\rb\tc\x7f"), "a\\x0db\\x09c\\x7f");
  EXPECT_EQ(printable("abc\xe2\x80\xae"
                      "cba"),
            "abc\\u202ecba");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(PrintableText, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("Größe ▁█ 漢字 𝜃"), "Größe ▁█ 漢字 𝜃");
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable("a\nb", Lines::kKept), "a\nb");
}

TEST(JsonText, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(json_string("\x1b\x7f\xc2\x9b\"\\\n"), "\"\\u001b\\u007f\\u009b\\\"\\\\\\n\"");
  EXPECT_EQ(json_string("é\xff"), "\"é\xef\xbf\xbd\"");
}

TEST(CsvFields, AreNoFormulas) {
  EXPECT_EQ(csv_field("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("=1,\"2\""), "\"'=1,\"\"2\"\"\"");
  for (const char* text : {"+1", "-1", "@SUM(A1)", "\t=1", "\r=1"}) {
    EXPECT_NE(csv_field(text).find(std::string("'") + text), std::string::npos) << text;
  }
  EXPECT_EQ(csv_field("grad_norm@conv1.weight"), "grad_norm@conv1.weight");
  EXPECT_EQ(csv_field(""), "");
}

}  // namespace
}  // namespace flightdeck::record
