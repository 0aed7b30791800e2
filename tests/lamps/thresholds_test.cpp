// SPDX-License-Identifier: MIT
// Lamps that are lit by values beyond a line.
#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

// What is found in a run of six steps with the readings that `make` gives for each.
std::vector<Finding> found(const std::function<std::vector<Reading>(int64_t)>& make) {
  RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t step = 0; step < 6; ++step) recorder.write(step_of(step, make(step)));
  recorder.finish(Ending::kFinished);
  return findings_in(RunReader(folder.path()));
}

std::vector<Finding> with_dead(double first, double last) {
  return found([=](int64_t step) -> std::vector<Reading> {
    const double dead = step < 5 ? first : last;
    return {number("dead_units", dead),
            number("dead_units", dead, "", "dense1"),
            number("dead_units", 0.2, "", "dense2")};
  });
}

TEST(DeadUnits, LightALampWhereNineInTenStayDead) {
  const std::vector<Finding> findings = with_dead(0.94, 0.94);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].lamp, "dead_units");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].step, 5);
  EXPECT_EQ(findings[0].evidence, "94 % of dense1 are zero for all samples of the batch");
}

TEST(DeadUnits, LightNoLampBelowThatAndWhereTheyCameBack) {
  EXPECT_TRUE(with_dead(0.5, 0.5).empty());
  EXPECT_TRUE(with_dead(0.95, 0.3).empty());
}

TEST(SampleOutliers, LightALampAtTheLargestBeyondTheLineOfThePanel) {
  const auto with_ratio = [](double ratio) {
    return found([=](int64_t step) -> std::vector<Reading> {
      return {number("sample_outliers", step == 3 ? ratio : 2)};
    });
  };
  EXPECT_TRUE(with_ratio(10).empty());
  EXPECT_TRUE(with_ratio(kNan).empty());
  const std::vector<Finding> findings = with_ratio(47);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].lamp, "sample_outliers");
  EXPECT_EQ(findings[0].step, 3);
  EXPECT_EQ(findings[0].evidence,
            "The longest gradient of a sample is 47 times the median at step 3");
}

TEST(NoGradient, LightsALampForGroupsAloneThatWereCutOff) {
  const auto with_norms = [](double a, double b, double last_a) {
    return found([=](int64_t step) -> std::vector<Reading> {
      return {number("grad_norm", 1),
              number("grad_norm", step < 5 ? a : last_a, "a"),
              number("grad_norm", b, "b")};
    });
  };
  const std::vector<Finding> findings = with_norms(0, 1, 0);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].lamp, "no_gradient");
  EXPECT_EQ(findings[0].evidence, "The gradient of 1 of 2 groups is exactly zero: a");
  EXPECT_TRUE(with_norms(1, 1, 1).empty());
  EXPECT_TRUE(with_norms(0, 1, 1).empty());
  EXPECT_TRUE(with_norms(1, 1, 0).empty());
  EXPECT_TRUE(with_norms(0, 0, 0).empty());
  EXPECT_TRUE(with_norms(kNan, 1, kNan).empty());
}

}  // namespace
}  // namespace flightdeck::tests
