// SPDX-License-Identifier: MIT
#include "run/training.h"

#include <cmath>

#include <gtest/gtest.h>

#include "run/run_config.h"

namespace flightdeck::run {
namespace {

TrainingOptions options_of(const std::string& problem, const std::string& optimizer) {
  TrainingOptions options;
  options.problem = problem;
  options.optimizer = optimizer;
  return options;
}

double rate_of(const TrainingOptions& options) {
  return complete_hyperparameters(options.problem, options).at("learning_rate");
}

TEST(LearningRates, AreThoseGivenThenTheProblemsOwnThenTheOptimizers) {
  TrainingOptions options = options_of("two_d_rosenbrock", "sgd");
  EXPECT_EQ(rate_of(options), 5e-4);
  options.hyperparameters["learning_rate"] = 0.25;
  EXPECT_EQ(rate_of(options), 0.25);
  EXPECT_EQ(rate_of(options_of("two_d_rosenbrock", "adam")),
            rate_of(options_of("quadratic_deep", "adam")));
}

TEST(LearningRates, OfProblemsAreForOptimizersThatThereAre) {
  for (const suite::Problem& problem : suite::all_problems()) {
    for (const auto& [optimizer, rate] : own_rates(problem.name)) {
      EXPECT_NO_THROW(check_training_options(options_of(problem.name, optimizer)));
      EXPECT_GT(rate, 0) << problem.name << " " << optimizer;
    }
  }
}

// With nothing given but a fifth of the epochs, which spares time and is long enough to diverge.
TEST(SmallProblems, ComeDownWithTheirDefaults) {
  for (const char* name : {"quadratic_deep", "two_d_beale", "two_d_branin", "two_d_rosenbrock"}) {
    std::map<std::string, double> optimizers = own_rates(name);
    optimizers.emplace("sgd", 0.0);
    for (const auto& [optimizer, rate] : optimizers) {
      TrainingOptions options = options_of(name, optimizer);
      options.epochs = 20;
      Training training(options);
      const double before = training.step().loss.item<double>();
      double last = before;
      while (!training.is_done()) last = training.step().loss.item<double>();
      // The noise of a plane's mini-batch is below 1.
      EXPECT_LT(last, std::max(1.0, 0.5 * before)) << name << " " << optimizer;
      EXPECT_TRUE(std::isfinite(last)) << name << " " << optimizer;
    }
  }
}

}  // namespace
}  // namespace flightdeck::run
