// SPDX-License-Identifier: MIT
// Cockpits over processes that meet by Gloo.
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

extern char** environ;

namespace flightdeck::tests {
namespace {

// The exit statuses of all ranks.
std::vector<int> run_processes(int size, const std::string& what) {
  const std::string store =
      ::testing::TempDir() + "ranks-" + std::to_string(getpid()) + what + std::to_string(size);
  std::vector<pid_t> processes(size);
  for (int rank = 0; rank < size; ++rank) {
    std::vector<std::string> words = {
        FLIGHTDECK_RANKS_PROCESS, store, std::to_string(rank), std::to_string(size), what};
    std::vector<char*> given;
    for (std::string& word : words) given.push_back(word.data());
    given.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&processes[rank], given[0], nullptr, nullptr, given.data(), environ), 0);
  }
  std::vector<int> statuses;
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  unlink(store.c_str());
  return statuses;
}

TEST(RanksOverGloo, SeeWhatOneProcessWithAllSamplesSees) {
  EXPECT_EQ(run_processes(2, "all"), std::vector<int>({0, 0}));
  EXPECT_EQ(run_processes(4, "all"), std::vector<int>({0, 0, 0, 0}));
}

TEST(RanksOverGloo, GoOnWithoutTheirCockpitWhenOneIsGone) {
  EXPECT_EQ(run_processes(2, "gone"), std::vector<int>({0, 0}));
}

}  // namespace
}  // namespace flightdeck::tests
