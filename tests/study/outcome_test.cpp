// SPDX-License-Identifier: MIT
#include "study/outcome.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/whole_file.h"
#include "study/files.h"
#include "tests/study/folders.h"

namespace flightdeck::study {
namespace {

Outcome an_outcome() {
  Outcome outcome;
  outcome.setting = {
      "mnist_mlp", "adam", "cosine", {{"learning_rate", 0.1}, {"beta1", 0.9}}, 64, 2};
  outcome.seed = ~uint64_t{0};
  outcome.ending = Ending::kDiverged;
  outcome.diverged_at = 17;
  outcome.steps = 20;
  outcome.steps_per_epoch = 10;
  outcome.reported_epoch = 2;
  outcome.evaluated = {0, 1, 2};
  outcome.train = {{2.5, 1.0 / 3, std::numeric_limits<double>::quiet_NaN()}, {0.1, 0.5, 0.25}};
  outcome.valid = outcome.train;
  outcome.test = {{2.5, 1.0, std::numeric_limits<double>::infinity()}, {}};
  outcome.batch_loss_every = 10;
  outcome.batch_losses = {2.5, 1.5};
  outcome.training_seconds = 1.25;
  outcome.seconds = 1.5;
  outcome.is_synthetic = true;
  outcome.version = "1.2.3";
  outcome.tags = {{"sample", "random-007"}};
  return outcome;
}

TEST(Outcome, SurvivesItsFileWithoutALossOfDigits) {
  const TemporaryFolder folder;
  const Outcome written = an_outcome();
  write_outcome(folder.path() + "/deep/down", written);
  const Outcome read = read_outcome(folder.path() + "/deep/down");
  EXPECT_EQ(read.setting, written.setting);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.ending, Ending::kDiverged);
  EXPECT_EQ(read.diverged_at, 17);
  EXPECT_EQ(read.steps, 20);
  EXPECT_EQ(read.steps_per_epoch, 10);
  EXPECT_EQ(read.reported_epoch, 2);
  EXPECT_EQ(read.evaluated, written.evaluated);
  EXPECT_EQ(read.train.loss[1], written.train.loss[1]);
  EXPECT_TRUE(std::isnan(read.train.loss[2]));
  EXPECT_EQ(read.valid.accuracy, written.valid.accuracy);
  EXPECT_TRUE(read.test.accuracy.empty());
  EXPECT_FALSE(std::isfinite(read.test.loss[2]));
  EXPECT_EQ(read.batch_losses, written.batch_losses);
  EXPECT_EQ(read.version, "1.2.3");
  EXPECT_EQ(read.training_seconds, 1.25);
  EXPECT_EQ(read.seconds, 1.5);
  EXPECT_TRUE(read.is_synthetic);
  EXPECT_EQ(read.tags, written.tags);
}

TEST(Outcome, OfASettingThatDiffersInOneNumberIsOfAnotherSetting) {
  Setting setting = an_outcome().setting;
  EXPECT_EQ(setting, an_outcome().setting);
  setting.hyperparameters["beta1"] = 0.8;
  EXPECT_NE(setting, an_outcome().setting);
}

TEST(Outcome, RefusesCurvesThatAreTooShort) {
  Outcome outcome = an_outcome();
  outcome.test.loss.pop_back();
  try {
    outcome_from_json(to_json(outcome));
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "test loss has 2 values but there are 3 evaluations");
  }
}

TEST(Outcome, NamesTheFileThatIsNone) {
  const TemporaryFolder folder;
  replace_file(outcome_file(folder.path()), "{\"format\": 1}");
  try {
    read_outcome(folder.path());
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(outcome_file(folder.path())), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("problem"), std::string::npos);
  }
  EXPECT_THROW(read_outcome(folder.path() + "/none"), std::runtime_error);
}

TEST(Outcome, OfAnotherFormatIsRefused) {
  std::string text = to_json(an_outcome());
  text.replace(text.find("\"format\":1"), 10, "\"format\":2");
  EXPECT_THROW(outcome_from_json(text), std::runtime_error);
}

TEST(Outcome, OfAnotherSortThanWrittenIsRefused) {
  const auto message_with = [](const std::string& key, const std::string& value) {
    std::string text = to_json(an_outcome());
    const size_t place = text.find("\"" + key + "\":") + key.size() + 3;
    text.replace(place, text.find_first_of(",}", place) - place, value);
    try {
      outcome_from_json(text);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message_with("steps", "1e300"), "steps is 1e+300, not a whole number below 2^63");
  EXPECT_EQ(message_with("steps", "18446744073709551615").substr(0, 8), "steps is");
  EXPECT_EQ(message_with("seed", "-1"), "seed is -1, not a whole number from 0 on");
  EXPECT_EQ(message_with("steps", std::string(40, '[') + std::string(40, ']')),
            "it is nested 41 deep, more than 32");
}

TEST(Outcome, IsNotReadFromAFifo) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() + "/outcome.json").c_str(), 0600), 0);
  std::vector<std::string> problems;
  EXPECT_TRUE(find_outcomes(folder.path(), problems).empty());
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("is a FIFO"), std::string::npos) << problems[0];
}

TEST(FindOutcomes, ReadsFoldersInOrderAndTellsOfFilesThatAreNone) {
  const TemporaryFolder folder;
  Outcome outcome = an_outcome();
  outcome.seed = 2;
  write_outcome(folder.path() + "/b", outcome);
  outcome.seed = 1;
  write_outcome(folder.path() + "/a/x", outcome);
  replace_file(outcome_file(folder.path() + "/c"), "no json");
  std::vector<std::string> problems;
  const std::vector<Outcome> found = find_outcomes(folder.path(), problems);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].seed, 1u);
  EXPECT_EQ(found[1].seed, 2u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("/c/outcome.json"), std::string::npos);
}

TEST(FindOutcomes, ReadsAFileWithOneToALine) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/all.jsonl";
  const std::string line = to_json(an_outcome());
  replace_file(path, line + "\n\nbroken\n" + line + "\n");
  std::vector<std::string> problems;
  EXPECT_EQ(find_outcomes(path, problems).size(), 2u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].rfind(path + ":3: ", 0), 0u);
}

TEST(ReplaceFile, LeavesNothingBesideTheFile) {
  const TemporaryFolder folder;
  replace_file(folder.path() + "/file", "one");
  replace_file(folder.path() + "/file", "two");
  EXPECT_EQ(read_file(folder.path() + "/file"), "two");
  const std::filesystem::directory_iterator entries(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

}  // namespace
}  // namespace flightdeck::study
