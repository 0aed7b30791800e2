// SPDX-License-Identifier: MIT
#include "cli/command.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

class Commands : public testing::TestWithParam<const std::vector<Command>*> {};

TEST_P(Commands, HaveWordsOfTheirOwnAndASentenceEach) {
  std::set<std::string> words;
  for (const Command& command : *GetParam()) {
    EXPECT_TRUE(words.insert(command.word).second) << command.word;
    ASSERT_FALSE(command.summary.empty()) << command.word;
    EXPECT_EQ(command.summary.back(), '.') << command.word;
  }
}

TEST_P(Commands, StandInTheOrderOfTheirPlaces) {
  EXPECT_TRUE(std::is_sorted(GetParam()->begin(),
                             GetParam()->end(),
                             [](const Command& a, const Command& b) { return a.place < b.place; }));
}

TEST_P(Commands, AddThemselvesToAParent) {
  CLI::App parent;
  add_commands(parent, *GetParam());
  EXPECT_EQ(parent.get_subcommands({}).size(), GetParam()->size());
}

INSTANTIATE_TEST_SUITE_P(All, Commands, testing::Values(&all_commands(), &all_bench_commands()));

}  // namespace
}  // namespace flightdeck::cli
