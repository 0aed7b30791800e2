// SPDX-License-Identifier: MIT
#include "record/json_writer.h"

#include <cmath>

#include <gtest/gtest.h>

namespace flightdeck::record {
namespace {

TEST(JsonString, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(json_string("\x1b\x7f\xc2\x9b\"\\\n"), "\"\\u001b\\u007f\\u009b\\\"\\\\\\n\"");
  EXPECT_EQ(json_string("plain \x07"), "\"plain \\u0007\"");
}

TEST(JsonString, IsValidWhateverTheBytesAre) {
  EXPECT_EQ(json_string("é\xff"), "\"é\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("\xc2"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("\xc2\xa0"), "\"\xc2\xa0\"");
  EXPECT_EQ(json_string(""), "\"\"");
}

TEST(JsonString, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json_string("a\xff"
                        "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(json_string("\xc3"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("\xed\xa0\x80").find("\xed\xa0"), std::string::npos);
  EXPECT_EQ(json_string("∂😀\t"), "\"∂😀\\u0009\"");
}

TEST(JsonWriter, WritesFieldsInTheirOrder) {
  JsonWriter out;
  out.begin_object();
  out.field("b", int64_t{-3});
  out.field("a", std::string("x"));
  out.field("truth", true);
  out.field("numbers", std::vector<double>{0.1, 1e-5, NAN, -INFINITY});
  out.field("none", std::vector<int64_t>{});
  out.field("texts", std::map<std::string, std::string>{{"k", "v"}});
  out.end_object();
  EXPECT_EQ(out.take(),
            R"({"b":-3,"a":"x","truth":true,"numbers":[0.1,1e-05,"NaN","-Infinity"],"none":[],)"
            R"("texts":{"k":"v"}})");
}

}  // namespace
}  // namespace flightdeck::record
