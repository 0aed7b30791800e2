// SPDX-License-Identifier: MIT
// Text of files is shown, never obeyed.
#include "record/text.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace flightdeck::record
