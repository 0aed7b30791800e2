// SPDX-License-Identifier: MIT
#include "flightdeck/cockpit.h"

#include <cmath>

#include "cockpit/loop.h"
#include "cockpit/own_quantities.h"
#include "errors.h"

namespace flightdeck::tests {
namespace {

class CockpitTest : public SeededTest {};

Quantity chord_length() {
  return Quantity("chord")
      .needs([] {
        StepNeeds needs;
        needs.chord = true;
        return needs;
      }())
      .after_next([](const ChordView& chord) {
        return Value(chord.length)
            .with("loss0", chord.loss[0])
            .with("loss1", chord.loss[1])
            .with("slope0", chord.slope[0])
            .with("slope1", chord.slope[1]);
      });
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

TEST_F(CockpitTest, FollowsTheDueStepsOfEachQuantity) {
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
  Listened run(loop.parameters(), {chord_length().every(3)}, true);
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
    EXPECT_NEAR(run.memory->number(k, "chord"), length, 1e-12);
    EXPECT_NEAR(run.memory->number(k, "chord", "", "loss0"), losses[k], 1e-12);
    EXPECT_NEAR(run.memory->number(k, "chord", "", "loss1"), losses[k + 1], 1e-12);
    EXPECT_NEAR(run.memory->number(k, "chord", "", "slope0"),
                gradients[k].dot(update).item<double>() / length,
                1e-12);
    EXPECT_NEAR(run.memory->number(k, "chord", "", "slope1"),
                gradients[k + 1].dot(update).item<double>() / length,
                1e-12);
  }
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
