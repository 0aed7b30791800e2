// SPDX-License-Identifier: MIT
// Lamps that are lit by recorded values: where each is lit, where it stays dark, what it says.
#include <functional>

#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

class LampsOfValues : public testing::Test {
 protected:
  using Readings = std::function<std::vector<Reading>(int64_t step)>;

  // Records these readings at steps 0, 10, 20, ... and ends the run.
  std::vector<Finding> found_in(int64_t count, const Readings& readings) {
    const RunFolder folder;
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    for (int64_t k = 0; k < count; ++k) recorder.write(step_of(10 * k, readings(k)));
    recorder.finish(Ending::kFinished);
    return findings_in(RunReader(folder.path()));
  }

  // The same for one number at every step.
  std::vector<Finding> found_in(int64_t count, const std::string& quantity, double value) {
    return found_in(count, [&](int64_t) { return std::vector<Reading>{number(quantity, value)}; });
  }

  static void expect_lamp(const std::vector<Finding>& findings,
                          const std::string& lamp,
                          const std::vector<std::string>& said) {
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].lamp, lamp);
    for (const std::string& words : said) {
      EXPECT_NE(findings[0].text().find(words), std::string::npos) << findings[0].text();
    }
  }
};

TEST_F(LampsOfValues, DeadLayersNamesLayersWithOver70PercentOfTheirUnitsDead) {
  const auto layers = [](double first, double second) {
    return [=](int64_t) {
      return std::vector<Reading>{number("dead_units", (first + second) / 2),
                                  number("dead_units", first, "", "relu1"),
                                  number("dead_units", second, "", "relu2")};
    };
  };
  EXPECT_TRUE(found_in(3, layers(0.7, 0.2)).empty());
  EXPECT_TRUE(found_in(2, layers(0.9, 0.9)).empty());  // too few values
  expect_lamp(found_in(3, layers(0.2, 0.94)), "dead_layers", {"94 %", "in relu2", "step 20"});
  expect_lamp(found_in(3, layers(0.75, 0.94)), "dead_layers", {"75 % to 94 %", "relu1, relu2"});
}

TEST_F(LampsOfValues, UnderflowNamesTheGroupsThatLoseTheirGradient) {
  const auto shares = [](int64_t) {
    return std::vector<Reading>{number("finite", 0.4, "", "underflow"),
                                number("finite", 0.1, "conv1", "underflow"),
                                number("finite", 0.7, "conv2", "underflow")};
  };
  EXPECT_TRUE(found_in(9, shares).empty());  // too few values
  expect_lamp(found_in(10, shares), "underflow", {"40 %", ": conv2"});
}

TEST_F(LampsOfValues, AreNotLitByOneStepAlone) {
  const auto once = [](int64_t k) {
    return std::vector<Reading>{number("dead_units", k == 2 ? 1 : 0, "", "relu1")};
  };
  EXPECT_TRUE(found_in(3, once).empty());
}

TEST_F(LampsOfValues, SaturatedLayersNamesThem) {
  const auto layer = [](int64_t) {
    return std::vector<Reading>{number("saturated_units", 0.8, "", "tanh3")};
  };
  expect_lamp(found_in(5, layer), "saturated_layers", {"80 %", "tanh3", "step 40"});
}

TEST_F(LampsOfValues, SilentLayersNamesGroupsWithoutGradient) {
  const auto norms = [](double of_model, double of_group) {
    return [=](int64_t) {
      return std::vector<Reading>{number("grad_norm", of_model),
                                  number("grad_norm", of_group, "conv1"),
                                  number("grad_norm", of_model, "conv2")};
    };
  };
  EXPECT_TRUE(found_in(3, norms(1, 1e-4)).empty());
  expect_lamp(found_in(3, norms(1, 0)), "silent_layers", {"gradient of conv1 is nothing"});
  EXPECT_TRUE(found_in(3, norms(0, 0)).empty());  // the whole model has converged
}

TEST_F(LampsOfValues, LongStepsSaysByHowMuch) {
  EXPECT_TRUE(found_in(20, "alpha", 0.9).empty());
  EXPECT_TRUE(found_in(19, "alpha", 1.6).empty());
  expect_lamp(found_in(20, "alpha", 1.6),
              "long_steps",
              {"alpha is 1.6", "step 190", "2.6 times", "Divide the learning rate by about 2.6"});
}

TEST_F(LampsOfValues, ShortStepsSaysHowShort) {
  EXPECT_TRUE(found_in(20, "alpha", -0.9).empty());
  expect_lamp(found_in(30, "alpha", -0.99), "short_steps", {"0.01 times", "step 290"});
}

TEST_F(LampsOfValues, UpdatesAreHeldToTheirUsualSize) {
  EXPECT_TRUE(found_in(3, "update_ratio", -3).empty());
  EXPECT_TRUE(found_in(3, "update_ratio", -1.5).empty());
  expect_lamp(found_in(3, "update_ratio", 0), "large_updates", {"1 times as long"});
  expect_lamp(found_in(3, "update_ratio", -7), "small_updates", {"1e-07 times as long"});
}

TEST_F(LampsOfValues, OutlyingSamplesNamesThoseThatWereTold) {
  EXPECT_TRUE(found_in(3, "sample_outliers", 9).empty());
  expect_lamp(found_in(3, "sample_outliers", 47), "outlying_samples", {"47 times"});
  const auto named = [](int64_t k) {
    Reading ids = number("sample_outliers", 0, "", "ids");
    ids.kind = ReadingKind::kList;
    ids.list = {100.0 + static_cast<double>(k), 7};
    return std::vector<Reading>{number("sample_outliers", 47), ids};
  };
  expect_lamp(found_in(4, named), "outlying_samples", {"samples 103, 7"});
}

TEST_F(LampsOfValues, NoProgressComparesTheEndWithTheBeginning) {
  const auto loss = [](double end) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("loss", k < 20 ? 2.3 + 0.01 * (k % 2) : end)};
    };
  };
  EXPECT_TRUE(found_in(300, loss(2.2)).empty());
  EXPECT_TRUE(found_in(299, loss(2.3)).empty());
  expect_lamp(found_in(300, loss(2.3)), "no_progress", {"began at 2.3", "is 2.3", "step 2990"});
  EXPECT_TRUE(found_in(300, "loss", -1).empty());
}

TEST_F(LampsOfValues, OnlyNoiseIsLitWhereTheCriterionStaysAboveZero) {
  EXPECT_TRUE(found_in(10, "early_stopping", -0.1).empty());
  expect_lamp(found_in(10, "early_stopping", 0.2), "only_noise", {"0.2", "larger batches"});
  // Early in training it may be above 0 now and then.
  const auto swaying = [](int64_t k) {
    return std::vector<Reading>{number("early_stopping", k % 10 == 9 ? -0.1 : 0.8)};
  };
  EXPECT_TRUE(found_in(20, swaying).empty());
}

TEST_F(LampsOfValues, ReadTheLastValuesHoweverTheStepsAreSpaced) {
  // Dense at first, then sparse: even spacing is a wrong guess.
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t step = 0; step < 500; ++step) {
    recorder.write(step_of(step, {number("update_ratio", -3)}));
  }
  for (int64_t step = 1000; step <= 3000; step += 1000) {
    recorder.write(step_of(step, {number("update_ratio", 0)}));
  }
  recorder.finish(Ending::kFinished);
  expect_lamp(findings_in(RunReader(folder.path())), "large_updates", {"step 3000"});
}

TEST_F(LampsOfValues, AreDarkWhereValuesAreNotNumbers) {
  for (const char* quantity : {"alpha", "update_ratio", "sample_outliers", "early_stopping"}) {
    EXPECT_TRUE(found_in(40, quantity, kNan).empty()) << quantity;
  }
}

}  // namespace
}  // namespace flightdeck::tests
