// SPDX-License-Identifier: MIT
#include "src/base/shell.h"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>

namespace flightdeck {
namespace {

// What a shell makes of the line, a word to each line of the answer.
std::string as_a_shell_reads(const std::string& line) {
  std::string answer;
  FILE* pipe = popen(("printf '%s\\n' " + line).c_str(), "r");
  std::array<char, 256> bytes;
  while (const size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    answer.append(bytes.data(), count);
  }
  pclose(pipe);
  return answer;
}

TEST(Shell, ReadsWordsBackAsTheyWere) {
  const std::vector<std::string> words = {"run",
                                          "--quantity",
                                          "sample_outliers@every 10",
                                          "it's",
                                          "",
                                          "$HOME",
                                          "a*b",
                                          "pattern:fc.*,conv",
                                          "~",
                                          "#x"};
  std::string expected;
  for (const std::string& word : words) expected += word + "\n";
  EXPECT_EQ(as_a_shell_reads(shell_line(words)), expected);
}

TEST(Shell, LeavesPlainWordsWithoutQuotes) {
  EXPECT_EQ(shell_line({"flightdeck", "run", "--set", "beta2=0.99", "--out", "runs/a-b_1.2"}),
            "flightdeck run --set beta2=0.99 --out runs/a-b_1.2");
}

}  // namespace
}  // namespace flightdeck
