// SPDX-License-Identifier: MIT
// A watched step captures its graph once, whatever is due, and takes the batch it is given.
#include "cockpit/loop.h"
#include "errors.h"
#include "passes/capture.h"

namespace flightdeck::tests {
namespace {

class WatchedBatches : public SeededTest {};

std::vector<Quantity> everything_on_several_samples() {
  std::vector<Quantity> list = all_quantities();
  for (const char* curvature : {"hessian", "ggn", "ggn_mc"}) {
    for (int64_t samples : {2, 3}) {
      const Settings settings = {{"curvature", curvature}, {"samples", samples}};
      const std::string suffix = std::string(curvature) + std::to_string(samples);
      list.push_back(quantity("hess_trace", settings).named("hess_trace_" + suffix));
      list.push_back(quantity("hess_max_ev", settings).named("hess_max_ev_" + suffix));
    }
  }
  return list;
}

TEST_F(WatchedBatches, AreCapturedOnceWhateverIsDue) {
  Loop loop;
  CockpitOptions options;
  options.strict = true;
  options.grouping = Grouping::by_depth();
  options.shared_terms = SharedTerms::kLeaveOut;
  Cockpit cockpit(loop.parameters(), everything_on_several_samples(), options);
  StepOptions told;
  told.optimizer = &loop.optimizer;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t before = graphs_captured();
    loop.step(cockpit, step, told);
    EXPECT_EQ(graphs_captured() - before, 1) << step;
  }
}

TEST_F(WatchedBatches, AreNotCapturedWhereNoPassIsDue) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("loss"), quantity("distance")}, /*strict=*/true);
  const int64_t before = graphs_captured();
  loop.step(*run.cockpit, 0);
  EXPECT_EQ(graphs_captured(), before);
}

TEST_F(WatchedBatches, AreNotCapturedWhereOnlyLightQuantitiesAreDue) {
  for (const SharedTerms shared_terms : {SharedTerms::kKeep, SharedTerms::kLeaveOut}) {
    Loop loop;
    CockpitOptions options;
    options.strict = true;
    options.shared_terms = shared_terms;
    options.grouping = Grouping::by_depth();
    Cockpit cockpit(loop.parameters(), preset("full", DueSteps::every(4)), options);
    const auto memory = std::make_shared<MemorySink>();
    cockpit.add_sink(memory);
    StepOptions told;
    told.optimizer = &loop.optimizer;
    for (int64_t step = 0; step < 9; ++step) {
      const bool reads_graph = step % 4 <= 1;  // due, or the end of a due step's update
      EXPECT_EQ(cockpit.reads_graph(step), reads_graph) << step;
      const int64_t before = graphs_captured();
      loop.step(cockpit, step, told);
      EXPECT_EQ(graphs_captured() - before, reads_graph ? 1 : 0) << step;
      cockpit.flush();
      EXPECT_EQ(memory->number(step, "learning_rate"), 0.1) << step;
      EXPECT_EQ(memory->find(step, "grad_norm") != nullptr, step % 4 == 0) << step;
    }
  }
}

TEST_F(WatchedBatches, ShareTheirCaptureWithWhoeverMadeThem) {
  Loop loop;
  Listened run(loop.parameters(), preset("full"), /*strict=*/true);
  const Batch batch(loop.losses(), run.cockpit->parameters());
  StepOptions told;
  told.optimizer = &loop.optimizer;
  const int64_t before = graphs_captured();
  const Curvature trace = curvature(batch, CurvatureNeed::kTraceHessian);
  {
    const StepWatch watch = run.cockpit->watch(0, batch, told);
    batch.losses().mean().backward();
  }
  EXPECT_EQ(graphs_captured() - before, 1);
  EXPECT_NEAR(run.memory->number(0, "hess_trace"), number(trace.total.trace_hessian), 1e-10);
}

TEST_F(WatchedBatches, GiveTheReadingsOfTheirLosses) {
  Loop loop;
  const Tensor losses = loop.losses();
  std::vector<double> norms;
  for (const bool is_batch : {false, true}) {
    Listened run(loop.parameters(), {quantity("norm_test")}, /*strict=*/true);
    {
      const StepWatch watch = is_batch ? run.cockpit->watch(0, Batch(losses, loop.parameters()))
                                       : run.cockpit->watch(0, losses);
      losses.mean().backward({}, /*retain_graph=*/true);
    }
    norms.push_back(run.memory->number(0, "norm_test"));
  }
  EXPECT_EQ(norms[0], norms[1]);
}

TEST_F(WatchedBatches, AreOfTheCockpitsParametersAndOfAllSamples) {
  Loop loop;
  Listened run(loop.parameters(), {quantity("grad_norm")}, /*strict=*/true);
  const Tensor losses = loop.losses();
  const Batch other(losses, std::vector<NamedParameter>{loop.parameters()[0]});
  expect_error([&] { run.cockpit->watch(0, other).end(); }, {"1 parameters", "4", "parameters()"});
  const Batch some = Batch(losses, loop.parameters()).of({0, 2});
  expect_error([&] { run.cockpit->watch(1, some).end(); }, {"2 of 4 samples", "whole batch"});
}

TEST_F(WatchedBatches, NeedsOfTheGgnAreEqualIfAllTheyAskIs) {
  VivitNeed need;
  EXPECT_TRUE(need == VivitNeed());
  need.gradients = true;
  EXPECT_FALSE(need == VivitNeed());
  need = VivitNeed();
  need.columns = LossColumns::kSampled;
  EXPECT_FALSE(need == VivitNeed());
  need = VivitNeed();
  need.mc_samples = 2;
  EXPECT_FALSE(need == VivitNeed());
  need = VivitNeed();
  need.samples = 2;
  EXPECT_FALSE(need == VivitNeed());
}

}  // namespace
}  // namespace flightdeck::tests
