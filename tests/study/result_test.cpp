// SPDX-License-Identifier: MIT
#include "study/analysis/result.h"

#include <cmath>

#include <gtest/gtest.h>

#include "study/analysis/analysis.h"
#include "study/analysis/report_parts.h"
#include "tests/study/outcomes.h"

namespace flightdeck::study {
namespace {

AnalysisOptions with_target(const std::string& problem, double value) {
  AnalysisOptions options;
  options.targets[problem] = value;
  return options;
}

AnalysisOptions with_published_target(double value) {
  AnalysisOptions options;
  options.published_targets["quadratic_deep"] = value;
  return options;
}

TEST(Performance, IsMeanAndDeviationAtTheReportedEpoch) {
  Outcome first = with_losses("sgd", "default", 42, {10, 6, 4});
  Outcome second = with_losses("sgd", "default", 43, {10, 8, 4});
  first.reported_epoch = second.reported_epoch = 1;
  const Analysis analysis = analyze({first, second}, {}, {});
  ASSERT_EQ(analysis.results.size(), 1u);
  EXPECT_DOUBLE_EQ(analysis.results[0].performance.mean, 7);
  EXPECT_DOUBLE_EQ(analysis.results[0].performance.deviation, 1);
  EXPECT_DOUBLE_EQ(analysis.results[0].on_tuning_seed, 6);
}

TEST(Speed, IsTheMeanOfTheFirstEpochsAtTheTarget) {
  // Reached at 2, at 1, and never within 3 epochs, which counts 4.
  const Analysis analysis = analyze({with_losses("sgd", "default", 42, {10, 6, 4, 5}),
                                     with_losses("sgd", "default", 43, {10, 4.5, 9, 9}),
                                     with_losses("sgd", "default", 44, {10, 9, 8, 7})},
                                    {},
                                    with_target("quadratic_deep", 4.5));
  const Result& result = analysis.results[0];
  EXPECT_DOUBLE_EQ(result.epochs.mean, (2 + 1 + 4) / 3.0);
  EXPECT_DOUBLE_EQ(result.iterations.mean, 10 * (2 + 1 + 4) / 3.0);
  EXPECT_DOUBLE_EQ(result.seconds.mean, 2 * (2 + 1 + 4) / 3.0);
  EXPECT_EQ(result.not_reached, 1);
  EXPECT_DOUBLE_EQ(result.median_iterations, 20);
}

TEST(Speed, ShownIsThatOfTheSeedsThatReachTheTarget) {
  const Analysis analysis = analyze({with_losses("sgd", "default", 42, {10, 6, 4, 5}),
                                     with_losses("sgd", "default", 43, {10, 4.5, 9, 9}),
                                     with_losses("sgd", "default", 44, {10, 9, 8, 7})},
                                    {},
                                    with_target("quadratic_deep", 4.5));
  EXPECT_DOUBLE_EQ(analysis.results[0].epochs_if_reached.mean, 1.5);
  EXPECT_EQ(speed_table(analysis).rows[0][1].text, "1.5 (1/3 never)");
}

TEST(Speed, IsThatOfNoRunThatDiverged) {
  const Outcome reached_before = diverged_in(with_losses("sgd", "default", 42, {10, 4}), 2, 5);
  const Analysis analysis = analyze({reached_before}, {}, with_target("quadratic_deep", 4.5));
  EXPECT_EQ(analysis.results[0].not_reached, 1);
  EXPECT_EQ(speed_table(analysis).rows[0][1].text, "never");
  // Alone, with a derived target: that is the untrained score, at which every run begins.
  const Analysis alone =
      analyze({diverged_in(with_accuracies("sgd", "", 42, {0.1}), 1, 5)}, {}, {});
  EXPECT_EQ(winners_table(alone).rows[0][6].text, "none");
}

TEST(Fastest, IsTheOneThatTheTableHasEarliest) {
  // Adam reaches the target late; sgd never does, within fewer epochs than that.
  std::vector<double> late(50, 100);
  late.push_back(50);
  const Analysis analysis = analyze({with_losses("adam", "default", 42, late),
                                     with_losses("sgd", "default", 42, {100, 99, 98, 97})},
                                    {},
                                    with_target("quadratic_deep", 60));
  const std::vector<TableCell> row = winners_table(analysis).rows[0];
  EXPECT_EQ(row[6].text, "adam");
  EXPECT_EQ(row[7].text, "50.0");
}

TEST(Fastest, IsReachedByMoreSeedsBeforeItIsEarlier) {
  const Analysis analysis = analyze({with_losses("adam", "default", 42, {10, 9, 8, 4}),
                                     with_losses("adam", "default", 43, {10, 9, 8, 4}),
                                     with_losses("sgd", "default", 42, {10, 4, 4, 4}),
                                     with_losses("sgd", "default", 43, {10, 9, 9, 9})},
                                    {},
                                    with_target("quadratic_deep", 5));
  EXPECT_EQ(winners_table(analysis).rows[0][6].text, "adam");
}

TEST(Speed, WantsAccuraciesAtTheTargetOrAbove) {
  const Analysis analysis = analyze(
      {with_accuracies("sgd", "default", 42, {0.1, 0.7, 0.8})}, {}, with_target("mnist_mlp", 0.8));
  EXPECT_DOUBLE_EQ(analysis.results[0].epochs.mean, 2);
}

TEST(Target, IsTheOneGivenThenThePublishedOneThenTheRule) {
  const std::vector<Outcome> outcomes = {with_losses("sgd", "default", 42, {353, 90, 87}),
                                         with_accuracies("sgd", "default", 42, {0.1, 0.8, 0.9})};
  const Analysis ours = analyze(outcomes, {}, with_published_target(87.7));
  EXPECT_DOUBLE_EQ(ours.targets.at("quadratic_deep").value, 87.7);
  EXPECT_EQ(ours.targets.at("quadratic_deep").origin, "published");
  EXPECT_NEAR(ours.targets.at("mnist_mlp").value, 0.1 + 0.98 * 0.8, 1e-15);
  EXPECT_EQ(ours.targets.at("mnist_mlp").origin, "derived");
  AnalysisOptions both = with_published_target(87.7);
  both.targets["quadratic_deep"] = 100;
  const Analysis given = analyze(outcomes, {}, both);
  EXPECT_DOUBLE_EQ(given.targets.at("quadratic_deep").value, 100);
  EXPECT_THROW(analyze(outcomes, {}, with_target("quadratic", 100)), std::invalid_argument);
}

TEST(Target, ByRuleIsThatOfTheMedianOptimizer) {
  const Analysis analysis = analyze({with_accuracies("adam", "default", 42, {0.1, 0.9}),
                                     with_accuracies("momentum", "default", 42, {0.1, 0.8}),
                                     with_accuracies("sgd", "default", 42, {0.1, 0.2})},
                                    {},
                                    {});
  EXPECT_NEAR(analysis.targets.at("mnist_mlp").value, 0.1 + 0.98 * 0.7, 1e-15);
}

TEST(Target, ByRuleIsThatOfTheBaselinesIfThereAreAny) {
  const Analysis analysis = analyze({with_accuracies("adam", "default", 42, {0.1, 0.9})},
                                    {with_accuracies("sgd", "grid-000", 42, {0.1, 0.5})},
                                    {});
  EXPECT_NEAR(analysis.targets.at("mnist_mlp").value, 0.1 + 0.98 * 0.4, 1e-15);
}

TEST(Target, OfSyntheticDataIsNotThePublishedOne) {
  Outcome synthetic = with_losses("sgd", "default", 42, {10, 5});
  synthetic.is_synthetic = true;
  const Analysis analysis = analyze({synthetic}, {}, with_published_target(87.7));
  EXPECT_EQ(analysis.targets.at("quadratic_deep").origin, "derived");
  ASSERT_FALSE(analysis.warnings.empty());
  EXPECT_NE(analysis.warnings[0].find("SYNTHETIC"), std::string::npos);
}

TEST(Baselines, AreThoseOfTheSameProblemsAndKindOfData) {
  Outcome synthetic = with_losses("sgd", "default", 42, {10, 5});
  synthetic.is_synthetic = true;
  const Analysis analysis = analyze({with_losses("adam", "default", 42, {10, 5})},
                                    {with_losses("sgd", "grid-000", 42, {10, 5}),
                                     with_accuracies("sgd", "grid-000", 42, {0.1, 0.5}),
                                     synthetic},
                                    {});
  EXPECT_EQ(analysis.baseline_runs, 1);
  EXPECT_EQ(analysis.problems, (std::vector<std::string>{"quadratic_deep"}));
  EXPECT_EQ(analysis.competitors, (std::vector<std::string>{"adam", "sgd (baseline)"}));
}

TEST(Budgets, OfBaselinesThatDifferKeepThemOutAndAreSaidOnce) {
  Outcome longer = with_losses("sgd", "grid-000", 42, {10, 5, 4, 3});
  Outcome same = with_losses("momentum", "grid-000", 42, {10, 5});
  const Analysis analysis =
      analyze({with_losses("adam", "default", 42, {10, 5})}, {longer, same}, {});
  EXPECT_EQ(analysis.baseline_runs, 1);
  EXPECT_EQ(analysis.competitors, (std::vector<std::string>{"adam", "momentum (baseline)"}));
  const auto says = [](const std::string& text) {
    return text.find("left out") != std::string::npos &&
           text.find("quadratic_deep (3 epochs") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(analysis.warnings.begin(), analysis.warnings.end(), says), 1);
}

TEST(Budgets, OfFewRunsKeepThemOut) {
  Outcome longer = with_losses("sgd", "default", 42, {10, 5, 4, 3});
  const Analysis analysis = analyze({with_losses("adam", "default", 42, {10, 5}),
                                     with_losses("momentum", "default", 42, {10, 6}),
                                     longer},
                                    {},
                                    {});
  EXPECT_EQ(analysis.runs, 2);
  EXPECT_EQ(analysis.competitors, (std::vector<std::string>{"adam", "momentum"}));
}

TEST(Analysis, BeginsWithTheProblemsOfTheBenchmarkInItsOrder) {
  AnalysisOptions options;
  options.benchmark = {"tolstoi_char_rnn", "quadratic_deep"};
  const Analysis analysis = analyze({with_accuracies("sgd", "default", 42, {0.1, 0.5}),
                                     with_losses("sgd", "default", 42, {10, 5})},
                                    {},
                                    options);
  EXPECT_EQ(analysis.problems, (std::vector<std::string>{"quadratic_deep", "mnist_mlp"}));
  EXPECT_EQ(analysis.results[0].choice.problem, "quadratic_deep");
}

TEST(Analysis, MeasuresOnThePartThatWasAskedFor) {
  Outcome outcome = with_losses("sgd", "default", 42, {10, 5});
  outcome.valid.loss = {10, 4};
  AnalysisOptions options = with_published_target(87.7);
  options.part = MeasuredPart::kValid;
  const Analysis analysis = analyze({outcome}, {}, options);
  EXPECT_DOUBLE_EQ(analysis.results[0].performance.mean, 4);
  EXPECT_EQ(analysis.targets.at("quadratic_deep").origin, "derived");
}

TEST(Analysis, WarnsOfRunsWithoutScoresOnThePart) {
  Outcome without = with_losses("adam", "default", 42, {10, 5});
  without.test = {};
  const Analysis one = analyze({with_losses("sgd", "default", 42, {10, 5}), without}, {}, {});
  EXPECT_EQ(one.results.size(), 1u);
  ASSERT_FALSE(one.warnings.empty());
  EXPECT_NE(one.warnings[0].find("1 of 2 chosen settings"), std::string::npos);
  EXPECT_TRUE(analyze({without}, {}, {}).results.empty());
}

TEST(Analysis, WarnsOfMissingSeedsAndOfUnequalRuns) {
  Outcome longer = with_losses("adam", "default", 42, {10, 5, 4});
  const Analysis analysis = analyze({with_losses("sgd", "default", 42, {10, 5}),
                                     with_losses("sgd", "default", 43, {10, 5}),
                                     with_losses("momentum", "default", 42, {10, 5}),
                                     longer},
                                    {},
                                    {});
  std::string all;
  for (const std::string& warning : analysis.warnings) all += warning + "\n";
  EXPECT_NE(all.find("fewer than 2 seeds"), std::string::npos) << all;
  EXPECT_NE(all.find("quadratic_deep (2 epochs, not 1)"), std::string::npos) << all;
}

}  // namespace
}  // namespace flightdeck::study
