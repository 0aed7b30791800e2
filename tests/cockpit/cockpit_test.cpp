// SPDX-License-Identifier: MIT
#include "flightdeck/cockpit.h"

#include <cmath>

#include "cockpit/loop.h"
#include "errors.h"

namespace flightdeck::tests {
namespace {

class CockpitTest : public SeededTest {};

// The example of the documentation: a quantity of the user's own.
Quantity grad_max() {
  return Quantity("grad_max")
      .summary("Largest entry of the mini-batch gradient")
      .needs(Need::kMean)
      .compute([](const StepView& step) -> Value {
        Tensor largest = torch::zeros({}, doubles());
        for (const auto& p : step.gradients().parameters) {
          largest = torch::maximum(largest, p.mean.abs().max());
        }
        return largest;
      });
}

Quantity update_norm() {
  return Quantity("update_norm").after_update([](const UpdateView& update) {
    return Value(update.squared_update().sqrt());
  });
}

Quantity line_length() {
  return Quantity("line")
      .needs([] {
        StepNeeds needs;
        needs.chord = true;
        return needs;
      }())
      .after_next([](const ChordView& line) {
        return Value(line.length)
            .with("loss0", line.loss[0])
            .with("loss1", line.loss[1])
            .with("slope0", line.slope[0])
            .with("slope1", line.slope[1]);
      });
}

Quantity failing() {
  return Quantity("failing").compute(
      [](const StepView&) -> Value { TORCH_CHECK(false, "it broke"); });
}

TEST_F(CockpitTest, ComputesAQuantityOfTheUser) {
  Loop loop;
  Listened run(loop.parameters(), {grad_max()}, /*strict=*/true);
  loop.step(*run.cockpit, 0);
  double expected = 0;
  for (const Tensor& parameter : loop.net->parameters()) {
    expected = std::max(expected, parameter.grad().abs().max().item<double>());
  }
  EXPECT_NEAR(run.memory->number(0, "grad_max"), expected, 1e-12);
}

TEST_F(CockpitTest, FollowsTheScheduleOfEachQuantity) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss").every(2), grad_max().every(3)}, true);
  for (int64_t step = 0; step < 7; ++step) {
    loop.step(*run.cockpit, step);
    run.cockpit->flush();
    EXPECT_EQ(run.memory->find(step, "loss") != nullptr, step % 2 == 0);
    EXPECT_EQ(run.memory->find(step, "grad_max") != nullptr, step % 3 == 0);
    EXPECT_EQ(run.cockpit->is_due(step), step % 2 == 0 || step % 3 == 0);
  }
}

TEST_F(CockpitTest, IsInactiveWhenNothingIsDue) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss").every(2)}, true);
  const Tensor losses = loop.losses();
  EXPECT_TRUE(run.cockpit->watch(0, losses).is_active());
  EXPECT_FALSE(run.cockpit->watch(1, losses).is_active());
}

TEST_F(CockpitTest, TellsTheUpdateAtTheNextStep) {
  Loop loop;
  Listened run(loop.parameters(), {update_norm().every(2)}, true);
  std::vector<Tensor> before, after;
  for (int64_t step = 0; step < 4; ++step) {
    before.push_back(torch::nn::utils::parameters_to_vector(loop.net->parameters()).detach());
    loop.step(*run.cockpit, step);
    after.push_back(torch::nn::utils::parameters_to_vector(loop.net->parameters()).detach());
  }
  for (const int64_t step : {0, 2}) {
    EXPECT_NEAR(run.memory->number(step, "update_norm"),
                (after[step] - before[step]).norm().item<double>(),
                1e-12);
  }
  EXPECT_EQ(run.memory->find(1, "update_norm"), nullptr);
  EXPECT_EQ(run.memory->find(3, "update_norm"), nullptr);
}

TEST_F(CockpitTest, TellsLossAndSlopeAtBothEndsOfTheUpdate) {
  Loop loop;
  Listened run(loop.parameters(), {line_length().every(3)}, true);
  std::vector<Tensor> places, gradients;
  std::vector<double> losses;
  for (int64_t step = 0; step < 5; ++step) {
    places.push_back(torch::nn::utils::parameters_to_vector(loop.net->parameters()).detach());
    losses.push_back(loop.step(*run.cockpit, step).mean().item<double>());
    std::vector<Tensor> flat;
    for (const Tensor& p : loop.net->parameters()) flat.push_back(p.grad().reshape({-1}).clone());
    gradients.push_back(torch::cat(flat));
  }
  for (const int64_t k : {0, 3}) {
    const Tensor update = places[k + 1] - places[k];
    const double length = update.norm().item<double>();
    EXPECT_NEAR(run.memory->number(k, "line"), length, 1e-12);
    EXPECT_NEAR(run.memory->number(k, "line", "", "loss0"), losses[k], 1e-12);
    EXPECT_NEAR(run.memory->number(k, "line", "", "loss1"), losses[k + 1], 1e-12);
    EXPECT_NEAR(run.memory->number(k, "line", "", "slope0"),
                gradients[k].dot(update).item<double>() / length,
                1e-12);
    EXPECT_NEAR(run.memory->number(k, "line", "", "slope1"),
                gradients[k + 1].dot(update).item<double>() / length,
                1e-12);
  }
}

TEST_F(CockpitTest, SwitchesAFailingQuantityOffAndGoesOn) {
  Loop loop;
  Listened run(loop.parameters(), {failing(), quantity("loss")});
  for (int64_t step = 0; step < 3; ++step) loop.step(*run.cockpit, step);
  run.cockpit->flush();
  ASSERT_EQ(run.memory->notes().size(), 1u);
  const Note& note = run.memory->notes()[0];
  EXPECT_EQ(note.kind, NoteKind::kSwitchedOff);
  EXPECT_EQ(note.quantity, "failing");
  EXPECT_EQ(note.step, 0);
  expect_mentions(note.text, {"it broke"});
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"failing failed at step 0", "it broke"});
  EXPECT_NE(run.memory->find(2, "loss"), nullptr);
}

TEST_F(CockpitTest, ThrowsWhatFailedIfStrict) {
  Loop loop;
  Listened run(loop.parameters(), {failing()}, /*strict=*/true);
  expect_error([&] { loop.step(*run.cockpit, 0); }, {"it broke"});
}

TEST_F(CockpitTest, SwitchesOffOnlyWhomAFailingPassConcerns) {
  torch::nn::Sequential net = on_device(torch::nn::Sequential(
      torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(3, 2)));
  Listened run(net->named_parameters(), {grad_max(), quantity("loss")});
  const Tensor losses = losses_of(net->forward(random({5, 4})));
  {
    const StepWatch watch = run.cockpit->watch(0, losses);
    losses.mean().backward();
  }
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
  EXPECT_EQ(run.memory->find(0, "grad_max"), nullptr);
  ASSERT_EQ(run.memory->notes().size(), 1u);
  expect_mentions(run.memory->notes()[0].text,
                  {"individual gradients", "batch norm|batch_norm|BatchNorm"});
}

TEST_F(CockpitTest, KeepsWhatNeedsNoIndividualGradientsWhereTheseAreRefused) {
  torch::nn::Sequential net = on_device(torch::nn::Sequential(
      torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(3, 2)));
  Listened run(net->named_parameters(), {quantity("grad_norm"), quantity("norm_test")});
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const Tensor losses = losses_of(net->forward(random({5, 4})));
    {
      const StepWatch watch = run.cockpit->watch(step, losses);
      losses.mean().backward();
    }
    double squares = 0;
    for (const Tensor& p : net->parameters()) squares += p.grad().square().sum().item<double>();
    EXPECT_NEAR(run.memory->number(step, "grad_norm"), std::sqrt(squares), 1e-12);
    optimizer.step();
  }
  EXPECT_EQ(run.memory->find(0, "norm_test"), nullptr);
}

TEST_F(CockpitTest, KeepsTheGradientNormOfAScalarLossThatHidesItsSamples) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("grad_norm"), quantity("norm_test")});
  const Tensor loss = loop.losses().mean().sqrt();  // no mean over samples
  BatchOptions options;
  options.batch_size = 4;
  {
    const StepWatch watch = run.cockpit->watch(0, Batch(loss, loop.parameters(), options));
    loss.backward();
  }
  EXPECT_NE(run.memory->find(0, "grad_norm"), nullptr);
  ASSERT_EQ(run.memory->notes().size(), 1u);
  EXPECT_EQ(run.memory->notes()[0].quantity, "norm_test");
}

TEST_F(CockpitTest, SaysOneReasonOnceForAllThatItSwitchesOff) {
  torch::nn::Sequential net = on_device(torch::nn::Sequential(
      torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(3, 2)));
  Listened run(net->named_parameters(),
               {quantity("norm_test"), quantity("hess_trace"), quantity("inner_test")});
  const Tensor losses = losses_of(net->forward(random({5, 4})));
  {
    const StepWatch watch = run.cockpit->watch(0, losses);
    losses.mean().backward();
  }
  ASSERT_EQ(run.memory->notes().size(), 1u);
  const Note& note = run.memory->notes()[0];
  EXPECT_EQ(note.kind, NoteKind::kSwitchedOff);
  for (const char* name : {"norm_test", "hess_trace", "inner_test"}) {
    EXPECT_NE(note.quantity.find(name), std::string::npos) << note.quantity;
  }
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"norm_test", "hess_trace", "are off", "kSplitGradient"});
}

TEST_F(CockpitTest, SpeaksInTheWordsOfTheProgramAround) {
  Loop loop;
  std::vector<std::string> warnings;
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  options.wording = [](const std::string& text) {
    return text.find("it broke") == std::string::npos ? text : "it is broken";
  };
  Cockpit cockpit(loop.parameters(), {failing()}, options);
  cockpit.add_sink(memory);
  loop.step(cockpit, 0);
  ASSERT_EQ(memory->notes().size(), 1u);
  EXPECT_EQ(memory->notes()[0].text, "it is broken");
  EXPECT_EQ(warnings, std::vector<std::string>{"it is broken"});
}

TEST_F(CockpitTest, DropsAStepThatEndsByAnException) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, true);
  const auto broken = [&] {
    const Tensor losses = loop.losses();
    const StepWatch watch = run.cockpit->watch(0, losses);
    throw std::runtime_error("the user's own");
  };
  expect_error(broken, {"the user's own"});
  EXPECT_EQ(run.memory->find(0, "loss"), nullptr);
  loop.step(*run.cockpit, 1);
  run.cockpit->flush();
  EXPECT_NE(run.memory->find(1, "loss"), nullptr);
}

TEST_F(CockpitTest, KeepsTheUpdateBeforeAStepThatEndsByAnException) {
  Loop loop;
  Listened run(loop.parameters(), {update_norm()}, true);
  loop.step(*run.cockpit, 0);
  const auto broken = [&] {
    const Tensor losses = loop.losses();
    const StepWatch watch = run.cockpit->watch(1, losses);
    throw std::runtime_error("the user's own");
  };
  expect_error(broken, {"the user's own"});
  EXPECT_NE(run.memory->find(0, "update_norm"), nullptr);
  loop.step(*run.cockpit, 2);
  loop.step(*run.cockpit, 3);
  EXPECT_EQ(run.memory->find(1, "update_norm"), nullptr);
  EXPECT_NE(run.memory->find(2, "update_norm"), nullptr);
}

TEST_F(CockpitTest, SwitchesOffAQuantityWhoseScheduleThrows) {
  Loop loop;
  const auto broken = [](int64_t) -> bool { throw std::runtime_error("no such step"); };
  Listened run(loop.parameters(), {grad_max().on(DueSteps::when(broken)), quantity("loss")});
  EXPECT_TRUE(run.cockpit->is_due(0));
  for (int64_t step = 0; step < 3; ++step) loop.step(*run.cockpit, step);
  run.cockpit->flush();
  ASSERT_EQ(run.memory->notes().size(), 1u);
  EXPECT_EQ(run.memory->notes()[0].quantity, "grad_max");
  expect_mentions(run.memory->notes()[0].text, {"no such step"});
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
  EXPECT_NE(run.memory->find(2, "loss"), nullptr);
}

TEST_F(CockpitTest, OutlivesWhateverIsThrown) {
  Loop loop;
  const Quantity odd = Quantity("odd").compute([](const StepView&) -> Value { throw 7; });
  Listened run(loop.parameters(), {odd, quantity("loss")});
  loop.step(*run.cockpit, 0);
  ASSERT_EQ(run.memory->notes().size(), 1u);
  EXPECT_EQ(run.memory->notes()[0].quantity, "odd");
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
}

TEST_F(CockpitTest, WarnsOnceOfAMistakeThatIsRepeated) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")});
  BatchOptions wrong;
  wrong.batch_size = 3;
  for (int64_t step = 0; step < 5; ++step) {
    const StepWatch watch =
        run.cockpit->watch(step, Batch(loop.losses(), loop.parameters(), wrong));
    EXPECT_FALSE(watch.is_active());
  }
  EXPECT_EQ(run.warnings.size(), 1u);
  for (int64_t step = 0; step < 50; ++step) loop.step(*run.cockpit, step % 5);
  EXPECT_LE(run.warnings.size(), 10u);
}

TEST_F(CockpitTest, CallsWhatWasGivenWhateverTheNeedsSay) {
  Loop loop;
  Listened run(loop.parameters(), {update_norm().needs(StepNeeds())}, true);
  loop.step(*run.cockpit, 0);
  loop.step(*run.cockpit, 1);
  EXPECT_NE(run.memory->find(0, "update_norm"), nullptr);
}

TEST_F(CockpitTest, RefusesAHistogramThatDoesNotFitItsBins) {
  const Tensor counts = torch::zeros({1, 4}, torch::kLong);
  expect_error(
      [&] {
        Value().with_histogram("", {Bins{0, 1, 5}}, counts);
      },
      {"[1, 4]", "5 bins", "one count per bin"});
  expect_error(
      [&] {
        Value().with_histogram("", {Bins{0, 1, 4}}, counts, torch::zeros({1, 2}));
      },
      {"[1, 2]", "below, above and NaN"});
}

TEST_F(CockpitTest, SaysThatNoBackwardPassWasSeen) {
  Loop loop;
  Listened run(loop.parameters(), {grad_max()});
  const Tensor losses = loop.losses();
  run.cockpit->watch(0, losses).end();
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"no backward pass", "step 0", "backward()"});
  loop.step(*run.cockpit, 1);
  EXPECT_NE(run.memory->find(1, "grad_max"), nullptr);
}

TEST_F(CockpitTest, SaysWhatAQuantityReadsWithoutHavingAskedForIt) {
  Loop loop;
  const auto reads_mean = [](const StepView& step) -> Value {
    return step.gradients().parameters[0].mean.abs().max();
  };
  const auto reads_means = [](const StepView& step) -> Value {
    return step.gradients(&ParameterGradients::mean)[0].abs().max();
  };
  Listened run(loop.parameters(),
               {Quantity("field").needs(Need::kNorms).compute(reads_mean),
                Quantity("fields").needs(Need::kNorms).compute(reads_means),
                Quantity("nothing").compute(reads_means)});
  loop.step(*run.cockpit, 0);
  ASSERT_EQ(run.memory->notes().size(), 2u);
  EXPECT_EQ(run.memory->notes()[0].quantity, "field");
  expect_mentions(run.memory->notes()[0].text, {"mean (Need::kMean)", "Quantity::needs"});
  EXPECT_EQ(run.memory->notes()[0].text.find("Need::kNorms"), std::string::npos);
  EXPECT_EQ(run.memory->notes()[1].quantity, "fields, nothing");
  expect_mentions(run.memory->notes()[1].text, {"'mean'", "not computed", "Need::kMean"});
}

TEST_F(CockpitTest, HasAllValuesFromAPassForSomeParametersAlone) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("norm_test"), quantity("loss")});
  const Tensor losses = loop.losses();
  {
    const StepWatch watch = run.cockpit->watch(0, losses);
    torch::autograd::grad({losses.mean()}, {loop.net->parameters()[3]});
  }
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
  EXPECT_NE(run.memory->find(0, "norm_test"), nullptr);
  ASSERT_FALSE(run.memory->notes().empty());
  expect_mentions(run.memory->notes()[0].text, {"some inputs alone", "pass of its own"});
}

TEST_F(CockpitTest, RecordsNumbersOfTheUser) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, true);
  run.cockpit->log(0, "accuracy", 0.5);
  loop.step(*run.cockpit, 0);
  run.cockpit->log(0, {{"learning_rate", 0.1}, {"valid_loss", 2}});
  EXPECT_EQ(run.memory->number(0, "accuracy"), 0.5);
  EXPECT_EQ(run.memory->number(0, "valid_loss"), 2);
  expect_error([&] { run.cockpit->log(1, "loss", 3); }, {"'loss'", "name of a quantity"});
}

TEST_F(CockpitTest, HasLightQuantitiesOfAPresetAtEveryStep) {
  Loop loop;
  Listened run(loop.parameters(), preset("economy", DueSteps::every(3)), true);
  StepOptions told;
  told.learning_rate = 0.25;
  for (int64_t step = 0; step < 5; ++step) {
    const Tensor losses = loop.step(*run.cockpit, step, told);
    run.cockpit->flush();
    EXPECT_EQ(run.memory->number(step, "loss"), losses.mean().item<double>()) << step;
    EXPECT_EQ(run.memory->number(step, "learning_rate"), 0.25) << step;
    EXPECT_NE(run.memory->find(step, "time"), nullptr) << step;
    EXPECT_EQ(run.memory->find(step, "grad_norm") != nullptr, step % 3 == 0) << step;
  }
  EXPECT_TRUE(run.memory->notes().empty());
}

TEST_F(CockpitTest, LeavesLightValuesOnADeviceUntilTheyAreFlushed) {
  Loop loop;
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(loop.parameters(), {quantity("loss")}, options);
  cockpit.add_sink(memory);
  const Tensor losses = loop.step(cockpit, 0);
  EXPECT_EQ(memory->find(0, "loss") != nullptr, losses.is_cpu());
  cockpit.flush();
  cockpit.flush();
  EXPECT_EQ(memory->number(0, "loss"), losses.mean().item<double>());
  EXPECT_EQ(memory->steps().at(0).size(), 1u);
}

TEST_F(CockpitTest, HasNoLearningRateWhereNoneWasTold) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("learning_rate")}, true);
  loop.step(*run.cockpit, 0);
  EXPECT_EQ(run.memory->find(0, "learning_rate"), nullptr);
  EXPECT_TRUE(run.memory->notes().empty());
}

TEST_F(CockpitTest, NamesTheLargestAndSmallestOfSeveralLearningRates) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("learning_rate")}, true);
  StepOptions told;
  told.learning_rates = {{loop.net->parameters()[0], 0.5}, {loop.net->parameters()[1], 0.125}};
  loop.step(*run.cockpit, 0, told);
  EXPECT_EQ(run.memory->number(0, "learning_rate"), 0.5);
  EXPECT_EQ(run.memory->number(0, "learning_rate", "", "smallest"), 0.125);
}

TEST_F(CockpitTest, LetsTheUsersLearningRateTakeThePlaceOfItsOwn) {
  Loop loop;
  Listened run(loop.parameters(), preset("economy", DueSteps::every(2)), true);
  StepOptions told;
  told.learning_rate = 0.25;
  for (int64_t step = 0; step < 3; ++step) {
    run.cockpit->log(step, "learning_rate", 0.5);
    loop.step(*run.cockpit, step, told);
    EXPECT_EQ(run.memory->number(step, "learning_rate"), 0.5) << step;
  }
}

TEST_F(CockpitTest, NamesSamplesAsTheyWereTold) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("sample_outliers", {{"count", 4}})}, true);
  StepOptions told;
  told.sample_ids = torch::tensor({int64_t{70}, int64_t{71}, int64_t{72}, int64_t{73}});
  told.labels = torch::tensor({0, 1, 2, 0}, torch::kInt);
  loop.step(*run.cockpit, 0, told);
  const auto list = [&](const char* field) {
    const Reading* reading = run.memory->find(0, "sample_outliers", "", field);
    return reading == nullptr ? std::vector<double>() : reading->list;
  };
  ASSERT_EQ(list("ids").size(), 4u);
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(list("ids")[k], 70 + list("samples")[k]);
    EXPECT_EQ(list("labels")[k], static_cast<double>(static_cast<int64_t>(list("samples")[k]) % 3));
  }
  EXPECT_TRUE(list("predictions").empty());
}

TEST_F(CockpitTest, RefusesNamesThatAreNotOneIntegerPerSample) {
  Loop loop;
  for (const Tensor& wrong : {torch::zeros({3}, torch::kLong),
                              torch::zeros({4}),
                              torch::zeros({4, 1}, torch::kLong),
                              torch::zeros({}, torch::kLong)}) {
    Listened run(loop.parameters(), {quantity("loss")}, true);
    StepOptions told;
    told.sample_ids = wrong;
    expect_error([&] { loop.step(*run.cockpit, 0, told); }, {"sample_ids", "integer"});
  }
}

TEST_F(CockpitTest, NamesTheSamplesWhoseLossesAreNotFiniteUnlessAllAre) {
  Loop loop;
  const Tensor factors = torch::tensor({1.0, std::nan(""), 1.0, HUGE_VAL}).to(loop.losses());
  const auto notes_after = [&](const Tensor& weights, const StepOptions& told) {
    Listened run(loop.parameters(), {quantity("loss")}, true);
    for (int64_t step = 0; step < 2; ++step) {
      const Tensor losses = loop.losses() * weights;
      StepWatch watch = run.cockpit->watch(step, losses, told);
      losses.mean().backward();
      watch.end();
    }
    run.cockpit->flush();
    return run.memory->notes();
  };
  StepOptions told;
  told.sample_ids = torch::tensor({int64_t{70}, int64_t{71}, int64_t{72}, int64_t{73}});
  told.labels = torch::zeros({4}, torch::kLong);
  const std::vector<Note> named = notes_after(factors, told);
  ASSERT_EQ(named.size(), 1u);  // once
  EXPECT_EQ(named[0].quantity, "loss");
  expect_mentions(named[0].text,
                  {"2 of 4", "sample 71 (place 1 of the batch, label 0)", "sample 73"});
  const std::vector<Note> unnamed = notes_after(factors, {});
  ASSERT_EQ(unnamed.size(), 1u);
  expect_mentions(unnamed[0].text, {"place 1 of the batch; place 3 of the batch"});
  EXPECT_TRUE(notes_after(torch::full_like(factors, NAN), told).empty());
}

TEST_F(CockpitTest, TellsWhatTheRunIs) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss").every(5), grad_max()}, true);
  run.cockpit->describe("problem", "tiny");
  loop.step(*run.cockpit, 0);
  const RunInfo& info = run.memory->info();
  ASSERT_EQ(info.parameters.size(), 4u);
  EXPECT_EQ(info.parameters[0].name, "0.weight");
  EXPECT_EQ(info.parameters[0].shape, std::vector<int64_t>({5, 6}));
  EXPECT_EQ(info.parameters[0].type, "float64");
  ASSERT_EQ(info.quantities.size(), 2u);
  EXPECT_EQ(info.quantities[0].due, "every 5");
  EXPECT_EQ(info.config.at("problem"), "tiny");
  EXPECT_FALSE(info.flightdeck_version.empty());
  expect_mentions(info.coverage, {"0.weight", "exact-fast"});
  run.cockpit->finish();
  EXPECT_EQ(run.memory->ending(), Ending::kFinished);
}

TEST_F(CockpitTest, PlansEachPassOnce) {
  Loop loop;
  const auto curved = [](const char* name, CurvatureNeed need) {
    StepNeeds needs;
    needs.curvature = need;
    return Quantity(name).needs(needs).compute([](const StepView&) { return Value(); });
  };
  Listened run(loop.parameters(),
               {curved("a", CurvatureNeed::kDiagHessian),
                curved("b", CurvatureNeed::kTraceHessian),
                quantity("norm_test").every(2),
                update_norm()});
  const std::string plan = run.cockpit->plan(0);
  expect_mentions(plan, {"a, b, norm_test, update_norm", "diagonal of the Hessian, trace of the"});
  EXPECT_EQ(plan.find("columns pass"), plan.rfind("columns pass"));
  EXPECT_EQ(run.cockpit->plan(1).find("during backward"), std::string::npos);
}

TEST_F(CockpitTest, GivesOneValuePerGroup) {
  Loop loop;
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.strict = true;
  options.grouping = Grouping::by_module();
  options.waits_for_values = true;
  Cockpit cockpit(loop.parameters(), {update_norm()}, options);
  cockpit.add_sink(memory);
  loop.step(cockpit, 0);
  loop.step(cockpit, 1);
  const double first = memory->number(0, "update_norm", "0");
  const double second = memory->number(0, "update_norm", "2");
  EXPECT_NEAR(memory->number(0, "update_norm"), std::hypot(first, second), 1e-12);
  EXPECT_EQ(memory->info().groups, std::vector<std::string>({"0", "2"}));
}

TEST_F(CockpitTest, TellsGroupsThatAreReadFromTheGraph) {
  Loop loop;
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.grouping = Grouping::by_depth();
  options.waits_for_values = true;
  options.on_warning = [](const std::string&) {};
  Cockpit cockpit(loop.parameters(), {quantity("distance")}, options);
  cockpit.add_sink(memory);
  BatchOptions wrong;
  wrong.batch_size = 3;
  cockpit.watch(0, Batch(loop.losses(), loop.parameters(), wrong)).end();
  loop.step(cockpit, 1);
  EXPECT_EQ(memory->info().groups, std::vector<std::string>({"depth 00", "depth 01"}));
  EXPECT_NE(memory->find(1, "distance", "depth 01"), nullptr);
}

TEST_F(CockpitTest, KeepsStatePerRun) {
  const Quantity counting = Quantity("count").make([] {
    Quantity::Functions functions;
    functions.compute = [count = 0](const StepView&) mutable { return Value(++count); };
    return functions;
  });
  Loop loop;
  Listened first(loop.parameters(), {counting}, true), second(loop.parameters(), {counting}, true);
  loop.step(*first.cockpit, 0);
  loop.step(*first.cockpit, 1);
  loop.step(*second.cockpit, 0);
  EXPECT_EQ(first.memory->number(1, "count"), 2);
  EXPECT_EQ(second.memory->number(0, "count"), 1);
}

TEST_F(CockpitTest, DropsASinkThatThrows) {
  class Broken : public Sink {
    void begin(const RunInfo&) override {}
    void write(const StepReadings&) override { throw std::runtime_error("disk gone"); }
    void note(const Note&) override {}
    void finish(Ending) override {}
  };
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, true);
  run.cockpit->add_sink(std::make_shared<Broken>());
  loop.step(*run.cockpit, 0);
  loop.step(*run.cockpit, 1);
  run.cockpit->flush();
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"disk gone", "training goes on"});
  EXPECT_NE(run.memory->find(1, "loss"), nullptr);
}

}  // namespace
}  // namespace flightdeck::tests
