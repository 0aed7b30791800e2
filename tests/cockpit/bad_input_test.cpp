// SPDX-License-Identifier: MIT
// What users get wrong, or think they do: each case has a right value or an error that says what to
// do. The reference implementation fails, or answers wrongly, in all of them.
#include <cmath>

#include "cockpit/loop.h"
#include "errors.h"

namespace flightdeck::tests {
namespace {

class BadInput : public SeededTest {};

const char* const kAll[] = {"alpha",
                            "cabs",
                            "distance",
                            "early_stopping",
                            "grad_hist_1d",
                            "grad_hist_2d",
                            "grad_norm",
                            "hess_max_ev",
                            "hess_trace",
                            "inner_test",
                            "loss",
                            "mean_gsnr",
                            "norm_test",
                            "ortho_test",
                            "tic_diag",
                            "tic_trace",
                            "update_size"};

std::vector<Quantity> all_of_the_papers() {
  std::vector<Quantity> quantities;
  for (const char* name : kAll) quantities.push_back(quantity(name));
  return quantities;
}

StepOptions with_rate(double rate = 0.1) {
  StepOptions options;
  options.learning_rate = rate;
  return options;
}

// Two steps on the same data, the losses reduced by `reduce` and handed in as `given`.
MemorySink two_steps(const std::function<Tensor(const Tensor&)>& reduce,
                     const std::function<Tensor(const Tensor&)>& given,
                     const StepOptions& options,
                     double rate) {
  torch::manual_seed(5);
  Loop loop;
  Listened run(loop.parameters(), all_of_the_papers(), /*strict=*/true);
  for (int64_t step = 0; step < 2; ++step) {
    loop.optimizer.zero_grad();
    const Tensor losses = loop.losses(8);
    {
      const StepWatch watch = run.cockpit->watch(step, given(losses), options);
      reduce(losses).backward();
    }
    const at::NoGradGuard no_grad;
    for (Tensor& p : loop.net->parameters()) p.sub_(p.grad(), rate);
  }
  return *run.memory;
}

Tensor same(const Tensor& losses) { return losses; }
Tensor mean(const Tensor& losses) { return losses.mean(); }
Tensor sum(const Tensor& losses) { return losses.sum(); }

TEST_F(BadInput, SumReductionGivesTheValuesOfTheMean) {
  const MemorySink by_mean = two_steps(mean, same, with_rate(), 0.1);
  const MemorySink by_sum = two_steps(sum, same, with_rate(), 0.1 / 8);
  for (const char* name : kAll) {
    const Reading* reading = by_mean.find(0, name);
    ASSERT_NE(reading, nullptr) << name;
    if (reading->kind == ReadingKind::kNumber) {
      EXPECT_NEAR(by_sum.number(0, name), reading->number, 1e-8 * (1 + std::abs(reading->number)))
          << name;
    } else {
      EXPECT_EQ(by_sum.find(0, name)->counts, reading->counts) << name;
    }
  }
}

// Two steps with all quantities, the cockpit being given the scalar or the individual losses.
MemorySink two_steps_of(bool gives_scalar) {
  torch::manual_seed(5);
  Loop loop;
  Listened run(loop.parameters(), all_of_the_papers(), /*strict=*/true);
  for (int64_t step = 0; step < 2; ++step) {
    loop.optimizer.zero_grad();
    const Tensor losses = loop.losses(8);
    const Tensor loss = losses.mean();
    {
      const StepWatch watch = run.cockpit->watch(step, gives_scalar ? loss : losses, with_rate());
      loss.backward();
    }
    loop.optimizer.step();
  }
  return *run.memory;
}

TEST_F(BadInput, AScalarLossGivesWhatItsIndividualLossesGive) {
  const MemorySink of_scalar = two_steps_of(true), of_losses = two_steps_of(false);
  for (const char* name : kAll) {
    const Reading* reading = of_losses.find(0, name);
    ASSERT_NE(reading, nullptr) << name;
    ASSERT_NE(of_scalar.find(0, name), nullptr) << name;
    if (reading->kind == ReadingKind::kNumber) {
      EXPECT_NEAR(
          of_scalar.number(0, name), reading->number, 1e-8 * (1 + std::abs(reading->number)))
          << name;
    } else {
      EXPECT_EQ(of_scalar.find(0, name)->counts, reading->counts) << name;
    }
  }
}

TEST_F(BadInput, AScalarWhoseTermsDifferInSizeNeedsTheBatchSize) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("norm_test")}, true);
  const Tensor losses = loop.losses();
  const Tensor loss = losses.mean() + losses.slice(0, 0, 2).sum();
  expect_error([&] { run.cockpit->watch(0, loss).end(); },
               {"scalar", "batch_size is 0", "individual"});
}

TEST_F(BadInput, AScalarLossGivesTheSameGradientQuantities) {
  torch::manual_seed(5);
  Loop loop;
  Listened run(loop.parameters(), {quantity("norm_test"), quantity("loss")}, true);
  const Tensor losses = loop.losses(8);
  const Tensor loss = losses.mean();
  BatchOptions options;
  options.batch_size = 8;
  {
    const StepWatch watch = run.cockpit->watch(0, Batch(loss, loop.parameters(), options));
    loss.backward();
  }
  const MemorySink whole = two_steps(mean, same, with_rate(), 0.1);
  EXPECT_NEAR(run.memory->number(0, "norm_test"), whole.number(0, "norm_test"), 1e-10);
  EXPECT_NEAR(run.memory->number(0, "loss"), whole.number(0, "loss"), 1e-12);
}

TEST_F(BadInput, AlphaOfAScalarThatHasNotKeptItsLossesSaysWhatItNeeds) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("alpha"), quantity("loss")});
  for (int64_t step = 0; step < 2; ++step) {
    const Tensor loss = loop.losses(8).exp().mean();
    BatchOptions options;
    options.batch_size = 8;
    const StepWatch watch = run.cockpit->watch(step, Batch(loss, loop.parameters(), options));
    loss.backward();
  }
  run.cockpit->flush();
  ASSERT_FALSE(run.memory->notes().empty());
  EXPECT_EQ(run.memory->notes()[0].quantity, "alpha");
  expect_mentions(run.memory->notes()[0].text, {"individual losses", "[N]"});
  EXPECT_NE(run.memory->find(1, "loss"), nullptr);
}

TEST_F(BadInput, AWrongBatchSizeIsNamedBesideTheRightOne) {
  Loop loop;
  Listened strict(loop.parameters(), {quantity("cabs")}, true);
  BatchOptions options;
  options.batch_size = 4;
  const Tensor losses = loop.losses(8);
  const Batch batch(losses, loop.parameters(), options);
  expect_error([&] { strict.cockpit->watch(0, batch, with_rate()).end(); },
               {"batch_size is 4", "8 entries", "drop batch_size"});
  Listened run(loop.parameters(), {quantity("cabs")});
  {
    const StepWatch watch = run.cockpit->watch(0, batch, with_rate());
    losses.mean().backward();
  }
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"step 0 is not watched", "batch_size is 4"});
}

TEST_F(BadInput, LossesOfWrongShapeTypeOrWithoutGraphAreNamed) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, true);
  const auto watch = [&](const Tensor& losses) {
    return [&run, losses] { run.cockpit->watch(run.memory->steps().size(), losses).end(); };
  };
  expect_error(watch(Tensor()), {"losses is undefined"});
  Listened again(loop.parameters(), {quantity("loss")}, true);
  expect_error([&] { again.cockpit->watch(0, torch::ones({3}, at::kLong)).end(); },
               {"Long", "floating"});
  expect_error([&] { again.cockpit->watch(1, torch::ones({3})).end(); }, {"does not depend"});
  expect_error(
      [&] {
        again.cockpit->watch(2, loop.net->forward(random({3, 6}))).end();
      },
      {"[3, 3]", "[N]"});
}

TEST_F(BadInput, ABatchOfOneLeavesOutWhatNeedsTwo) {
  Loop loop;
  Listened run(loop.parameters(), all_of_the_papers(), true);
  for (int64_t step = 0; step < 2; ++step) loop.step(*run.cockpit, step, with_rate(), 1);
  for (const char* name :
       {"norm_test", "inner_test", "ortho_test", "early_stopping", "mean_gsnr"}) {
    EXPECT_EQ(run.memory->find(0, name), nullptr) << name;
  }
  for (const char* name : {"loss", "grad_norm", "alpha", "hess_trace", "tic_trace"}) {
    EXPECT_TRUE(std::isfinite(run.memory->number(0, name))) << name;
  }
  ASSERT_FALSE(run.memory->notes().empty());
  expect_mentions(run.memory->notes()[0].text, {"at least two samples"});
}

TEST_F(BadInput, ANanLossIsRecordedAndTrainingGoesOn) {
  Loop loop;
  Listened run(loop.parameters(), all_of_the_papers());
  for (int64_t step = 0; step < 3; ++step) {
    loop.optimizer.zero_grad();
    Tensor losses = loop.losses(4);
    if (step == 1) losses = losses * std::nan("");
    const StepWatch watch = run.cockpit->watch(step, losses, with_rate());
    losses.mean().backward();
  }
  EXPECT_TRUE(std::isnan(run.memory->number(1, "loss")));
  EXPECT_TRUE(std::isnan(run.memory->number(1, "norm_test")));
  EXPECT_TRUE(std::isnan(run.memory->number(1, "grad_norm")));
  const Reading* histogram = run.memory->find(1, "grad_hist_1d");
  ASSERT_NE(histogram, nullptr);
  EXPECT_EQ(histogram->not_a_number, 4 * (30 + 5 + 15 + 3));
  EXPECT_TRUE(std::isfinite(run.memory->number(2, "norm_test")));
  EXPECT_TRUE(std::isfinite(run.memory->number(2, "hess_max_ev")));
  for (const Note& note : run.memory->notes())
    EXPECT_NE(note.kind, NoteKind::kSwitchedOff) << note.text;
}

TEST_F(BadInput, AnUnusedParameterHasZeroGradients) {
  Loop loop;
  ParameterList list;
  for (const auto& p : loop.parameters()) list.add(p.name, p.tensor);
  const Parameters parameters = list.add("unused", random_parameter({3}));
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.strict = true;
  options.grouping = Grouping::by_parameter();
  options.waits_for_values = true;
  Cockpit cockpit(parameters, all_of_the_papers(), options);
  cockpit.add_sink(memory);
  for (int64_t step = 0; step < 2; ++step) loop.step(cockpit, step, with_rate());
  EXPECT_EQ(memory->number(0, "grad_norm", "unused"), 0);
  EXPECT_EQ(memory->number(0, "hess_trace", "unused"), 0);
  EXPECT_TRUE(std::isfinite(memory->number(0, "alpha")));
}

TEST_F(BadInput, ATiedWeightIsWatchedUnderItsFirstName) {
  const Tensor weight = random({4, 4}).requires_grad_();
  Listened run(std::vector<NamedParameter>{{"encoder", weight}, {"decoder", weight}},
               preset("economy"),
               /*strict=*/true);
  const Tensor losses = random({5, 4}).mm(weight).tanh().mm(weight.t()).square().sum(1);
  {
    const StepWatch watch = run.cockpit->watch(0, losses);
    losses.mean().backward();
  }
  EXPECT_NEAR(run.memory->number(0, "grad_norm"), weight.grad().norm().item<double>(), 1e-12);
  ASSERT_EQ(run.memory->info().parameters.size(), 1u);
  EXPECT_EQ(run.memory->info().parameters[0].name, "encoder");
}

TEST_F(BadInput, AParameterThatNeedsNoGradientIsNamed) {
  Loop loop;
  loop.net->parameters()[1].requires_grad_(false);
  expect_error([&] { Cockpit(loop.parameters(), "economy"); }, {"'0.bias'", "require gradients"});
  expect_error([] { Cockpit(std::vector<Tensor>(), "economy"); }, {"no parameters"});
}

TEST_F(BadInput, TwoHistogramsWithDifferentBinsGoTogether) {
  Loop loop;
  Listened run(loop.parameters(),
               {quantity("grad_hist_1d"),
                quantity("grad_hist_1d", {{"bins", 7}, {"low", -1}, {"high", 1}}).named("coarse")},
               true);
  loop.step(*run.cockpit, 0);
  EXPECT_EQ(run.memory->find(0, "grad_hist_1d")->counts.size(), 100u);
  EXPECT_EQ(run.memory->find(0, "coarse")->counts.size(), 7u);
  expect_error([&] { run.cockpit->add(quantity("loss")); }, {"'loss'", "before"});
  expect_error(
      [&] {
        Cockpit(loop.parameters(), {quantity("loss"), quantity("loss")});
      },
      {"two quantities are called 'loss'", "named()"});
}

TEST_F(BadInput, ImpossibleSettingsAreRefusedWhenGiven) {
  expect_error([] { return quantity("grad_hist_1d", {{"low", 2}, {"high", -2}}); }, {"2", "-2"});
  expect_error(
      [] {
        return quantity("grad_hist_1d", {{"bins", 0}});
      },
      {"bins is '0'", "at least 1"});
  expect_error(
      [] {
        return quantity("hess_trace", {{"curvature", "fisher"}});
      },
      {"'fisher'", "hessian, ggn, ggn_mc"});
  expect_error([] { Quantity("empty").functions(); }, {"'empty'", "no computation"});
}

TEST_F(BadInput, AStepGivenTwiceIsWatchedOnce) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss"), quantity("update_size")});
  const double first = loop.step(*run.cockpit, 0).mean().item<double>();
  loop.step(*run.cockpit, 0);
  EXPECT_NEAR(run.memory->number(0, "loss"), first, 1e-12);
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"step 0 comes after step 0", "ascend"});
  loop.step(*run.cockpit, 1);
  EXPECT_NE(run.memory->find(1, "loss"), nullptr);
}

TEST_F(BadInput, ARunMayStartAtAnyStep) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("distance"), quantity("update_size")}, true);
  for (int64_t step = 100; step < 103; ++step) loop.step(*run.cockpit, step);
  EXPECT_EQ(run.memory->number(100, "distance"), 0);
  EXPECT_NEAR(run.memory->number(101, "distance"), run.memory->number(100, "update_size"), 1e-12);
}

TEST_F(BadInput, ASkippedStepLeavesTheUpdateUnknown) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("update_size"), quantity("alpha")}, true);
  loop.step(*run.cockpit, 0);
  loop.step(*run.cockpit, 5);
  EXPECT_EQ(run.memory->find(0, "update_size"), nullptr);
  ASSERT_FALSE(run.memory->notes().empty());
  expect_mentions(run.memory->notes()[0].text, {"after step 0", "step 1 was not watched"});
}

TEST_F(BadInput, LearningRateZeroStaysAtTheStart) {
  const MemorySink memory = two_steps(mean, same, with_rate(0), 0.0);
  EXPECT_EQ(memory.find(0, "alpha"), nullptr);
  EXPECT_EQ(memory.number(0, "update_size"), 0);
  EXPECT_EQ(memory.number(0, "cabs"), 0);
}

TEST_F(BadInput, CabsTakesAnyOptimizerAndSeveralRates) {
  Loop loop;
  const std::vector<Tensor> p = loop.net->parameters();
  torch::optim::OptimizerParamGroup first({p[0], p[1]},
                                          std::make_unique<torch::optim::AdamOptions>(0.1));
  torch::optim::OptimizerParamGroup second({p[2], p[3]},
                                           std::make_unique<torch::optim::AdamOptions>(0.3));
  torch::optim::Adam optimizer(std::vector<torch::optim::OptimizerParamGroup>{first, second});
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.strict = true;
  options.grouping = Grouping::by_parameter();
  Cockpit cockpit(loop.parameters(), {quantity("cabs")}, options);
  cockpit.add_sink(memory);
  StepOptions watch;
  watch.optimizer = &optimizer;
  loop.step(cockpit, 0, watch);
  cockpit.flush();
  double sum = 0;
  for (const char* name : {"0.weight", "0.bias", "2.weight", "2.bias"}) {
    sum += memory->number(0, "cabs", name);
  }
  EXPECT_NEAR(memory->number(0, "cabs"), sum, 1e-12);
  EXPECT_GT(sum, 0);
}

TEST_F(BadInput, CabsTakesTheRatesOfAnOptimizerOfOthers) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("cabs")}, true);
  StepOptions told;
  told.learning_rates.emplace();
  for (const Tensor& parameter : loop.net->parameters()) {
    told.learning_rates->emplace_back(parameter, 0.1);
  }
  loop.step(*run.cockpit, 0, told);
  EXPECT_GT(run.memory->number(0, "cabs"), 0);
  told.learning_rates->pop_back();
  expect_error([&] { loop.step(*run.cockpit, 1, told); }, {"does not train '2.bias'"});
}

TEST_F(BadInput, CabsWithoutARateSaysHowToGiveIt) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("cabs")}, true);
  expect_error([&] { loop.step(*run.cockpit, 0); }, {"learning rate", "StepOptions::optimizer"});
}

// Layer norm, GELU, a layer used twice: the reference fails on each.
TEST_F(BadInput, AnyGraphWorks) {
  auto layer = on_device(torch::nn::Linear(4, 4));
  auto norm = on_device(torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})));
  const Parameters parameters = ParameterList().add("layer", layer).add("norm", norm);
  Listened run(parameters, all_of_the_papers(), true);
  for (int64_t step = 0; step < 2; ++step) {
    const Tensor hidden = torch::gelu(norm(layer(random({5, 4}))));
    const Tensor losses = losses_of(layer(hidden));
    {
      const StepWatch watch = run.cockpit->watch(step, losses, with_rate());
      losses.mean().backward();
    }
    const at::NoGradGuard no_grad;
    for (const NamedParameter& p : parameters) p.tensor.sub_(p.tensor.grad(), 0.1);
  }
  for (const char* name : kAll) EXPECT_NE(run.memory->find(0, name), nullptr) << name;
}

TEST_F(BadInput, TheWatchOfAFinishedRunSaysSo) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, true);
  run.cockpit->finish();
  expect_error([&] { loop.step(*run.cockpit, 0); }, {"finished", "new cockpit"});
  expect_error([&] { run.cockpit->log(0, "a", 1); }, {"finished"});
}

}  // namespace
}  // namespace flightdeck::tests
