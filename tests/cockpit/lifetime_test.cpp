// SPDX-License-Identifier: MIT
// Cockpit, watch, model, optimizer and sinks come and go in any order, on any thread, and call one
// another in the middle of a step: what is known is recorded, and nothing else happens.
#include <optional>
#include <thread>
#include <type_traits>

#include "cockpit/loop.h"
#include "errors.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

class LifetimeTest : public SeededTest {};

static_assert(!std::is_move_constructible_v<Cockpit> && !std::is_copy_constructible_v<Cockpit>);
static_assert(std::is_move_constructible_v<StepWatch> && !std::is_copy_constructible_v<StepWatch>);

double grad_norm_of(const Loop& loop) {
  double squares = 0;
  for (const Tensor& p : loop.net->parameters()) squares += p.grad().square().sum().item<double>();
  return std::sqrt(squares);
}

bool mentions(const std::vector<Note>& notes, const std::string& words) {
  for (const Note& note : notes) {
    if (note.text.find(words) != std::string::npos) return true;
  }
  return false;
}

// What each of its calls does is set by the test.
class CallingSink : public Sink {
 public:
  std::function<void()> on_write = [] {};
  std::vector<Ending> endings;
  int64_t writes = 0;

  void begin(const RunInfo&) override {}
  void write(const StepReadings&) override {
    on_write();
    ++writes;  // a sink that was destroyed meanwhile would not live to see it
  }
  void note(const Note&) override {}
  void finish(Ending ending) override { endings.push_back(ending); }
};

// ---- the end of a cockpit -----------------------------------------------------------------------

TEST_F(LifetimeTest, AWatchMayOutliveItsCockpit) {
  Loop loop;
  Listened run(loop.parameters(), preset("economy"));
  loop.step(*run.cockpit, 0);
  loop.optimizer.zero_grad();
  const Tensor losses = loop.losses();
  StepWatch watch = run.cockpit->watch(1, losses);
  EXPECT_TRUE(watch.is_active());
  run.cockpit.reset();
  EXPECT_FALSE(watch.is_active());
  losses.mean().backward();
  watch.end();
  EXPECT_EQ(run.memory->ending(), Ending::kFinished);
  EXPECT_NE(run.memory->find(0, "update_size"), nullptr);
  EXPECT_EQ(run.memory->find(1, "loss"), nullptr);
  EXPECT_TRUE(mentions(run.memory->notes(), "the run ended while this step was being watched"));
}

TEST_F(LifetimeTest, AFinishedRunDropsTheStepThatIsBeingWatched) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss"), quantity("grad_norm")});
  const Tensor losses = loop.losses();
  StepWatch watch = run.cockpit->watch(0, losses);
  run.cockpit->finish(Ending::kInterrupted);
  losses.mean().backward();
  watch.end();
  watch.end();
  EXPECT_EQ(run.memory->ending(), Ending::kInterrupted);
  EXPECT_EQ(run.memory->find(0, "loss"), nullptr);
  EXPECT_TRUE(mentions(run.memory->notes(), "the run ended while this step was being watched"));
}

TEST_F(LifetimeTest, AWatchThatWasMovedFromOrEndedDoesNothing) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, /*strict=*/true);
  const Tensor losses = loop.losses();
  {
    StepWatch first = run.cockpit->watch(0, losses);
    StepWatch second = std::move(first);
    EXPECT_FALSE(first.is_active());  // NOLINT: what a moved-from watch does is promised
    first.end();
    EXPECT_TRUE(second.is_active());
    EXPECT_EQ(run.memory->find(0, "loss"), nullptr);
    second.end();
    run.cockpit->flush();
    EXPECT_NE(run.memory->find(0, "loss"), nullptr);
    second.end();
    EXPECT_FALSE(second.is_active());
  }
  EXPECT_EQ(run.memory->steps().at(0).size(), 1u);
}

TEST_F(LifetimeTest, AStepThatIsDroppedIsAsIfAnExceptionHadEndedIt) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("grad_norm")}, /*strict=*/true);
  const Tensor losses = loop.losses();
  StepWatch watch = run.cockpit->watch(0, losses);
  losses.mean().backward();
  watch.drop();
  EXPECT_FALSE(watch.is_active());
  watch.end();  // nothing any more
  loop.step(*run.cockpit, 1);
  EXPECT_EQ(run.memory->find(0, "grad_norm"), nullptr);
  EXPECT_NE(run.memory->find(1, "grad_norm"), nullptr);
  EXPECT_TRUE(mentions(run.memory->notes(), "ended by an exception"));
}

TEST_F(LifetimeTest, ACockpitMayOutliveModelAndOptimizer) {
  auto loop = std::make_unique<Loop>();
  Listened run(loop->parameters(), {quantity("cabs"), quantity("distance"), quantity("alpha")});
  StepOptions told;
  told.optimizer = &loop->optimizer;
  loop->step(*run.cockpit, 0, told);
  const Tensor losses = loop->losses();
  {
    const StepWatch watch = run.cockpit->watch(1, losses, told);
    losses.mean().backward();
    loop.reset();  // the rates were read when the watch began
  }
  EXPECT_NE(run.memory->find(1, "cabs"), nullptr);
  EXPECT_GT(run.memory->number(1, "distance"), 0);
  EXPECT_TRUE(run.warnings.empty());
  run.cockpit.reset();
  EXPECT_EQ(run.memory->ending(), Ending::kFinished);
}

// ---- sinks --------------------------------------------------------------------------------------

TEST_F(LifetimeTest, ASinkMayFinishTheRunFromInsideItsCall) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss"), quantity("update_size")});
  auto owned = std::make_shared<CallingSink>();
  CallingSink* sink = owned.get();
  Cockpit* cockpit = run.cockpit.get();
  sink->on_write = [cockpit] { cockpit->finish(Ending::kInterrupted); };
  run.cockpit->add_sink(std::move(owned));  // held by the cockpit alone
  loop.step(*run.cockpit, 0);
  EXPECT_EQ(run.memory->ending(), Ending::kInterrupted);
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
  EXPECT_TRUE(run.warnings.empty());
  loop.step(*run.cockpit, 1);
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"step 1 is not watched", "finished"});
}

TEST_F(LifetimeTest, ASinkMayDestroyTheCockpitFromInsideItsCall) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss"), quantity("alpha")});
  const auto sink = std::make_shared<CallingSink>();
  sink->on_write = [&run] { run.cockpit.reset(); };
  run.cockpit->add_sink(sink);
  loop.step(*run.cockpit, 0);
  EXPECT_EQ(sink->writes, 1);
  EXPECT_EQ(sink->endings, std::vector<Ending>({Ending::kFinished}));
  EXPECT_NE(run.memory->find(0, "loss"), nullptr);
}

TEST_F(LifetimeTest, AStepBegunFromInsideAnotherIsRefused) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss"), quantity("update_size")});
  const auto sink = std::make_shared<CallingSink>();
  const Tensor other = loop.losses();
  sink->on_write = [&] { run.cockpit->watch(9, other).end(); };
  run.cockpit->add_sink(sink);
  loop.step(*run.cockpit, 0);
  loop.step(*run.cockpit, 1);
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"step 9", "from inside a quantity, due steps or a sink"});
  EXPECT_NE(run.memory->find(0, "update_size"), nullptr);
  EXPECT_NE(run.memory->find(1, "loss"), nullptr);
  sink->on_write = [&] { run.cockpit->load({}); };
  loop.step(*run.cockpit, 2);
  expect_mentions(run.warnings.back(), {"a recorder failed", "load: it is called from inside"});
}

TEST_F(LifetimeTest, WhateverASinkThrowsItIsDropped) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss")}, /*strict=*/true);
  const auto sink = std::make_shared<CallingSink>();
  sink->on_write = [] { throw 7; };
  run.cockpit->add_sink(sink);
  loop.step(*run.cockpit, 0);
  loop.step(*run.cockpit, 1);
  run.cockpit->flush();
  EXPECT_EQ(run.warnings.size(), 1u);
  EXPECT_NE(run.memory->find(1, "loss"), nullptr);
  expect_error([&] { Cockpit(loop.parameters(), "economy").add_sink(nullptr); }, {"sink is null"});
}

TEST_F(LifetimeTest, AWarningThatCannotBePassedOnEndsNothing) {
  Loop loop;
  CockpitOptions options;
  options.on_warning = [](const std::string&) { throw std::runtime_error("no one listens"); };
  options.waits_for_values = true;
  const auto memory = std::make_shared<MemorySink>();
  Cockpit cockpit(
      loop.parameters(),
      {Quantity("failing").compute([](const StepView&) -> Value { throw 7; }), quantity("loss")},
      options);
  cockpit.add_sink(memory);
  loop.step(cockpit, 0);
  EXPECT_NE(memory->find(0, "loss"), nullptr);
}

TEST_F(LifetimeTest, ASinkOfOneRunRefusesAnother) {
  Loop loop;
  Listened first(loop.parameters(), {quantity("loss")});
  Listened second(loop.parameters(), {quantity("loss")});
  second.cockpit->add_sink(first.memory);
  loop.step(*first.cockpit, 0);
  first.cockpit->flush();
  const double loss = first.memory->number(0, "loss");
  loop.step(*second.cockpit, 1);
  second.cockpit->flush();
  ASSERT_EQ(second.warnings.size(), 1u);
  expect_mentions(second.warnings[0], {"another run", "sink of its own"});
  EXPECT_EQ(first.memory->find(1, "loss"), nullptr);
  EXPECT_EQ(first.memory->number(0, "loss"), loss);
}

// ---- threads ------------------------------------------------------------------------------------

TEST_F(LifetimeTest, AWatchMayEndOnAnotherThread) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("grad_norm")}, /*strict=*/true);
  const Tensor losses = loop.losses();
  std::optional<StepWatch> watch(run.cockpit->watch(0, losses));
  losses.mean().backward();
  std::thread([&] { watch.reset(); }).join();
  EXPECT_NEAR(run.memory->number(0, "grad_norm"), grad_norm_of(loop), 1e-12);
}

TEST_F(LifetimeTest, ThreadsMayLogWhileOneTrains) {
  Loop loop;
  Listened run(loop.parameters(), preset("economy"), /*strict=*/true);
  constexpr int64_t kSteps = 30, kThreads = 4;
  std::vector<std::thread> threads;
  for (int64_t k = 0; k < kThreads; ++k) {
    threads.emplace_back([&run, k] {
      for (int64_t step = 0; step < kSteps; ++step) {
        run.cockpit->log(step, "accuracy" + std::to_string(k), static_cast<double>(step));
      }
    });
  }
  for (int64_t step = 0; step < kSteps; ++step) loop.step(*run.cockpit, step);
  for (std::thread& thread : threads) thread.join();
  for (int64_t step = 0; step < kSteps; ++step) {
    EXPECT_NE(run.memory->find(step, "loss"), nullptr);
    for (int64_t k = 0; k < kThreads; ++k) {
      EXPECT_EQ(run.memory->number(step, "accuracy" + std::to_string(k)), step);
    }
  }
}

TEST_F(LifetimeTest, EachThreadMayHaveACockpit) {
  constexpr int64_t kSteps = 5;
  const auto train = [](Loop& loop, Listened& run, std::vector<double>& norms) {
    for (int64_t step = 0; step < kSteps; ++step) {
      loop.step(*run.cockpit, step);
      norms.push_back(grad_norm_of(loop));
    }
  };
  Loop loops[2];
  Listened first(loops[0].parameters(), preset("full"));
  Listened second(loops[1].parameters(), preset("full"));
  std::vector<double> norms[2];
  std::thread other([&] { train(loops[1], second, norms[1]); });
  train(loops[0], first, norms[0]);
  other.join();
  for (int64_t step = 0; step < kSteps; ++step) {
    EXPECT_NEAR(first.memory->number(step, "grad_norm"), norms[0][step], 1e-12);
    EXPECT_NEAR(second.memory->number(step, "grad_norm"), norms[1][step], 1e-12);
  }
}

TEST_F(LifetimeTest, TwoCockpitsMayWatchTheSameLosses) {
  Loop loop;
  Listened first(loop.parameters(), preset("business"), /*strict=*/true);
  Listened second(loop.parameters(), preset("business"), /*strict=*/true);
  for (int64_t step = 0; step < 3; ++step) {
    loop.optimizer.zero_grad();
    const Tensor losses = loop.losses();
    {
      StepWatch a = first.cockpit->watch(step, losses);
      StepWatch b = second.cockpit->watch(step, losses);
      losses.mean().backward();
      a.end();  // in the order they began, for once
    }
    const double norm = grad_norm_of(loop);
    EXPECT_NEAR(first.memory->number(step, "grad_norm"), norm, 1e-12);
    EXPECT_EQ(first.memory->number(step, "norm_test"), second.memory->number(step, "norm_test"));
    EXPECT_EQ(first.memory->number(step, "tic_diag"), second.memory->number(step, "tic_diag"));
    loop.optimizer.step();
  }
}

// ---- parameters that change under the cockpit ---------------------------------------------------

TEST_F(LifetimeTest, AReplacedParameterIsWarnedOfOnce) {
  Tensor weight = random_parameter({6, 3}), bias = random_parameter({3});
  Listened run(ParameterList().add("weight", weight).add("bias", bias), preset("economy"));
  const auto step = [&](int64_t number) {
    const Tensor losses = (random({4, 6}).mm(weight) + bias).square().sum(1);
    const StepWatch watch = run.cockpit->watch(number, losses);
    losses.mean().backward();
  };
  step(0);
  EXPECT_TRUE(run.warnings.empty());
  weight = random_parameter({6, 3});
  for (int64_t number = 1; number < 4; ++number) step(number);
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"step 1", "'weight'", "has none any more", "new cockpit"});
  EXPECT_TRUE(mentions(run.memory->notes(), "parameter 'weight' had a part in the losses"));
}

TEST_F(LifetimeTest, AFrozenParameterIsWarnedOfOnce) {
  Loop loop;
  Listened run(loop.parameters(), preset("economy"));
  loop.step(*run.cockpit, 0);
  loop.net->parameters()[0].requires_grad_(false);
  loop.step(*run.cockpit, 1);
  loop.step(*run.cockpit, 2);
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"'0.weight'", "does not require gradients now"});
  EXPECT_NE(run.memory->find(2, "loss"), nullptr);
}

TEST_F(LifetimeTest, AParameterOfAnotherShapeIsRefusedByName) {
  Tensor weight = random_parameter({6, 3});
  Listened run(ParameterList().add("weight", weight), preset("economy"));
  const auto step = [&](int64_t number) {
    const Tensor losses = random({4, weight.size(0)}).mm(weight).square().sum(1);
    const StepWatch watch = run.cockpit->watch(number, losses);
    losses.mean().backward();
  };
  step(0);
  weight.set_data(random({5, 3}));
  weight.mutable_grad().reset();
  for (int64_t number = 1; number < 4; ++number) step(number);
  ASSERT_EQ(run.warnings.size(), 1u);
  expect_mentions(run.warnings[0], {"step 1", "'weight' is now [5, 3]", "was [6, 3]"});
  weight.set_data(random({6, 3}));
  weight.mutable_grad().reset();
  step(4);
  EXPECT_NE(run.memory->find(4, "grad_norm"), nullptr);
}

// ---- gradients that are accumulated -------------------------------------------------------------

TEST_F(LifetimeTest, AWatchPerMicroBatchIsRemarkedOn) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("alpha"), quantity("update_size")}, /*strict=*/true);
  for (int64_t step = 0; step < 5; ++step) {
    const Tensor losses = loop.losses();
    const StepWatch watch = run.cockpit->watch(step, losses);
    losses.mean().backward();
  }
  EXPECT_EQ(run.memory->number(0, "update_size"), 0);
  EXPECT_EQ(run.memory->find(0, "alpha"), nullptr);
  ASSERT_EQ(run.memory->notes().size(), 2u);  // each once
  EXPECT_TRUE(mentions(run.memory->notes(), "parameters did not change"));
  EXPECT_TRUE(mentions(run.memory->notes(), "the optimizer took no step"));
}

// The way of docs/gradient_accumulation.md: one micro-batch per optimizer step is watched.
TEST_F(LifetimeTest, OneMicroBatchPerOptimizerStepTellsOfTheWholeUpdate) {
  Loop loop;
  Listened run(loop.parameters(),
               {quantity("alpha"), quantity("update_size"), quantity("grad_norm")},
               /*strict=*/true);
  constexpr int64_t kMicroBatches = 3;
  std::vector<Tensor> places;
  std::vector<double> norms;
  for (int64_t step = 0; step < 3; ++step) {
    places.push_back(torch::nn::utils::parameters_to_vector(loop.net->parameters()).detach());
    loop.optimizer.zero_grad();
    for (int64_t k = 0; k + 1 < kMicroBatches; ++k) {
      (loop.losses().mean() / kMicroBatches).backward();
    }
    const Tensor losses = loop.losses();
    const std::vector<Tensor> own =
        torch::autograd::grad({losses.mean()}, loop.net->parameters(), {}, /*retain_graph=*/true);
    double squares = 0;
    for (const Tensor& gradient : own) squares += gradient.square().sum().item<double>();
    norms.push_back(std::sqrt(squares));
    {
      const StepWatch watch = run.cockpit->watch(step, losses);
      (losses.mean() / kMicroBatches).backward();
    }
    loop.optimizer.step();
  }
  for (int64_t step = 0; step < 2; ++step) {
    EXPECT_NEAR(run.memory->number(step, "update_size"),
                (places[step + 1] - places[step]).norm().item<double>(),
                1e-12);
    EXPECT_NEAR(run.memory->number(step, "grad_norm"), norms[step], 1e-12);
    EXPECT_NE(run.memory->find(step, "alpha"), nullptr);
  }
  EXPECT_TRUE(run.memory->notes().empty());
}

// ---- the watch below the cockpit ----------------------------------------------------------------

TEST_F(LifetimeTest, AWatchMayBeDestroyedByAHookInsideTheBackwardPass) {
  const Tensor x = random({4, 6}), w = random_parameter({6, 5}), v = random_parameter({5, 3});
  const Parameters parameters = ParameterList().add("w", w).add("v", v);
  const Tensor hidden = x.mm(w);
  const Tensor losses = hidden.tanh().mm(v).square().sum(1);
  std::optional<Watch> watch;
  hidden.register_hook([&](Tensor) { watch.reset(); });  // runs at the node the watch listens to
  watch.emplace(losses, parameters, Need::kNorms | Need::kArrivedNorm);
  const auto expected = torch::autograd::grad({losses.mean()}, {w, v}, {}, true);
  watch.emplace(losses, parameters, Need::kNorms | Need::kArrivedNorm);
  losses.mean().backward();
  EXPECT_FALSE(watch.has_value());
  EXPECT_TRUE(torch::equal(w.grad(), expected[0]));
  EXPECT_TRUE(torch::equal(v.grad(), expected[1]));
}

TEST_F(LifetimeTest, AMovedWatchListensOnAndTheOtherSaysSo) {
  const Tensor w = random_parameter({6, 3});
  const Tensor losses = random({4, 6}).mm(w).square().sum(1);
  Watch first(losses, ParameterList().add("w", w), Need::kMean);
  Watch second = std::move(first);
  Watch& same = second;
  second = std::move(same);
  losses.mean().backward();
  EXPECT_FALSE(first.has_run());  // NOLINT: what a moved-from watch does is promised
  expect_error([&] { static_cast<void>(first.finish()); }, {"nothing to finish", "moved"});
  EXPECT_TRUE(torch::allclose(second.finish().at("w").mean, w.grad(), 1e-12, 1e-12));
  expect_error([&] { static_cast<void>(second.finish()); },
               {"nothing to finish", "keep the result"});
}

}  // namespace
}  // namespace flightdeck::tests
