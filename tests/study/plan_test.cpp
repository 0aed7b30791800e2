// SPDX-License-Identifier: MIT
#include "study/plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "study/requests.h"

namespace flightdeck::study {
namespace {

std::vector<PlannedRun> plan_of(const Request& request, const Scores& scores = {}) {
  return planned_runs(request, only_combination(), scores);
}

std::set<uint64_t> seeds_of(const std::vector<PlannedRun>& runs, const std::string& sample) {
  std::set<uint64_t> seeds;
  for (const PlannedRun& run : runs) {
    if (run.sample == sample) seeds.insert(run.seed);
  }
  return seeds;
}

const std::set<uint64_t> kTenSeeds = {42, 43, 44, 45, 46, 47, 48, 49, 50, 51};

TEST(Plan, OfOneShotIsTheDefaultsWithAllSeeds) {
  const std::vector<PlannedRun> runs = plan_of(small_request({"one_shot"}));
  ASSERT_EQ(runs.size(), 10u);
  EXPECT_EQ(seeds_of(runs, "default"), kTenSeeds);
  EXPECT_EQ(runs[0].id, "quadratic_deep/momentum/constant/default/seed-42");
  EXPECT_EQ(runs[0].hyperparameters,
            (Values{{"learning_rate", 0.01}, {"momentum", 0.99}, {"weight_decay", 0.5}}));
}

TEST(Plan, OfASmallBudgetBeginsWith25DrawsAndEndsWithRepeatsOfTheBest) {
  const Request request = small_request({"small"});
  const std::vector<PlannedRun> first = plan_of(request);
  ASSERT_EQ(first.size(), 25u);
  EXPECT_EQ(first[7].id, "quadratic_deep/momentum/constant/random-007/seed-42");
  Scores scores;
  for (const PlannedRun& run : first) scores[run.id] = loss_of(run.sample == "random-013" ? 1 : 2);
  const std::vector<PlannedRun> all = plan_of(request, scores);
  ASSERT_EQ(all.size(), 34u);
  EXPECT_EQ(seeds_of(all, "random-013"), kTenSeeds);
  EXPECT_EQ(all.back().stage, "repeats");
  EXPECT_EQ(all.back().hyperparameters, first[13].hyperparameters);
}

TEST(Plan, WaitsForTheLastRunOfABudget) {
  const Request request = small_request({"small"});
  Scores scores;
  for (const PlannedRun& run : plan_of(request)) scores[run.id] = loss_of(1);
  scores.erase("quadratic_deep/momentum/constant/random-024/seed-42");
  EXPECT_EQ(plan_of(request, scores).size(), 25u);
}

TEST(Plan, OfALargeBudgetDrawsItsLast25AroundTheBestTen) {
  const Request request = small_request({"large"});
  const auto distance = [](const PlannedRun& run) {
    return std::abs(std::log10(run.hyperparameters.at("learning_rate")) + 2);
  };
  Scores scores;
  const std::vector<PlannedRun> first = plan_of(request);
  ASSERT_EQ(first.size(), 50u);
  for (const PlannedRun& run : first) scores[run.id] = loss_of(distance(run));
  const std::vector<PlannedRun> second = plan_of(request, scores);
  ASSERT_EQ(second.size(), 75u);
  std::vector<double> distances;
  for (const PlannedRun& run : first) distances.push_back(distance(run));
  std::sort(distances.begin(), distances.end());
  for (size_t k = 50; k < 75; ++k) {
    EXPECT_EQ(second[k].stage, "refined");
    EXPECT_LE(distance(second[k]), distances[9]);
  }
  EXPECT_EQ(second[50].sample, "refined-000");
}

TEST(Plan, OfAllBudgetsRepeatsEachBestOnceAndIsNoLongerThanSaid) {
  Request request = small_request({"one_shot", "small", "medium", "large"});
  const auto distinct = [&](const char* small, const char* medium, const char* large) {
    const Scores scores = all_ended(request, [&](const PlannedRun& run) {
      return run.sample == large ? 1 : run.sample == medium ? 2 : run.sample == small ? 3 : 4;
    });
    return scores.size();
  };
  EXPECT_EQ(distinct("random-003", "random-030", "refined-004"), 10u + 75 + 27);
  EXPECT_EQ(distinct("random-003", "random-003", "random-003"), 10u + 75 + 9);
  EXPECT_EQ(most_runs(request), 10u + 75 + 27);
  // Chapter 6 of the comparison: 8 problems, 15 optimizers, 4 schedules.
  request.problems.resize(8);
  request.optimizers.resize(15);
  request.schedules.resize(4);
  EXPECT_EQ(most_runs(request), 53760u);
}

TEST(Plan, OfAGridIsItsPointsOverTheDefaults) {
  Request request = small_request({"grid"});
  request.grid = {{"learning_rate", {0.1, 0.2}}, {"momentum", {0.5, 0.6}}};
  const std::vector<PlannedRun> runs = plan_of(request);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[2].sample, "grid-002");
  EXPECT_EQ(runs[2].hyperparameters,
            (Values{{"learning_rate", 0.2}, {"momentum", 0.5}, {"weight_decay", 0.5}}));
  EXPECT_EQ(all_ended(request, [](const PlannedRun&) { return 1; }).size(), 4u + 9);
}

TEST(Plan, DrawsTheSameForAllProblemsAndSchedulesButRefinesEach) {
  Request request = small_request({"large"});
  request.problems = {"a", "b"};
  request.schedules = {"constant", "cosine"};
  const Scores scores = all_ended(
      request, [](const PlannedRun& run) { return run.hyperparameters.at("learning_rate"); });
  std::map<std::string, std::set<Values>> values;
  for (const Combination& combination : combinations(request)) {
    for (const PlannedRun& run : planned_runs(request, combination, scores)) {
      values[run.sample].insert(run.hyperparameters);
    }
  }
  EXPECT_EQ(values.at("random-049").size(), 1u);
  EXPECT_EQ(values.at("refined-000").size(), 4u);
}

TEST(Plan, OfACombinationDoesNotWaitForOthers) {
  Request request = small_request({"small"});
  request.problems = {"a", "b"};
  Scores scores;
  const Combination first = combinations(request)[0], second = combinations(request)[1];
  for (const PlannedRun& run : planned_runs(request, first, {})) scores[run.id] = loss_of(1);
  EXPECT_EQ(planned_runs(request, first, scores).size(), 34u);
  EXPECT_EQ(planned_runs(request, second, scores).size(), 25u);
}

TEST(Plan, OfOneSeedHasNoRepeats) {
  Request request = small_request({"small"});
  request.seeds = 1;
  EXPECT_EQ(all_ended(request, [](const PlannedRun&) { return 1; }).size(), 25u);
}

TEST(PlannedRun, SurvivesItsLine) {
  const PlannedRun run = plan_of(small_request({"small"}))[3];
  const PlannedRun read = planned_run_from_json(to_json(run));
  EXPECT_EQ(read.id, run.id);
  EXPECT_EQ(read.stage, run.stage);
  EXPECT_EQ(read.schedule, run.schedule);
  EXPECT_EQ(read.sample, run.sample);
  EXPECT_EQ(read.seed, run.seed);
  EXPECT_EQ(read.hyperparameters, run.hyperparameters);
}

TEST(Findings, AreMeansOverTheSeedsOfTheBest) {
  const Request request = small_request({"one_shot", "small"});
  const Scores scores = all_ended(request, [](const PlannedRun& run) {
    if (run.sample == "default") return 10.0;
    return run.sample == "random-005" ? static_cast<double>(run.seed % 2) : 5.0;
  });
  const std::vector<TunedSetting> found = tuned_settings(request, scores);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].spread.mean, 10);
  EXPECT_EQ(found[1].sample, "random-005");
  EXPECT_EQ(found[1].spread.mean, 0.5);
  EXPECT_DOUBLE_EQ(found[1].spread.deviation, 0.5);
  EXPECT_EQ(found[1].spread.count, 10);
  EXPECT_TRUE(found[1].is_complete);
  EXPECT_EQ(tuned_settings(request, {})[1].sample, "");
}

TEST(SafeName, HasNothingThatFilesMayNotHave) {
  EXPECT_EQ(safe_name("step:30,60:0.1,0.01"), "step-30+60-0.1+0.01");
  EXPECT_EQ(safe_name("cosine@epoch"), "cosine-at-epoch");
}

TEST(Request, SurvivesItsFile) {
  Request request = small_request({"small", "grid"});
  request.grid = {{"learning_rate", {0.1, 0.2}}};
  request.run_options = {{"epochs", "2"}, {"synthetic", ""}};
  request.optimizers[0].space.push_back({"x", {Search::Kind::kOneOf, 0, 0, false, {1, 2}}, 1});
  const Request read = request_from_json(to_json(request));
  EXPECT_TRUE(differences(request, read).empty());
  EXPECT_EQ(to_json(read), to_json(request));
}

TEST(Request, NamesWhatDiffers) {
  const Request request = small_request({"small"});
  const auto lines = [&](const std::function<void(Request&)>& change) {
    Request other = request;
    change(other);
    std::string text;
    for (const std::string& line : differences(request, other)) text += line + "\n";
    return text;
  };
  EXPECT_EQ(lines([](Request& other) {
              other.problems = {"a", "b"};
            }),
            "problems is quadratic_deep but a, b is asked for\n");
  EXPECT_EQ(lines([](Request& other) { other.seed = 1; }), "seed is 42 but 1 is asked for\n");
  EXPECT_EQ(lines([](Request& other) { other.run_options["epochs"] = "3"; }),
            "epochs is not given but 3 is asked for\n");
  EXPECT_EQ(lines([](Request& other) { other.optimizers[0].name = "sgd"; }),
            "optimizers is momentum but sgd is asked for\n");
  EXPECT_NE(
      lines([](Request& other) { other.optimizers[0].space[0].search.low = 1e-3; }).find("version"),
      std::string::npos);
}

TEST(PlannedRunText, IsRefusedIfItsIdLeadsOutOfTheStudy) {
  PlannedRun run = plan_of(small_request({"one_shot"})).front();
  for (const char* id :
       {"../x", "/x", "a/../../x", "a/./x", "a//x", "a/", "", ".", "a/.x", "a\nb"}) {
    run.id = id;
    try {
      planned_run_from_json(to_json(run));
      ADD_FAILURE() << id << " was taken";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("plain names"), std::string::npos) << error.what();
    }
  }
  run.id = "a/b-0.1+c=2/seed-42";
  EXPECT_EQ(planned_run_from_json(to_json(run)).id, run.id);
}

}  // namespace
}  // namespace flightdeck::study
