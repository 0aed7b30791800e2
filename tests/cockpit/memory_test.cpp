// SPDX-License-Identifier: MIT
// A run may be as long as it likes: what is alive in memory does not grow with its steps.
//   memory_test [--steps N] [--preset NAME]    more steps than the test's, and figures on the way
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <unistd.h>

#include "cockpit/loop.h"

namespace flightdeck::tests {
namespace {

int64_t steps = 3000;
std::string only_preset;

// Bytes of all allocations that were not freed.
int64_t live_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class MemoryOfARun : public ::testing::TestWithParam<const char*> {};

TEST_P(MemoryOfARun, DoesNotGrowWithItsSteps) {
  if (!only_preset.empty() && only_preset != GetParam()) GTEST_SKIP();
  const auto folder = std::filesystem::temp_directory_path() /
                      ("flightdeck_memory_" + std::to_string(getpid()) + GetParam());
  std::filesystem::remove_all(folder);
  torch::manual_seed(1);
  Loop loop;
  CockpitOptions options;
  options.strict = true;
  options.grouping = Grouping::by_parameter();
  auto cockpit = std::make_unique<Cockpit>(loop.parameters(), GetParam(), options);
  cockpit->record_to(folder.string());
  StepOptions told;
  told.optimizer = &loop.optimizer;
  // SQLite's page cache fills to its 2 MB first, in about half of the default steps.
  int64_t when_filled = 0;
  for (int64_t step = 0; step < steps; ++step) {
    loop.step(*cockpit, step, told);
    if (step == steps * 2 / 3) when_filled = live_bytes();
    if ((step + 1) % (steps / 10) == 0) {
      std::cout << GetParam() << " step " << step + 1 << ": " << live_bytes() / 1024
                << " KiB alive, " << resident_bytes() / 1024 << " KiB resident" << std::endl;
    }
  }
  // The thread that stores holds a few steps, more or fewer at either moment.
  EXPECT_LT(live_bytes() - when_filled, int64_t{256} << 10);
  cockpit.reset();
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Presets,
                         MemoryOfARun,
                         ::testing::Values("economy", "business", "full"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace flightdeck::tests

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string name = argv[k];
    if (name == "--steps") flightdeck::tests::steps = std::atoll(argv[k + 1]);
    if (name == "--preset") flightdeck::tests::only_preset = argv[k + 1];
  }
  return RUN_ALL_TESTS();
}
