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

Reading field_of(const std::string& quantity, const std::string& field, double value) {
  return number(quantity, value, "", field);
}

// Two steps of a network of layers a and b; the second step has these values.
struct Recorded {
  double batch = 1, set = 1, weight = 1, first = 1, second = 1, loss = 1, gradient = 1, update = 1;
};

void record_layers(const std::string& folder, const Recorded& values, bool has_inputs = true) {
  Recorder recorder(folder);
  recorder.begin(full_info());
  for (int64_t k = 0; k < 2; ++k) {
    const Recorded now = k == 1 ? values : Recorded();
    std::vector<Reading> readings = {
        number("update_size", now.update),
        number("update_size", now.update, "b"),
        number("grad_norm", now.gradient),
        number("grad_norm", now.gradient, "b"),
        number("loss", now.loss),
        field_of("activation_scale", "rms:a", now.first),
        field_of("activation_scale", "gradient_rms:a", now.gradient),
        field_of("activation_scale", "rms:b", now.second),
        field_of("activation_scale", "gradient_rms:b", now.gradient),
        number("parameters", now.weight),
        number("parameters", now.weight, "a"),
    };
    if (has_inputs) {
      readings.push_back(field_of("inputs", "batch_hash", now.batch));
      readings.push_back(field_of("inputs", "set_hash", now.set));
    }
    recorder.write(step_of(k, std::move(readings)));
  }
  recorder.finish(Ending::kFinished);
}

RunDifference difference_of(const Recorded& values, bool has_inputs = true) {
  const RunFolder a, b;
  record_layers(a.path(), {}, has_inputs);
  record_layers(b.path(), values, has_inputs);
  return difference(RunReader(a.path()), RunReader(b.path()));
}

TEST(RunDifferences, NameThePartOfAStepThatIsComputedFirst) {
  Recorded other;
  EXPECT_EQ(difference_of(other).first_kind, DifferenceKind::kNone);
  const auto expect_first = [&](DifferenceKind kind, const std::string& layer) {
    const RunDifference found = difference_of(other);
    EXPECT_STREQ(to_string(found.first_kind), to_string(kind));
    EXPECT_EQ(found.first_layer, layer);
    EXPECT_EQ(found.values.front().step, 1);
  };
  // Each comes before those above it.
  other.update = 2;
  expect_first(DifferenceKind::kUpdate, "b");
  other.gradient = 2;
  expect_first(DifferenceKind::kGradient, "b");  // the backward pass begins at the outputs
  other.loss = 2;
  expect_first(DifferenceKind::kLoss, "");
  other.second = 2;
  expect_first(DifferenceKind::kLayer, "b");
  other.first = 2;
  expect_first(DifferenceKind::kLayer, "a");
  other.weight = 2;
  expect_first(DifferenceKind::kParameter, "a");
  other.batch = 2;
  expect_first(DifferenceKind::kData, "");
}

TEST(RunDifferences, TellAnotherOrderFromOtherSamples) {
  Recorded other;
  other.loss = 2;
  EXPECT_EQ(difference_of(other).data, DataDifference::kSame);
  EXPECT_EQ(difference_of(other, /*has_inputs=*/false).data, DataDifference::kUnknown);
  other.batch = 2;
  EXPECT_EQ(difference_of(other).data, DataDifference::kOrder);
  other.set = 2;
  EXPECT_EQ(difference_of(other).data, DataDifference::kSamples);
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
  EXPECT_EQ(found.first_kind, DifferenceKind::kSetting);
}

}  // namespace
}  // namespace flightdeck::tests
