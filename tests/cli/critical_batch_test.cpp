// SPDX-License-Identifier: MIT
#include "cli/bench/critical_batch.h"

#include <set>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

TEST(LargestThatFits, IsTheLastOneThatFits) {
  for (int64_t most : {1, 2, 7, 64, 100}) {
    for (int64_t last = 0; last <= most + 3; ++last) {
      int64_t tries = 0, largest_tried = 0;
      const int64_t found = largest_that_fits(most, [&](int64_t n) {
        EXPECT_GE(n, 1);
        EXPECT_LE(n, most);
        ++tries;
        largest_tried = std::max(largest_tried, n);
        return n <= last;
      });
      EXPECT_EQ(found, std::min(last, most)) << "of " << most;
      EXPECT_LE(tries, 16);
      // Memory grows with the batch: what does not fit is not tried far beyond the limit.
      EXPECT_LE(largest_tried, std::max<int64_t>(1, 2 * last));
    }
  }
}

TEST(CriticalBatch, TakesMoreForMoreSamplesAndLessForFewerColumns) {
  const suite::Problem problem = suite::find_problem("mnist_logreg");
  std::set<std::string> names;
  for (const GgnVariant& variant : ggn_variants()) {
    names.insert(variant.name);
    const auto of_16 = bytes_of(variant, problem, 16, at::kCPU);
    const auto of_64 = bytes_of(variant, problem, 64, at::kCPU);
    ASSERT_TRUE(of_16 && of_64);
    EXPECT_LT(*of_16, *of_64) << variant.name;
    if (variant.is_sampled) continue;
    GgnVariant sampled = variant;
    sampled.is_sampled = true;
    EXPECT_LT(*bytes_of(sampled, problem, 64, at::kCPU), *of_64) << variant.name;
  }
  EXPECT_EQ(names.size(), 24u);
  const auto gradient = bytes_of(GgnVariant{}, problem, 64, at::kCPU);
  EXPECT_LT(*gradient, *bytes_of(ggn_variants().front(), problem, 64, at::kCPU));
}

TEST(CriticalBatch, OfANewtonStepCountsTheGradientsOfAllSamples) {
  const suite::Problem problem = suite::find_problem("mnist_logreg");
  for (GgnVariant variant : ggn_variants()) {
    if (variant.task != GgnTask::kEigenvalues) continue;
    const auto eigenvalues = bytes_of(variant, problem, 64, at::kCPU);
    variant.task = GgnTask::kNewtonStep;
    EXPECT_GT(*bytes_of(variant, problem, 64, at::kCPU), *eigenvalues) << variant.name;
  }
}

}  // namespace
}  // namespace flightdeck::cli
