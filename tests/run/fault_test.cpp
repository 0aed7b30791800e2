// SPDX-License-Identifier: MIT
// The catalogue of faults, faults of files, and a bench that is small.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "run/change.h"
#include "run/fault_bench.h"
#include "run/faulty_run.h"

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
    const FaultyTraining one = subject.make(3), same = subject.make(3), other = subject.make(4);
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

TEST(Subjects, OfThePartsAreDifferent) {
  std::set<std::string> names;
  int64_t tune = 0, test = 0;
  for (const Subject& subject : all_subjects()) {
    EXPECT_TRUE(names.insert(subject.name).second);
    (subject.split == Split::kTune ? tune : test) += 1;
  }
  EXPECT_EQ(tune, 4);
  EXPECT_EQ(test, 8);  // four of them final
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
  FaultyTraining training = find_subject("spots_mlp").make(1);
  training.hyperparameters["learning_rate"] = 0.1;
  const Tensor before = training.inputs;
  ASSERT_TRUE(fault.fits(training));
  fault.inject(training, 1);
  EXPECT_NEAR(training.hyperparameters["learning_rate"], 3, 1e-12);
  EXPECT_TRUE(training.inputs.equal(before)) << "held-out samples go the same way";
  EXPECT_TRUE(training.prepare(before).allclose(before * 10));
}

TEST_F(FaultFiles, DoToInputsOneThingAfterTheOther) {
  const Fault fault =
      read("name = both\ncause = inputs_not_scaled\ninputs_unscaled = 10\ninputs_shifted = 3\n");
  FaultyTraining training = find_subject("spots_mlp").make(1);
  fault.inject(training, 1);
  EXPECT_TRUE(training.prepare(training.inputs).allclose(training.inputs * 10 + 3));
}

TEST_F(FaultFiles, ChangeOneThingALine) {
  const Fault fault = read(
      "name = odd\ncause = bad_initialisation\nof_degree = yes\noptimizer = adam\n"
      "learning_rate_times = 0.5\nbatch_size_times = 0.25\nsteps_times = 0.1\npasses = 3\n"
      "clip = 2\ndecay = 0.01\npenalty = 0.2\ndropout = 0.4\nactivation = tanh\n"
      "weights_times = 3\nweights_plus = 1\ninputs_times = 2\ninputs_plus = 5\n");
  EXPECT_TRUE(fault.is_of_degree);
  const FaultyTraining before = find_subject("spots_mlp").make(1);
  FaultyTraining training = find_subject("spots_mlp").make(1);
  training.hyperparameters["learning_rate"] = 0.1;
  fault.inject(training, 1);
  EXPECT_EQ(training.optimizer, "adam");
  EXPECT_DOUBLE_EQ(training.hyperparameters["learning_rate"], 0.05);
  EXPECT_EQ(training.batch_size, before.batch_size / 4);
  EXPECT_EQ(training.steps, before.steps / 10);
  EXPECT_EQ(training.passes, 3);
  EXPECT_TRUE(training.averages_passes);
  EXPECT_EQ(training.clip, 2);
  EXPECT_EQ(training.decay, 0.01);
  EXPECT_EQ(training.penalty, 0.2);
  EXPECT_EQ(training.parts->dropout, 0.4);
  const Tensor values = torch::linspace(-1, 1, 5);
  EXPECT_TRUE(training.parts->activation(values).equal(values.tanh()));
  const Tensor weights = before.model.module->named_parameters()["hidden1.weight"];
  EXPECT_TRUE(
      training.model.module->named_parameters()["hidden1.weight"].allclose(weights * 3 + 1));
  EXPECT_TRUE(training.prepare(before.inputs).allclose(before.inputs * 2 + 5));
}

TEST_F(FaultFiles, DrawAndPermuteAShareOfTheLabels) {
  const std::string head = "name = odd\ncause = wrong_labels\n";
  const FaultyTraining before = find_subject("spots_mlp").make(1);
  const auto changed = [&](const std::string& line) {
    FaultyTraining training = find_subject("spots_mlp").make(1);
    read(head + line).inject(training, 1);
    return training.targets;
  };
  const auto share = [&](const Tensor& targets) {
    return (targets != before.targets).to(torch::kDouble).mean().item<double>();
  };
  // A tenth of what is drawn or dealt out anew is what it was; 2000 labels scatter by 0.011.
  EXPECT_NEAR(share(changed("labels_drawn = 0.5\n")), 0.45, 0.045);
  const Tensor permuted = changed("labels_permuted = 0.5\n");
  EXPECT_NEAR(share(permuted), 0.45, 0.045);
  EXPECT_TRUE(permuted.bincount().equal(before.targets.bincount()));
}

TEST_F(FaultFiles, HaveTheirOwnSeverities) {
  const Fault fault = read(
      "name = hot\ncause = learning_rate_too_high\nseverities = 2 10 50\n"
      "learning_rate_times = severity\nrate_too_high = 3\n");
  EXPECT_EQ(fault.severities, (std::vector<double>{2, 10, 50}));
  FaultyTraining training = find_subject("spots_mlp").make(1);
  training.hyperparameters["learning_rate"] = 0.1;
  fault.inject(training, 10);
  EXPECT_NEAR(training.hyperparameters["learning_rate"], 3, 1e-12);
}

TEST_F(FaultFiles, FitWhereWhatTheyChangeIsThere) {
  const Fault fault = read("name = a\ncause = wrong_loss\ndropout = 0.5\ninputs_plus = 1\n");
  EXPECT_TRUE(fault.fits(find_subject("spots_mlp").make(1)));
  EXPECT_FALSE(fault.fits(find_subject("spots_logreg").make(1))) << "it has no hidden layer";
  EXPECT_FALSE(fault.fits(find_subject("chain_gpt").make(1))) << "letters are no numbers";
}

TEST_F(FaultFiles, AreRefusedWithTheirLineValueAndRemedy) {
  const auto refused_with = [&](const std::string& text, const std::string& words) {
    const std::string message =
        message_of_call([&] { read("name = a\ncause = wrong_loss\n" + text); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  refused_with("dropout = 1.5\n", "line 3: dropout is 1.5 but must be a number from 0 to 0.999");
  refused_with("passes = 2.5\n", "line 3: passes is 2.5 but must be a whole number from 1 to 1000");
  refused_with("severities = 0.5 2\ndropout = severity\n", "line 4: dropout is 2 but must be");
  refused_with("severities = 1 2\nclip = 1\n", "no line has the value severity");
  refused_with("severities =\nclip = severity\n", "line 3: there are no severities");
  refused_with("of_degree = perhaps\nclip = 1\n", "line 3: of_degree is 'perhaps'; give yes");
  refused_with("activation = tan\n", "line 3 'tan'; did you mean 'tanh'?");
  refused_with("optimizer = adan\n", "line 3 'adan'; did you mean 'adam'?");
  refused_with("learning_rate = 3\n", "learning_rate_times");
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

TEST_F(FaultFiles, AreRefusedWhereTheyWouldDoHarm) {
  const auto refused_with = [&](const std::string& text, const char* words) {
    const std::string message = message_of_call([&] { read(text); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  const std::string rest = "\nrate_too_high = 2\n";
  refused_with("name = ../../up\ncause = wrong_loss" + rest, "../../up");
  refused_with("name = a\ncause = wrong_los" + rest, "wrong_loss");
  refused_with("name = a\ncause = wrong_loss\nalso = nothing" + rest, "nothing");
  refused_with(std::string(1 << 17, '#'), "more than 65536 bytes");
  refused_with("name = a\ncause = wrong_loss\nrate_too_high = nan\n", "not a number");
  EXPECT_NE(message_of_call([] { read_fault(testing::TempDir()); }).find("cannot read"),
            std::string::npos);
}

// ---- changes ------------------------------------------------------------------------------------

TEST(Changes, AreThereForEveryCause) {
  std::set<std::string> named;
  for (const Cause& cause : cause_catalogue()) {
    EXPECT_FALSE(cause.changes.empty()) << cause.name;
    for (const std::string& name : cause.changes) {
      EXPECT_NE(find_change(name), nullptr) << cause.name << ": " << name;
      named.insert(name);
    }
  }
  for (const Change& change : all_changes()) EXPECT_EQ(named.count(change.name), 1u) << change.name;
}

TEST(Changes, LeaveAHealthyTrainingOneThatRuns) {
  for (const Change& change : all_changes()) {
    for (const char* name : {"spots_mlp", "chain_gpt"}) {
      const Subject subject = find_subject(name);
      const FaultyTraining source = subject.make(3);
      FaultyTraining training = subject.make(3);
      change.apply(training, 0, source);
      const Tensor outputs = training.model.forward(training.inputs.slice(0, 0, 4));
      const Tensor losses = training.losses(outputs, training.targets.slice(0, 0, 4));
      EXPECT_TRUE(losses.isfinite().all().item<bool>()) << change.name;
    }
  }
}

TEST(Changes, EndAForgottenTrainAndALossScale) {
  for (const auto& [name, change] : {std::make_pair("forgotten_train", "training_mode"),
                                     std::make_pair("loss_scale_too_small", "loss_scale")}) {
    const FaultyTraining source = find_subject("spots_mlp").make(3);
    FaultyTraining trial = find_subject("spots_mlp").make(3);
    find_fault(name).inject(trial, 0.5);
    EXPECT_TRUE(trial.forgets_train_at > 0 || trial.loss_scale != 1) << name;
    find_change(change)->apply(trial, 0, source);
    EXPECT_EQ(trial.forgets_train_at, -1);
    EXPECT_EQ(trial.loss_scale, 1);
  }
}

TEST(Faults, OfLossScalesThatLoseNoDigitChangeNothing) {
  const auto trained = [](double scale) {
    FaultyTraining trial = find_subject("spots_mlp").make(3);
    trial.hyperparameters["learning_rate"] = 0.1;
    trial.steps = 5;
    trial.loss_scale = scale;
    FaultyRun run(trial, "", {});
    run.go_on(5);
    return run.losses();
  };
  EXPECT_EQ(trained(0x1p-20), trained(1)) << "a power of two is exact";
}

TEST(FaultBench, CountsWhatARegisteredFaultComesTo) {
  Fault fault;
  fault.name = "fault_of_a_test";
  fault.summary = "A rate that is a thousand times too high";
  fault.cause = "learning_rate_too_high";
  fault.inject = [](FaultyTraining& training, double) {
    training.hyperparameters["learning_rate"] *= 1000;
    training.steps = 30;
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

// A bench of a few steps in a folder of its own.
class SmallBench : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "small_bench";
    std::filesystem::remove_all(folder_);
    options_.subjects = {find_subject("spots_mlp")};
    options_.faults = {find_fault("softmax_twice")};
    options_.quantities = {"loss", "wiring", "logits"};
    options_.quick = true;
    options_.steps = 12;
    options_.folder = folder_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  FaultBenchOptions options_;
};

TEST_F(SmallBench, GoesOnWhereItWasEnded) {
  int64_t asked = 0;
  options_.is_stop_wanted = [&] { return ++asked > 2; };
  const FaultBenchResult begun = run_fault_bench(options_);
  ASSERT_EQ(begun.cases.size(), 2u);
  // A process that was killed leaves a line that ends anywhere.
  std::ofstream(folder_ + "/cases-0.jsonl", std::ios::app) << "{\"problem\":\"spo";
  options_.is_stop_wanted = nullptr;
  const FaultBenchResult whole = run_fault_bench(options_);
  ASSERT_EQ(whole.cases.size(), 4u);
  for (size_t k = 0; k < 2; ++k) EXPECT_EQ(whole.cases[k].seconds, begun.cases[k].seconds);
  EXPECT_EQ(read_cases(folder_).size(), 4u);
}

TEST_F(SmallBench, MeasuresWhatWatchingCostsOnHealthyTrainings) {
  const FaultBenchResult result = run_fault_bench(options_);
  for (const FaultCase& one : result.cases) {
    EXPECT_GT(one.watched_seconds, 0) << one.key();
    EXPECT_LT(one.watched_seconds, one.seconds) << one.key();
    EXPECT_EQ(one.plain_seconds > 0, one.is_healthy()) << one.key();
  }
  EXPECT_GT(result.watching_cost(), 0);
  EXPECT_TRUE(std::isnan(FaultBenchResult().watching_cost()));
}

TEST_F(SmallBench, HasPartsThatAreTogetherTheWhole) {
  options_.parts = 2;
  const size_t first = run_fault_bench(options_).cases.size();
  options_.part = 1;
  EXPECT_EQ(first + run_fault_bench(options_).cases.size(), 4u);
  EXPECT_EQ(read_cases(folder_).size(), 4u);
  options_.part = 2;
  EXPECT_NE(message_of_call([&] { run_fault_bench(options_); }).find("options.part is 2"),
            std::string::npos);
}

TEST_F(SmallBench, DiagnosesKeptRecordsAnew) {
  options_.has_healthy = false;
  options_.keeps_records = true;
  const FaultBenchResult before = run_fault_bench(options_);
  options_.only_diagnoses = true;
  const FaultBenchResult again = run_fault_bench(options_);
  ASSERT_EQ(again.cases.size(), 1u);
  EXPECT_EQ(again.cases[0].causes, before.cases[0].causes);
  EXPECT_EQ(again.cases[0].seconds, before.cases[0].seconds);
  options_.folder.clear();
  EXPECT_NE(message_of_call([&] { run_fault_bench(options_); }).find("needs options.folder"),
            std::string::npos);
}

TEST_F(SmallBench, FollowsTheAdviceAndCountsWhatIsMended) {
  options_.has_healthy = false;
  options_.follows = true;
  options_.steps = 60;
  const FaultBenchResult result = run_fault_bench(options_);
  const FaultCase& one = result.cases.at(0);
  EXPECT_TRUE(one.is_first());
  ASSERT_TRUE(one.is_harmed()) << one.accuracy << " of " << one.healthy_accuracy;
  EXPECT_EQ(one.followed.changes, std::vector<std::string>{"outputs"});
  // Without the softmax it is the healthy training, to the bit.
  EXPECT_EQ(one.followed.accuracy, one.healthy_accuracy);
  EXPECT_TRUE(one.is_mended_at_once());
  EXPECT_EQ(result.total().mended_alone, 1);
}

TEST_F(SmallBench, LeavesOutMattersOfDegreeThatDoNoHarm) {
  Fault fault = find_fault("rate_too_high");
  fault.severities = {1};
  options_.faults = {fault};
  options_.has_healthy = false;
  const FaultBenchResult result = run_fault_bench(options_);
  EXPECT_EQ(result.cases.at(0).accuracy, result.cases.at(0).healthy_accuracy);
  EXPECT_EQ(result.total().runs, 0);
  EXPECT_EQ(result.total().harmless, 1);
}

TEST(FaultCases, AreReadAsTheyWereWritten) {
  const std::string folder = testing::TempDir() + "fault_cases";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  FaultCase one;
  one.subject = "spots_mlp";
  one.fault = one.cause = "softmax_twice";
  one.also = {"wrong_loss"};
  one.severity = 0.1;
  one.seed = 7;
  one.verdict = Verdict::kFault;
  one.causes = {"softmax_twice"};
  one.lamps = {{"softmax_twice", Severity::kWarning}};
  one.last_loss = std::nan("");
  one.watched_seconds = 0.5;
  one.plain_seconds = 0.25;
  one.is_followed = true;
  one.followed.changes = {"outputs"};
  CaseFile(folder + "/cases-3.jsonl").add(one);
  const std::vector<FaultCase> read = read_cases(folder);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(line_of(read[0]), line_of(one));
  EXPECT_EQ(read[0].key(), "spots_mlp--softmax_twice-0.1-7");
  EXPECT_NE(message_of_call([] { read_cases("/no/such/folder"); }).find("/no/such/folder"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(FaultBench, NamesTheFaultThatCannotBeInjected) {
  FaultBenchOptions options;
  Fault fault = find_fault("class_imbalance");
  fault.severities = {-3};
  options.faults = {fault};
  options.subjects = {find_subject("spots_logreg")};
  options.quick = true;
  options.has_healthy = false;
  const std::string message = message_of_call([&] { run_fault_bench(options); });
  EXPECT_NE(message.find("class_imbalance cannot be injected"), std::string::npos) << message;
}

TEST(FaultBench, RefusesNoSeeds) {
  FaultBenchOptions options;
  options.seeds = 0;
  EXPECT_NE(message_of_call([&] { run_fault_bench(options); }).find("options.seeds is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace flightdeck::run
