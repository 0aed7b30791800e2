// SPDX-License-Identifier: MIT
#include "cli/machine/peak_memory.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace flightdeck::cli {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
// malloc rounds a large block up to whole pages; at most two blocks are held at one time.
constexpr double kRounding = 2 * 4096.0;
const c10::Device kCpu(c10::kCPU);

torch::Tensor megabytes(int64_t count) { return torch::zeros({count * kMegabyte}, torch::kByte); }

TEST(PeakMemory, IsTheMostHeldAtOneTime) {
  const auto peak = peak_bytes(kCpu, [] {
    torch::Tensor kept = megabytes(3);
    megabytes(5);
    megabytes(4);
  });
  ASSERT_TRUE(peak.has_value());
  EXPECT_NEAR(static_cast<double>(*peak), 8.0 * kMegabyte, kRounding);
}

TEST(PeakMemory, DoesNotCountWhatWasHeldBefore) {
  torch::Tensor outside;
  peak_bytes(kCpu, [&] { outside = megabytes(7); });
  const auto peak = peak_bytes(kCpu, [&] { megabytes(2); });
  EXPECT_NEAR(static_cast<double>(*peak), 2.0 * kMegabyte, kRounding);
}

TEST(PeakMemory, RestoresTheAllocatorAfterAnException) {
  EXPECT_THROW(peak_bytes(kCpu, [] { throw std::runtime_error("work"); }), std::runtime_error);
  EXPECT_EQ(peak_bytes(kCpu, [] {}).value(), 0);
}

}  // namespace
}  // namespace flightdeck::cli
