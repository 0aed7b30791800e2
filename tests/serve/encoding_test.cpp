// SPDX-License-Identifier: MIT
#include "serve/encoding.h"

#include <gtest/gtest.h>

#include "tests/serve/decoding.h"

namespace flightdeck::tests {
namespace {

using serve::base64;
using serve::gzip;
using serve::html_text;

TEST(Base64, GivesTheExamplesOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, KeepsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (size_t length = 250; length <= 256; ++length) {
    EXPECT_EQ(decode_base64(base64(bytes.substr(0, length))), bytes.substr(0, length));
  }
}

TEST(Gzip, IsUndoneByZlib) {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(100'000, 'y')}) {
    EXPECT_EQ(gunzip(gzip(bytes)), bytes);
  }
  EXPECT_LT(gzip(std::string(100'000, 'y')).size(), 500u);
}

TEST(HtmlText, CannotLeaveItsPlace) {
  EXPECT_EQ(html_text("</title><script>\"'&"), "&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;");
}

}  // namespace
}  // namespace flightdeck::tests
