// SPDX-License-Identifier: MIT
// The catalogue of faults, faults of files, and a bench that is small.
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "run/fault_bench.h"

namespace flightdeck::run {
namespace {

std::string message_of_call(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(FaultCatalogue, NamesCausesThatThereAre) {
  std::set<std::string> causes;
  for (const Cause& cause : cause_catalogue()) causes.insert(cause.name);
  const std::vector<Fault> faults = all_faults();
  EXPECT_GE(faults.size(), 24u);
  for (const Fault& fault : faults) {
    EXPECT_EQ(causes.count(fault.cause), 1u) << fault.name << ": " << fault.cause;
    for (const std::string& also : fault.also) EXPECT_EQ(causes.count(also), 1u) << fault.name;
    EXPECT_NE(fault.summary.back(), '.') << fault.name;
    EXPECT_FALSE(fault.severities.empty()) << fault.name;
  }
}

TEST(FaultCatalogue, HasAFaultForEveryCause) {
  std::set<std::string> injected;
  for (const Fault& fault : all_faults()) injected.insert(fault.cause);
  for (const Cause& cause : cause_catalogue())
    EXPECT_EQ(injected.count(cause.name), 1u) << cause.name;
}

TEST(Subjects, TrainOnTheSameDataForTheSameSeed) {
  for (const Subject& subject : all_subjects()) {
    const Trial one = subject.make(3), same = subject.make(3), other = subject.make(4);
    EXPECT_TRUE(one.inputs.equal(same.inputs)) << subject.name;
    EXPECT_TRUE(one.model.module->parameters()[0].equal(same.model.module->parameters()[0]));
    EXPECT_FALSE(one.inputs.equal(other.inputs)) << subject.name;
    EXPECT_GE(subject.optimizers.size(), 3u) << subject.name;
    const Tensor inputs = one.inputs.slice(0, 0, 4);
    const Tensor losses = one.losses(one.model.forward(inputs), one.targets.slice(0, 0, 4));
    EXPECT_EQ(losses.sizes(), torch::IntArrayRef({4})) << subject.name;
    // It begins at equal odds, or the healthy runs are none.
    EXPECT_LT(losses.mean().item<double>(), 1.6 * std::log(double(one.classes))) << subject.name;
  }
}

TEST(Subjects, OfTheHalvesAreDifferent) {
  std::set<std::string> names;
  int64_t tune = 0, test = 0;
  for (const Subject& subject : all_subjects()) {
    EXPECT_TRUE(names.insert(subject.name).second);
    (subject.split == Split::kTune ? tune : test) += 1;
  }
  EXPECT_GE(tune, 4);
  EXPECT_GE(test, 4);
  EXPECT_NE(message_of_call([] { find_subject("waves_mpl"); }).find("waves_mlp"),
            std::string::npos);
}

class FaultFiles : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "fault.txt"; }
  void TearDown() override { std::filesystem::remove(path_); }
  Fault read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_fault(path_);
  }
  std::string path_;
};

TEST_F(FaultFiles, JoinKnownFaults) {
  const Fault fault = read(
      "# two at once\nname = both\ncause = inputs_not_scaled\nalso = learning_rate_too_high\n"
      "rate_too_high = 30\ninputs_unscaled = 10\n");
  EXPECT_EQ(fault.name, "both");
  EXPECT_EQ(fault.also, std::vector<std::string>{"learning_rate_too_high"});
  Trial trial = find_subject("spots_mlp").make(1);
  trial.hyperparameters["learning_rate"] = 0.1;
  const Tensor before = trial.inputs;
  ASSERT_TRUE(fault.fits(trial));
  fault.inject(trial, 1);
  EXPECT_NEAR(trial.hyperparameters["learning_rate"], 3, 1e-12);
  EXPECT_TRUE(trial.inputs.allclose(before * 10));
}

TEST_F(FaultFiles, AreRefusedWithTheirLine) {
  EXPECT_NE(
      message_of_call([&] { read("name = a\ncause = b\nno_such_fault = 1\n"); }).find("line 3"),
      std::string::npos);
  EXPECT_NE(
      message_of_call([&] { read("name = a\ncause = b\nrate_too_high = fast\n"); }).find("'fast'"),
      std::string::npos);
  EXPECT_NE(message_of_call([&] { read("nonsense\n"); }).find("no '='"), std::string::npos);
  EXPECT_NE(message_of_call([&] { read("name = a\n"); }).find("lacks"), std::string::npos);
  EXPECT_NE(message_of_call([] { read_fault("/no/such/file"); }).find("cannot read"),
            std::string::npos);
}

TEST(FaultBench, CountsWhatARegisteredFaultComesTo) {
  Fault fault;
  fault.name = "fault_of_a_test";
  fault.summary = "A rate that is a thousand times too high";
  fault.cause = "learning_rate_too_high";
  fault.inject = [](Trial& trial, double) {
    trial.hyperparameters["learning_rate"] *= 1000;
    trial.steps = 30;
  };
  register_fault(fault);
  FaultBenchOptions options;
  options.faults = {find_fault("fault_of_a_test")};
  options.subjects = {find_subject("spots_mlp")};
  options.quick = true;
  options.has_healthy = false;
  const FaultBenchResult result = run_fault_bench(options);
  ASSERT_EQ(result.cases.size(), 1u);
  EXPECT_TRUE(result.cases[0].is_detected());
  EXPECT_TRUE(result.cases[0].is_first()) << result.cases[0].causes.at(0);
  EXPECT_EQ(result.total().runs, 1);
  EXPECT_EQ(result.total().first, 1);
  EXPECT_EQ(result.healthy_runs(), 0);
  EXPECT_EQ(result.confusion().at("learning_rate_too_high").at("learning_rate_too_high"), 1);
}

TEST(FaultBench, RefusesNoSeeds) {
  FaultBenchOptions options;
  options.seeds = 0;
  EXPECT_NE(message_of_call([&] { run_fault_bench(options); }).find("options.seeds is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace flightdeck::run
