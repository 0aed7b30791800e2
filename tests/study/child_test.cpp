// SPDX-License-Identifier: MIT
#include "study/child.h"

#include <array>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "faults/faulty_system.h"
#include "study/files.h"
#include "study/folders.h"

namespace flightdeck::study {
namespace {

// Ends when all who have the other end of the pipe are gone.
void wait_for_the_end_of_others(int pipe) {
  char byte = 0;
  while (::read(pipe, &byte, 1) > 0) continue;
}

TEST(Child, DoesNotOutliveAParentThatDiedBeforeItCouldAskToBeTold) {
  TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    flightdeck_set_faults("orphan");
    start_child({"sh", "-c", "echo ran"}, log, [] {});
    for (;;) ::pause();
  }
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(WIFSIGNALED(status));
  wait_for_the_end_of_others(ends[0]);
  ::close(ends[0]);
  EXPECT_EQ(read_file(log), "");
}

TEST(Child, RunsAProgramWithItsOutputInTheLog) {
  TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  const pid_t child = start_child({"sh", "-c", "echo ran"}, log, [] {});
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(read_file(log), "ran\n");
}

}  // namespace
}  // namespace flightdeck::study
