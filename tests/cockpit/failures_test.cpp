// SPDX-License-Identifier: MIT
// What fails in a cockpit: it is switched off or left out, said once, and the training goes on.
#include <cmath>

#include "cockpit/loop.h"
#include "cockpit/own_quantities.h"
#include "errors.h"

namespace flightdeck::tests {
namespace {

class CockpitFailures : public SeededTest {};

TEST_F(CockpitFailures, SwitchesAFailingQuantityOffAndGoesOn) {
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

TEST_F(CockpitFailures, ThrowsWhatFailedIfStrict) {
  Loop loop;
  Listened run(loop.parameters(), {failing()}, /*strict=*/true);
  expect_error([&] { loop.step(*run.cockpit, 0); }, {"it broke"});
}

TEST_F(CockpitFailures, SwitchesOffOnlyWhomAFailingPassConcerns) {
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

TEST_F(CockpitFailures, KeepsWhatNeedsNoIndividualGradientsWhereTheseAreRefused) {
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

TEST_F(CockpitFailures, KeepsTheGradientNormOfAScalarLossThatHidesItsSamples) {
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

TEST_F(CockpitFailures, SaysOneReasonOnceForAllThatItSwitchesOff) {
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

TEST_F(CockpitFailures, SpeaksInTheWordsOfTheProgramAround) {
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

TEST_F(CockpitFailures, DropsAStepThatEndsByAnException) {
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

TEST_F(CockpitFailures, KeepsTheUpdateBeforeAStepThatEndsByAnException) {
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

TEST_F(CockpitFailures, SwitchesOffAQuantityWhoseDueStepsThrow) {
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

TEST_F(CockpitFailures, OutlivesWhateverIsThrown) {
  Loop loop;
  const Quantity odd = Quantity("odd").compute([](const StepView&) -> Value { throw 7; });
  Listened run(loop.parameters(), {odd, quantity("loss")});
  loop.step(*run.cockpit, 0);
  ASSERT_EQ(run.memory->notes().size(), 1u);
  EXPECT_EQ(run.memory->notes()[0].quantity, "odd");
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
}

TEST_F(CockpitFailures, WarnsOnceOfAMistakeThatIsRepeated) {
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

TEST_F(CockpitFailures, CallsWhatWasGivenWhateverTheNeedsSay) {
  Loop loop;
  Listened run(loop.parameters(), {update_norm().needs(StepNeeds())}, true);
  loop.step(*run.cockpit, 0);
  loop.step(*run.cockpit, 1);
  EXPECT_NE(run.memory->find(0, "update_norm"), nullptr);
}

TEST_F(CockpitFailures, RefusesAHistogramThatDoesNotFitItsBins) {
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

TEST_F(CockpitFailures, SaysThatNoBackwardPassWasSeen) {
  Loop loop;
  Listened run(loop.parameters(), {grad_max()});
  const Tensor losses = loop.losses();
  run.cockpit->watch(0, losses).end();
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"no backward pass", "step 0", "backward()"});
  loop.step(*run.cockpit, 1);
  EXPECT_NE(run.memory->find(1, "grad_max"), nullptr);
}

TEST_F(CockpitFailures, SaysWhatAQuantityReadsWithoutHavingAskedForIt) {
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

}  // namespace
}  // namespace flightdeck::tests
