// SPDX-License-Identifier: MIT
// What section 5.4 of the thesis on benchmarking concludes from its baselines follows from those
// that come with the program too.
#include "study/baselines.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "study/analysis/analysis.h"

namespace flightdeck::study {
namespace {

Analysis baselines_judged_by(MeasuredPart part, bool is_of_losses) {
  AnalysisOptions options;
  options.part = part;
  options.is_of_losses = is_of_losses;
  return analyze(baselines_of({"quadratic_deep",
                               "mnist_vae",
                               "mnist_logreg",
                               "mnist_mlp",
                               "fmnist_logreg",
                               "fmnist_2c2d"}),
                 {},
                 options);
}

double score(const Analysis& analysis, const std::string& problem, const std::string& optimizer) {
  return analysis.headline_of(problem, optimizer)->performance.mean;
}

// Returns the best learning rates of an optimizer on all problems but the quadratic, ascending.
std::vector<double> best_rates(const Analysis& analysis, const std::string& optimizer) {
  std::vector<double> rates;
  for (const std::string& problem : analysis.problems) {
    if (problem == "quadratic_deep") continue;
    const Choice& choice = analysis.headline_of(problem, optimizer)->choice;
    rates.push_back(analysis.trials[choice.trial].setting.hyperparameters.at("learning_rate"));
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

TEST(PublishedFindings, AdamsBestRatesAreCloseTogetherAndThoseOfTheOthersAreNot) {
  const Analysis analysis = baselines_judged_by(MeasuredPart::kTest, false);
  const std::vector<double> adam = best_rates(analysis, "adam");
  ASSERT_EQ(adam.size(), 5u);
  EXPECT_GE(adam.front(), 0.99e-4);
  EXPECT_LE(adam.back(), 1.01e-3);
  for (const char* other : {"sgd", "momentum"}) {
    const std::vector<double> rates = best_rates(analysis, other);
    EXPECT_GT(rates.back() / rates.front(), 10 * adam.back() / adam.front()) << other;
  }
  // The published exception is P1.
  const Choice& quadratic = analysis.headline_of("quadratic_deep", "adam")->choice;
  EXPECT_GT(analysis.trials[quadratic.trial].setting.hyperparameters.at("learning_rate"), 1e-2);
}

TEST(PublishedFindings, OptimizersRankDifferentlyByOtherMeasures) {
  const std::string problem = "fmnist_2c2d";
  const Analysis train_loss = baselines_judged_by(MeasuredPart::kTrain, true);
  const Analysis test_loss = baselines_judged_by(MeasuredPart::kTest, true);
  const Analysis test_accuracy = baselines_judged_by(MeasuredPart::kTest, false);
  for (const char* other : {"sgd", "momentum"}) {
    EXPECT_LT(score(train_loss, problem, "adam"), score(train_loss, problem, other));
    EXPECT_GT(score(test_loss, problem, "adam"), score(test_loss, problem, other));
    EXPECT_GT(score(test_accuracy, problem, "adam"), score(test_accuracy, problem, other));
  }
}

// By the test loss. By accuracy the published proof is CIFAR-100, of which there is no baseline.
TEST(PublishedFindings, NoOptimizerIsTheBestOnAllProblems) {
  const Analysis analysis = baselines_judged_by(MeasuredPart::kTest, true);
  EXPECT_LT(score(analysis, "mnist_vae", "adam"), score(analysis, "mnist_vae", "momentum"));
  EXPECT_LT(score(analysis, "mnist_vae", "adam"), score(analysis, "mnist_vae", "sgd"));
  EXPECT_LT(score(analysis, "fmnist_2c2d", "momentum"), score(analysis, "fmnist_2c2d", "adam"));
}

}  // namespace
}  // namespace flightdeck::study
