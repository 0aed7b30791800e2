// SPDX-License-Identifier: MIT
#include "run/watched_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "flightdeck/record.h"
#include "run/checkpoint.h"
#include "run/final_parameters.h"
#include "run/kept_models.h"
#include "suite/problem.h"
#include "tests/errors.h"

namespace flightdeck::run {
namespace {

namespace fs = std::filesystem;
using tests::expect_error;

// Says what it was told, one word each.
class Listener : public RunObserver {
 public:
  void started(const RunFacts& facts) override {
    first_step = facts.first_step;
    heard.push_back("started");
  }
  void step_done(int64_t step, const std::function<BatchScore()>& score) override {
    last_step = step;
    last_loss = score().loss;
  }
  void evaluation_begins(int64_t) override { heard.push_back("evaluating"); }
  void evaluation_done(int64_t, const Scores& scores) override {
    heard.push_back("evaluated");
    last_scores = scores;
  }
  void warning(const RunWarning& warning) override { warnings.push_back(warning.text); }
  void ended(const RunEnd&) override { heard.push_back("ended"); }

  std::vector<std::string> heard, warnings;
  int64_t first_step = -1, last_step = -1;
  double last_loss = 0;
  Scores last_scores;
};

class WatchedRunTest : public testing::Test {
 protected:
  WatchedRunTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-run-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~WatchedRunTest() override { fs::remove_all(folder_); }

  RunOptions options(const std::string& name) const {
    RunOptions options;
    options.training.problem = "quadratic_deep";
    options.training.steps = 12;
    options.training.batch_size = 64;
    options.tracking = tracked_preset("economy", DueSteps::every(3));
    options.folder = folder_ + "/" + name;
    return options;
  }

  std::string folder_;
};

// All but the time that it took.
std::string text_of(study::Outcome outcome) {
  outcome.training_seconds = outcome.seconds = 0;
  return study::to_json(outcome);
}

TEST_F(WatchedRunTest, TrainsRecordsAndLeavesAnOutcome) {
  Listener listener;
  const RunEnd end = WatchedRun(options("first"), &listener).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_EQ(end.steps, 12);
  EXPECT_TRUE(end.has_outcome);
  EXPECT_FALSE(end.has_checkpoint);
  EXPECT_EQ(listener.heard.front(), "started");
  EXPECT_EQ(listener.heard.back(), "ended");
  EXPECT_EQ(listener.last_step, 11);
  EXPECT_DOUBLE_EQ(listener.last_loss, end.last_batch.loss);
  EXPECT_EQ(listener.last_scores, end.scores);
  EXPECT_TRUE(listener.warnings.empty());

  const study::Outcome outcome = study::read_outcome(end.folder);
  EXPECT_EQ(outcome.steps, 12);
  EXPECT_EQ(outcome.test.loss.back(), end.scores.at("test_loss"));
  const RunReader record(end.folder);
  EXPECT_EQ(record.info().config.at("problem"), "quadratic_deep");
  EXPECT_NE(record.find("grad_norm"), nullptr);
}

TEST_F(WatchedRunTest, RecordsWhatIsFreeAtEveryStep) {
  const RunEnd end = WatchedRun(options("every")).execute();
  const RunReader record(end.folder);
  for (const char* name : {"loss", "learning_rate", "time"}) {
    EXPECT_EQ(record.find(name)->count, 12) << name;
  }
  EXPECT_EQ(record.find("grad_norm")->count, 4);
}

TEST_F(WatchedRunTest, KeepsWhoWasMisclassifiedAndWhatSamplesLookLike) {
  RunOptions options = this->options("named");
  options.training.problem = "mnist_logreg";
  options.training.data.synthetic = true;
  options.training.data.limit = 128;
  options.training.batch_size = 32;
  options.training.steps = 4;
  track(options.tracking, quantity("sample_outliers").every(3));
  const RunEnd end = WatchedRun(options).execute();
  const RunReader record(end.folder);
  const auto list = [&](const char* quantity, const char* field) {
    const auto series = record.find(quantity, "", field);
    return series ? record.readings(series->id).back().second.list : std::vector<double>();
  };
  const double wrong = record.numbers(record.find("misclassified")->id).back().value;
  EXPECT_NEAR(wrong, 128 * (1 - end.scores.at("test_accuracy")), 1e-3);
  const std::vector<double> ids = list("misclassified", "ids");
  EXPECT_EQ(ids.size(), static_cast<size_t>(std::min(wrong, 48.0)));
  EXPECT_EQ(list("misclassified", "losses").size(), ids.size());
  const std::vector<double> pictures = list("sample_pictures", "misclassified");
  const size_t shown = std::min<size_t>(ids.size(), 24);
  ASSERT_EQ(pictures.size(), 3 + shown * 28 * 28);
  EXPECT_EQ(std::vector<double>(pictures.begin(), pictures.begin() + 3),
            std::vector<double>({static_cast<double>(shown), 28, 28}));
  EXPECT_EQ(list("sample_outliers", "ids").size(), 5u);
  EXPECT_EQ(list("sample_outliers", "predictions").size(), 5u);
  EXPECT_EQ(list("sample_pictures", "sample_outliers").size(), 3u + 5 * 28 * 28);
}

TEST_F(WatchedRunTest, KeepsConfusedClassesAndFinalParameters) {
  RunOptions options = this->options("classes");
  options.training.problem = "mnist_logreg";
  options.training.data.synthetic = true;
  options.training.data.limit = 128;
  options.training.batch_size = 32;
  options.training.steps = 4;
  const RunEnd end = WatchedRun(options).execute();
  const RunReader record(end.folder);
  const auto last = [&](const char* quantity, const char* group, const char* field) {
    return record.readings(record.find(quantity, group, field)->id).back().second;
  };
  const Reading confusion = last("misclassified", "", "confusion");
  ASSERT_EQ(confusion.counts.size(), 100u);
  int64_t all = 0, right = 0;
  for (size_t cell = 0; cell < 100; ++cell) {
    all += confusion.counts[cell];
    if (cell % 11 == 0) right += confusion.counts[cell];
  }
  EXPECT_EQ(all, 128);
  EXPECT_NEAR(static_cast<double>(right), 128 * end.scores.at("test_accuracy"), 1e-3);

  const Reading parameters = last("final_parameters", "", "");
  const auto entries = [](const Reading& histogram) {
    return std::accumulate(histogram.counts.begin(), histogram.counts.end(), int64_t{0});
  };
  EXPECT_EQ(entries(parameters), 7850);
  EXPECT_EQ(parameters.not_a_number, 0);
}

TEST(FinalParameters, AreCountedByModuleAndWhatIsNotFiniteApart) {
  const at::Tensor weight = at::tensor({-2.0, 0.5, 1.0, NAN}), bias = at::tensor({INFINITY, 0.0});
  const std::vector<NamedParameter> parameters = {
      {"a.weight", weight}, {"a.bias", bias}, {"b.weight", at::full({3}, 2.0)}, {"lone", bias}};
  const std::vector<Reading> readings = final_parameter_readings(parameters);
  ASSERT_EQ(readings.size(), 4u);
  const auto entries = [](const Reading& histogram) {
    return std::accumulate(histogram.counts.begin(), histogram.counts.end(), int64_t{0});
  };
  EXPECT_EQ(readings[0].group, "");
  EXPECT_EQ(entries(readings[0]), 8);
  EXPECT_EQ(readings[0].not_a_number, 3);
  EXPECT_EQ(readings[0].axes[0].high, 2.0);
  EXPECT_EQ(readings[1].group, "a");
  EXPECT_EQ(entries(readings[1]), 4);
  EXPECT_EQ(readings[1].not_a_number, 2);
  EXPECT_EQ(readings[1].counts.front(), 1);
  EXPECT_EQ(readings[2].group, "b");
  EXPECT_EQ(readings[2].counts.back(), 3);
  EXPECT_EQ(readings[3].group, "lone");
  const std::vector<NamedParameter> zero = {{"zero", at::zeros({3})}};
  EXPECT_TRUE(final_parameter_readings(zero).empty());
}

TEST_F(WatchedRunTest, KeepsModelsBeforeTheStepsAskedFor) {
  RunOptions options = this->options("models");
  options.training.steps = 6;
  options.keep_models = DueSteps::parse("at 0,2,6,9");
  const RunEnd end = WatchedRun(options).execute();
  EXPECT_EQ(kept_steps(end.folder), std::vector<int64_t>({0, 2, 6}));
  Training again(options.training);
  while (again.next_step() < 2) again.step();
  const suite::Model model = again.problem().build();
  load_kept_model(end.folder, 2, *model.module);
  const auto kept = model.module->named_parameters(),
             own = again.model().module->named_parameters();
  for (const auto& entry : own) EXPECT_TRUE(entry.value().equal(kept[entry.key()]));

  expect_error([&] { load_kept_model(end.folder, 3, *model.module); }, {"step_00000003.pt"});
  const suite::Model other = suite::find_problem("mnist_logreg").build();
  expect_error([&] { load_kept_model(end.folder, 2, *other.module); },
               {"build the model of the run"});
  EXPECT_TRUE(kept_steps(end.folder + "/nowhere").empty());
}

TEST_F(WatchedRunTest, TellsThatModelsCannotBeKeptAndGoesOn) {
  RunOptions options = this->options("no_models");
  fs::create_directories(options.folder);
  std::ofstream(options.folder + "/models") << "a file in the place of the folder";
  options.keep_models = DueSteps::parse("every 2");
  Listener listener;
  const RunEnd end = WatchedRun(options, &listener).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_NE(listener.warnings[0].find("/models"), std::string::npos);
}

TEST_F(WatchedRunTest, GoesOnToTheBitWhereItWasStopped) {
  const RunEnd whole = WatchedRun(options("whole")).execute();

  RunOptions parted = options("parted");
  Listener first, second;
  parted.is_stop_wanted = [&first] { return first.last_step >= 4; };
  const RunEnd stopped = WatchedRun(parted, &first).execute();
  EXPECT_EQ(stopped.ending, Ending::kInterrupted);
  EXPECT_TRUE(stopped.has_checkpoint);
  EXPECT_FALSE(ended_run(parted).has_value());

  parted.is_stop_wanted = nullptr;
  parted.resume = true;
  const RunEnd finished = WatchedRun(parted, &second).execute();
  EXPECT_EQ(finished.ending, Ending::kFinished);
  EXPECT_EQ(second.first_step, 5);
  EXPECT_EQ(finished.scores, whole.scores);
  EXPECT_EQ(text_of(study::read_outcome(finished.folder)),
            text_of(study::read_outcome(whole.folder)));
  EXPECT_TRUE(ended_run(parted).has_value());
}

TEST_F(WatchedRunTest, TrainsAProblemOfTheCallersOwn) {
  suite::Problem problem = suite::find_problem("quadratic_deep");
  problem.name = "mine";
  const RunEnd end = WatchedRun(problem, options("mine")).execute();
  EXPECT_EQ(study::read_outcome(end.folder).setting.problem, "mine");
}

TEST_F(WatchedRunTest, EndsAsDivergedWithoutThrowing) {
  RunOptions diverging = options("diverging");
  diverging.training.hyperparameters["learning_rate"] = 1e30;
  const RunEnd end = WatchedRun(diverging).execute();
  EXPECT_EQ(end.ending, Ending::kDiverged);
  EXPECT_GE(end.diverged_at, 0);
  EXPECT_FALSE(end.went_on);
}

TEST_F(WatchedRunTest, EndsWithTheStepWhoseLossIsNotFinite) {
  RunOptions diverging = options("diverging");
  diverging.training.hyperparameters["learning_rate"] = 1e30;
  const RunEnd end = WatchedRun(diverging).execute();
  EXPECT_EQ(end.steps, end.diverged_at + 1);
  EXPECT_EQ(end.scores_step, 0) << "what diverged is not evaluated";
  const study::Outcome outcome = study::read_outcome(end.folder);
  EXPECT_EQ(outcome.steps, end.steps);
  EXPECT_EQ(outcome.diverged_at, end.diverged_at);
  EXPECT_FALSE(end.has_checkpoint);
  EXPECT_TRUE(ended_run(diverging).has_value());
}

TEST_F(WatchedRunTest, GoesOnAfterALossThatIsNotFiniteIfAsked) {
  RunOptions diverging = options("diverging");
  diverging.training.hyperparameters["learning_rate"] = 1e30;
  diverging.keep_going = true;
  const RunEnd end = WatchedRun(diverging).execute();
  EXPECT_EQ(end.ending, Ending::kDiverged);
  EXPECT_TRUE(end.went_on);
  EXPECT_EQ(end.steps, 12);
}

TEST_F(WatchedRunTest, RefusesToGoOnWithAnotherRunInWordsOfTheApi) {
  RunOptions first = options("one");
  Listener listener;
  first.is_stop_wanted = [&] { return listener.last_step >= 2; };
  WatchedRun(first, &listener).execute();
  RunOptions other = options("one");
  other.resume = true;
  other.training.seed = 7;
  expect_error([&] { WatchedRun run(other); },
               {"options.resume", "seed is 7 but was 42", "choose another folder"});
}

TEST_F(WatchedRunTest, WantsAFolder) {
  RunOptions nowhere = options("nowhere");
  nowhere.folder.clear();
  expect_error([&] { WatchedRun run(nowhere); }, {"options.folder is empty"});
}

}  // namespace
}  // namespace flightdeck::run
