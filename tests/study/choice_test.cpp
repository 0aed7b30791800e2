// SPDX-License-Identifier: MIT
#include "study/analysis/choice.h"

#include <cmath>

#include <gtest/gtest.h>

#include "study/analysis/result.h"
#include "tests/study/outcomes.h"

namespace flightdeck::study {
namespace {

const Choice* choice_of(const std::vector<Choice>& choices, const std::string& budget) {
  for (const Choice& choice : choices) {
    if (choice.budget == budget) return &choice;
  }
  return nullptr;
}

TEST(Budget, ContainsTheSmallerOnes) {
  EXPECT_TRUE(is_in_budget("default", "one_shot"));
  EXPECT_FALSE(is_in_budget("default", "large"));
  EXPECT_TRUE(is_in_budget("random-024", "small"));
  EXPECT_FALSE(is_in_budget("random-025", "small"));
  EXPECT_TRUE(is_in_budget("random-025", "medium"));
  EXPECT_FALSE(is_in_budget("refined-000", "medium"));
  EXPECT_TRUE(is_in_budget("refined-000", "large"));
  EXPECT_TRUE(is_in_budget("random-003", "large"));
  EXPECT_TRUE(is_in_budget("grid-017", "grid"));
  EXPECT_TRUE(is_in_budget("", "any"));
  EXPECT_FALSE(is_in_budget("grid-017", "any"));
}

TEST(Choice, IsTheBestOfEachBudgetByTheLastValidationScore) {
  Outcome best_on_test = with_accuracies("sgd", "random-001", 42, {0.1, 0.5});
  best_on_test.test.accuracy = {0.1, 0.99};
  const Trials trials = group({with_accuracies("sgd", "default", 42, {0.1, 0.9}),
                               with_accuracies("sgd", "random-000", 42, {0.1, 0.6}),
                               best_on_test,
                               with_accuracies("sgd", "random-030", 42, {0.1, 0.7}),
                               with_accuracies("sgd", "refined-002", 42, {0.1, 0.8})},
                              false);
  const std::vector<Choice> choices = choose(trials.all);
  ASSERT_EQ(choices.size(), 4u);
  const auto sample = [&](const char* budget) {
    return trials.all[choice_of(choices, budget)->trial].sample;
  };
  EXPECT_EQ(sample("one_shot"), "default");
  EXPECT_EQ(sample("small"), "random-000");
  EXPECT_EQ(sample("medium"), "random-030");
  EXPECT_EQ(sample("large"), "refined-002");
  EXPECT_EQ(choice_of(choices, "large")->samples, 4);
}

TEST(Choice, IsTheOneThatTuningMakes) {
  // The first ends best, but a loss on the way is not finite.
  Outcome broken = with_losses("sgd", "grid-000", 42, {2, 1, 0.5});
  broken.train.loss[1] = NAN;
  const std::vector<Outcome> outcomes = {broken,
                                         with_losses("sgd", "grid-001", 42, {2, 1.5, 0.9}),
                                         with_losses("sgd", "grid-002", 42, {2, 0.7, 1.2})};
  std::vector<RunScore> scores;
  for (const Outcome& outcome : outcomes) scores.push_back(score_of(outcome));
  const Trials trials = group(outcomes, false);
  EXPECT_EQ(best_of(scores, 1).front(), 1u);
  EXPECT_EQ(trials.all[choose(trials.all)[0].trial].sample, "grid-001");
}

TEST(Choice, ComparesOnTheTuningSeedAlone) {
  const Trials trials = group({with_accuracies("sgd", "grid-000", 42, {0.1, 0.8}),
                               with_accuracies("sgd", "grid-000", 43, {0.1, 0.2}),
                               with_accuracies("sgd", "grid-001", 42, {0.1, 0.7})},
                              false);
  const std::vector<Choice> choices = choose(trials.all);
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(trials.all[choices[0].trial].sample, "grid-000");
  EXPECT_EQ(choices[0].tuning_seed, 42u);
}

TEST(Choice, PutsWhatDivergedLast) {
  const Trials trials = group({diverged_in(with_losses("sgd", "grid-000", 42, {2}), 1, 1),
                               with_losses("sgd", "grid-001", 42, {2, 5})},
                              false);
  EXPECT_EQ(trials.all[choose(trials.all)[0].trial].sample, "grid-001");
}

TEST(Choice, AmongEqualsTakesTheOneWithMoreSeeds) {
  const Trials trials = group({with_accuracies("sgd", "grid-000", 42, {0.1, 0.8}),
                               with_accuracies("sgd", "grid-001", 42, {0.1, 0.8}),
                               with_accuracies("sgd", "grid-001", 43, {0.1, 0.7})},
                              false);
  EXPECT_EQ(trials.all[choose(trials.all)[0].trial].sample, "grid-001");
}

TEST(Choice, RanksRunsWithoutATagToo) {
  Outcome fast = with_accuracies("sgd", "", 42, {0.1, 0.8});
  fast.setting.hyperparameters["learning_rate"] = 1;
  const Trials trials = group({with_accuracies("sgd", "", 42, {0.1, 0.5}), fast}, false);
  const std::vector<Choice> choices = choose(trials.all);
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].budget, "any");
  EXPECT_EQ(trials.all[choices[0].trial].setting.hyperparameters.at("learning_rate"), 1);
}

TEST(Headline, HasTheGreatestBudgetAndTheConstantSchedule) {
  Outcome cosine = with_accuracies("sgd", "random-000", 42, {0.1, 0.9});
  cosine.setting.schedule = "cosine";
  const Trials trials = group({with_accuracies("sgd", "default", 42, {0.1, 0.95}),
                               with_accuracies("sgd", "random-000", 42, {0.1, 0.6}),
                               cosine},
                              false);
  const std::vector<Choice> choices = choose(trials.all);
  const std::vector<size_t> best = headline(trials.all, choices);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(choices[best[0]].budget, "small");
  EXPECT_EQ(choices[best[0]].schedule, "constant");
}

}  // namespace
}  // namespace flightdeck::study
