// SPDX-License-Identifier: MIT
#include "flightdeck/run_difference.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

// A run of ten steps whose loss is off by `by` from step `at` on.
void record_run(const std::string& folder, int64_t at, double by, const std::string& seed = "1") {
  Recorder recorder(folder);
  RunInfo info = full_info();
  info.config["seed"] = seed;
  recorder.begin(info);
  for (int64_t k = 0; k < 10; ++k) {
    const double off = k >= at ? by : 0;
    Reading list = number("sample_outliers", 0, "", "ids");
    list.kind = ReadingKind::kList;
    list.list = {double(k), off};
    recorder.write(step_of(k,
                           {number("loss", 1.0 + off),
                            number("grad_norm", k == 3 ? kNan : 2.0 + (k > at ? by : 0)),
                            number("time", double(k) + by),
                            list}));
  }
  recorder.finish(Ending::kFinished);
}

TEST(RunDifferences, AreNoneBetweenEqualRuns) {
  const RunFolder a, b;
  record_run(a.path(), 99, 0);
  record_run(b.path(), 99, 0);
  const RunDifference found = difference(RunReader(a.path()), RunReader(b.path()));
  EXPECT_TRUE(found.is_same());
  EXPECT_EQ(found.compared, 30);
  EXPECT_EQ(found.last_common_step, 9);
}

TEST(RunDifferences, AreToldAtTheFirstStepAlone) {
  const RunFolder a, b;
  record_run(a.path(), 99, 0);
  record_run(b.path(), 5, 1e-9);
  const RunDifference found = difference(RunReader(a.path()), RunReader(b.path()));
  ASSERT_EQ(found.values.size(), 2u);
  EXPECT_EQ(found.values[0].quantity, "loss");
  EXPECT_EQ(found.values[0].step, 5);
  EXPECT_EQ(found.values[0].first, 1.0);
  EXPECT_EQ(found.values[0].second, 1.0 + 1e-9);
  EXPECT_EQ(found.values[1].quantity, "sample_outliers");
  EXPECT_TRUE(std::isnan(found.values[1].first));
  EXPECT_TRUE(found.settings.empty());
}

TEST(RunDifferences, AreForgivenWithinATolerance) {
  const RunFolder a, b;
  record_run(a.path(), 99, 0);
  record_run(b.path(), 5, 1e-9);
  DifferenceOptions options;
  options.tolerance = 1e-6;
  options.left_out.insert("sample_outliers");
  EXPECT_TRUE(difference(RunReader(a.path()), RunReader(b.path()), options).is_same());
}

TEST(RunDifferences, NameSettingsAndSeriesOfOneRunAlone) {
  const RunFolder a, b;
  record_run(a.path(), 99, 0, "1");
  {
    Recorder recorder(b.path());
    RunInfo info = full_info();
    info.config["seed"] = "2";
    recorder.begin(info);
    recorder.write(step_of(0, {number("loss", 1), number("alpha", 0, "conv1")}));
    recorder.finish(Ending::kFinished);
  }
  const RunDifference found = difference(RunReader(a.path()), RunReader(b.path()));
  ASSERT_EQ(found.settings.size(), 1u);
  EXPECT_EQ(found.settings[0].key, "seed");
  EXPECT_EQ(found.settings[0].first, "1");
  EXPECT_EQ(found.settings[0].second, "2");
  EXPECT_EQ(found.only_first, (std::vector<std::string>{"grad_norm", "sample_outliers/ids"}));
  EXPECT_EQ(found.only_second, std::vector<std::string>{"alpha@conv1"});
  EXPECT_TRUE(found.values.empty());
}

}  // namespace
}  // namespace flightdeck::tests
