// SPDX-License-Identifier: MIT
// Cockpits over processes that meet by Gloo.
#include <csignal>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

extern char** environ;

namespace flightdeck::tests {
namespace {

// The exit statuses of all ranks, or -9 for one that signal 9 has ended.
std::vector<int> run_processes(int size, const std::string& what, const std::string& folder = "") {
  const std::string store =
      ::testing::TempDir() + "ranks-" + std::to_string(getpid()) + what + std::to_string(size);
  std::vector<pid_t> processes(size);
  for (int rank = 0; rank < size; ++rank) {
    std::vector<std::string> words = {
#include FLIGHTDECK_RANKS_COMMAND
    };
    words.insert(words.end(), {store, std::to_string(rank), std::to_string(size), what});
    if (!folder.empty()) words.push_back(folder);
    std::vector<char*> given;
    for (std::string& word : words) given.push_back(word.data());
    given.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&processes[rank], given[0], nullptr, nullptr, given.data(), environ), 0);
  }
  std::vector<int> statuses;
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  unlink(store.c_str());
  return statuses;
}

TEST(RanksOverGloo, SeeWhatOneProcessWithAllSamplesSees) {
  EXPECT_EQ(run_processes(2, "all"), std::vector<int>({0, 0}));
  EXPECT_EQ(run_processes(4, "all"), std::vector<int>({0, 0, 0, 0}));
}

TEST(RanksOverGloo, SwitchOffEverywhereWhatFailsOnOne) {
  EXPECT_EQ(run_processes(2, "fails"), std::vector<int>({0, 0}));
  EXPECT_EQ(run_processes(4, "fails"), std::vector<int>({0, 0, 0, 0}));
}

TEST(RanksOverGloo, GoOnWithoutTheirCockpitWhenOneIsGone) {
  EXPECT_EQ(run_processes(2, "gone"), std::vector<int>({0, 0}));
}

TEST(RanksOverGloo, GoOnWithoutTheirCockpitWhenOneIsKilled) {
  EXPECT_EQ(run_processes(2, "killed"), std::vector<int>({0, -SIGKILL}));
  EXPECT_EQ(run_processes(4, "killed"), std::vector<int>({0, 0, 0, -SIGKILL}));
}

// A rank is killed in the third product; three ranks finish what two have begun.
TEST(RanksOverGloo, GoOnWithADataSetWhereOneWasKilled) {
  const std::string folder = ::testing::TempDir() + "ranks-products-" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(run_processes(2, "data_set_killed", folder), std::vector<int>({0, -SIGKILL}));
  EXPECT_EQ(run_processes(3, "data_set", folder), std::vector<int>({0, 0, 0}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace flightdeck::tests
