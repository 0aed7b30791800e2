// SPDX-License-Identifier: MIT
// Quantities of the optimizer's steps: alpha by an explicit least-squares fit, lengths by norms.
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <torch/torch.h>

#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The line between two steps, from plain sums.
ChordView line_between(const Facts& first, const Facts& second) {
  ChordView line;
  const Tensor update = first.next - first.parameters;
  line.length = number(update.norm());
  const Facts* ends[2] = {&first, &second};
  for (int end : {0, 1}) {
    const Tensor slopes = ends[end]->rows.mv(update / line.length);
    line.batch_size[end] = ends[end]->N();
    line.loss[end] = number(ends[end]->losses.mean());
    line.loss_variance[end] = number(ends[end]->losses.var(/*unbiased=*/true));
    line.slope[end] = number(slopes.mean());
    line.slope_variance[end] = number(slopes.var(/*unbiased=*/true));
  }
  return line;
}

// (Phi' Q^-1 Phi)^-1 Phi' Q^-1 y, written out. The position is in units of t, for the conditioning.
double fitted_alpha(const ChordView& line) {
  const double t = line.length;
  const Tensor design = at::tensor({1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 2}, at::kDouble).view({4, 3});
  const Tensor observed =
      at::tensor({line.loss[0], line.loss[1], t * line.slope[0], t * line.slope[1]}, at::kDouble);
  const Tensor noise = at::tensor({line.loss_variance[0],
                                   line.loss_variance[1],
                                   t * t * line.slope_variance[0],
                                   t * t * line.slope_variance[1]},
                                  at::kDouble);
  const Tensor weighted = design / noise.unsqueeze(1);
  const Tensor fit = at::linalg_solve(weighted.t().mm(design), weighted.t().mv(observed));
  return number(fit[2]) < 0 ? -1 : -2 * number(fit[2]) / number(fit[1]) - 1;
}

double alpha_of(const ChordView& line) {
  const Value value = quantity("alpha").functions().after_next(line);
  return number(value.fields().at(0).data);
}

ChordView parabola(double minimum, double t) {
  ChordView line;
  line.length = t;
  for (int end : {0, 1}) {
    const double position = end * t - minimum;
    line.batch_size[end] = 4;
    line.loss[end] = position * position;
    line.slope[end] = 2 * position;
    line.loss_variance[end] = 0.3 + end;
    line.slope_variance[end] = 2.0 + end;
  }
  return line;
}

class StepSize : public RunTest {};

TEST_P(StepSize, AlphaIsTheFitThroughBothSteps) {
  const std::vector<Facts>& steps = run().steps;
  for (size_t k = 0; k + 1 < steps.size(); ++k) {
    expect_number(run().sink->number(static_cast<int64_t>(k), "alpha"),
                  fitted_alpha(line_between(steps[k], steps[k + 1])),
                  "alpha at step " + std::to_string(k));
  }
  EXPECT_EQ(run().sink->find(WatchedRun::kSteps - 1, "alpha"), nullptr);
}

TEST_P(StepSize, DistanceIsFromTheFirstStep) {
  expect_textbook("distance", [](const Facts& facts) {
    return number((facts.parameters - facts.initial).norm());
  });
}

TEST_P(StepSize, UpdateIsWhatTheOptimizerAdded) {
  const auto size = [](const Facts& facts) {
    return number((facts.next - facts.parameters).norm());
  };
  expect_textbook("update_size", size, /*has_groups=*/true, /*needs_update=*/true);
  const auto ratio = [size](const Facts& facts) {
    return std::log10(size(facts) / number(facts.parameters.norm()));
  };
  expect_textbook("update_ratio", ratio, /*has_groups=*/true, /*needs_update=*/true);
}

TEST_P(StepSize, ParametersAreSummedUp) {
  const auto norm = [](const Facts& facts) { return number(facts.parameters.norm()); };
  const auto mean = [](const Facts& facts) { return number(facts.parameters.mean()); };
  const auto deviation = [](const Facts& facts) {
    return number(facts.parameters.std(/*unbiased=*/false));
  };
  const auto largest = [](const Facts& facts) { return number(facts.parameters.abs().max()); };
  expect_textbook("parameters", norm);
  expect_textbook("parameters", mean, true, false, "mean");
  expect_textbook("parameters", largest, true, false, "abs_max");
  for (const auto& [group, entries] : run().entries) {
    const Facts facts = run().steps[1].within(entries);
    if (facts.D() == 1) {
      EXPECT_NEAR(run().sink->number(1, "parameters", group, "deviation"), 0, 1e-7);
    } else {
      expect_number(
          run().sink->number(1, "parameters", group, "deviation"), deviation(facts), group);
    }
  }
}

TEST_P(StepSize, TimeGoesOn) {
  double last = 0;
  for (int64_t step = 0; step < WatchedRun::kSteps; ++step) {
    const double seconds = run().sink->number(step, "time");
    EXPECT_GE(seconds, last);
    last = seconds;
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, StepSize, ::testing::ValuesIn(run_cases()), name_of_run);

// ---- alpha of wide layers, whose updates may be known in factors
// ---------------------------------

struct WideLoop {
  Tensor hidden = torch::randn({30, 24}, torch::kDouble).mul_(0.2).requires_grad_();
  Tensor last = torch::randn({20, 30}, torch::kDouble).mul_(0.2).requires_grad_();
  Parameters parameters{std::vector<NamedParameter>{{"hidden", hidden}, {"last", last}}};
  std::vector<Tensor> inputs;
  std::vector<Facts> steps;

  Tensor losses(int64_t step) const {
    return torch::mm(torch::mm(inputs[step], hidden.t()).tanh(), last.t()).square().sum(1);
  }
  Tensor flat() const {
    return torch::cat({hidden.detach().reshape({-1}), last.detach().reshape({-1})}).clone();
  }

  // Looks at a step by plain autograd, one sample at a time.
  void look(int64_t step) {
    if (!steps.empty()) steps.back().next = flat();
    Facts facts;
    facts.losses = losses(step).detach();
    std::vector<Tensor> rows;
    for (int64_t n = 0; n < inputs[step].size(0); ++n) {
      const auto gradients = torch::autograd::grad({losses(step)[n]}, {hidden, last});
      rows.push_back(torch::cat({gradients[0].reshape({-1}), gradients[1].reshape({-1})}));
    }
    facts.rows = torch::stack(rows);
    facts.parameters = flat();
    steps.push_back(facts);
  }
};

using MakeOptimizer =
    std::function<std::unique_ptr<torch::optim::Optimizer>(const std::vector<Tensor>&)>;

struct WideCase {
  const char* name;
  MakeOptimizer optimizer;
  bool shrinks = false;  // the gradient of one layer, on its way to `.grad`
};

template <typename Optimizer, typename Options>
MakeOptimizer made_of(const Options& options) {
  return [options](const std::vector<Tensor>& tensors) {
    return std::make_unique<Optimizer>(tensors, options);
  };
}

std::vector<WideCase> wide_cases() {
  using torch::optim::SGD;
  using torch::optim::SGDOptions;
  return {{"sgd", made_of<SGD>(SGDOptions(0.03))},
          {"shrunk", made_of<SGD>(SGDOptions(0.03)), true},
          {"momentum", made_of<SGD>(SGDOptions(0.03).momentum(0.9))},
          {"decay", made_of<SGD>(SGDOptions(0.03).weight_decay(0.1))},
          {"adam", made_of<torch::optim::Adam>(torch::optim::AdamOptions(0.01))}};
}

class WideAlpha : public ::testing::TestWithParam<WideCase> {};

TEST_P(WideAlpha, IsTheFitThroughBothStepsWhateverElseIsTracked) {
  const std::vector<std::vector<const char*>> all_tracked = {
      {"alpha"}, {"alpha", "norm_test"}, {"alpha", "grad_hist_1d", "norm_test"}};
  for (const auto& tracked : all_tracked) {
    torch::manual_seed(11);
    WideLoop loop;
    for (int64_t N : {3, 5, 4, 3}) loop.inputs.push_back(torch::randn({N, 24}, torch::kDouble));
    const auto optimizer = GetParam().optimizer({loop.hidden, loop.last});
    ShortLoop watched;
    watched.parameters = loop.parameters;
    for (const char* name : tracked) watched.quantities.push_back(quantity(name));
    watched.optimizer = optimizer.get();
    std::optional<unsigned> hook;
    watched.losses = [&](int64_t step) {
      // Since LibTorch 2.0 gradients that are asked for by name, as the test does, meet the hook
      // too.
      if (hook) loop.hidden.remove_hook(*std::exchange(hook, {}));
      loop.look(step);
      if (GetParam().shrinks) {
        hook = loop.hidden.register_hook([](const Tensor& gradient) { return gradient * 0.25; });
      }
      return loop.losses(step);
    };
    const auto sink = watched.run(static_cast<int64_t>(loop.inputs.size()));
    for (size_t k = 0; k + 1 < loop.steps.size(); ++k) {
      expect_number(sink->number(static_cast<int64_t>(k), "alpha"),
                    fitted_alpha(line_between(loop.steps[k], loop.steps[k + 1])),
                    "alpha at step " + std::to_string(k));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers,
                         WideAlpha,
                         ::testing::ValuesIn(wide_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- alpha by itself ----------------------------------------------------------------------------

TEST(Alpha, OfANoiselessParabolaIsThePositionOnIt) {
  for (double t : {1e-4, 0.1, 3.0}) {
    EXPECT_NEAR(alpha_of(parabola(t, t)), 0, 1e-9);         // to the minimum
    EXPECT_NEAR(alpha_of(parabola(t / 2, t)), 1, 1e-9);     // as high on the other side
    EXPECT_NEAR(alpha_of(parabola(2 * t, t)), -0.5, 1e-9);  // half of the way
    EXPECT_NEAR(alpha_of(parabola(t / 4, t)), 3, 1e-9);
    EXPECT_NEAR(alpha_of(parabola(-t, t)), -2, 1e-9);  // away from it
  }
}

TEST(Alpha, WeighsNoisyObservationsLess) {
  ChordView line = parabola(1, 1);
  line.slope[1] = 5;  // wrong, and known to be unreliable
  line.slope_variance[1] = 1e12;
  EXPECT_NEAR(alpha_of(line), 0, 1e-9);
  line.slope_variance[1] = 1e-6;
  expect_number(alpha_of(line), fitted_alpha(line), "alpha");
}

TEST(Alpha, IsNoneWithoutAStep) {
  ChordView line = parabola(1, 1);
  line.length = 0;
  line.slope[0] = line.slope[1] = kNan;  // there is no direction
  const Value value = quantity("alpha").functions().after_next(line);
  EXPECT_TRUE(value.fields().empty());
  EXPECT_EQ(value.reason(), "the optimizer took no step");
}

TEST(Alpha, IsMinusOneWhereTheParabolaHasNoMinimum) {
  ChordView line = parabola(1, 1);
  for (int end : {0, 1}) {
    line.loss[end] *= -1;
    line.slope[end] *= -1;
  }
  EXPECT_EQ(alpha_of(line), -1);
}

TEST(Alpha, HasNoValueWithoutASlope) {
  ChordView line = parabola(0, 1);
  EXPECT_TRUE(std::isnan(alpha_of(line)));
}

TEST(Alpha, IsNanForLossesThatAreNotFinite) {
  ChordView line = parabola(1, 1);
  line.loss[1] = kNan;
  EXPECT_TRUE(std::isnan(alpha_of(line)));
}

TEST(Alpha, TakesAVarianceOfZeroForATinyOne) {
  ChordView line = parabola(1, 0.5);
  line.loss[1] += 0.2;
  ChordView tiny = line;
  line.loss_variance[0] = line.slope_variance[1] = 0;
  tiny.loss_variance[0] = tiny.slope_variance[1] = 1e-10;
  EXPECT_EQ(alpha_of(line), alpha_of(tiny));
}

TEST(Alpha, OfBatchesOfOneWeighsAllObservationsEqually) {
  ChordView line = parabola(1, 0.5);
  line.loss[1] += 0.2;
  ChordView equal = line;
  for (int end : {0, 1}) {
    line.loss_variance[end] = line.slope_variance[end] = kNan;
    equal.loss_variance[end] = 1;
    equal.slope_variance[end] = 4;  // 1 for slopes times t
  }
  expect_number(alpha_of(line), fitted_alpha(equal), "alpha");
}

TEST(Alpha, BorrowsTheVarianceThatOneBatchLacks) {
  ChordView line = parabola(1, 0.5);
  line.loss[1] += 0.2;
  ChordView borrowed = line;
  line.loss_variance[1] = line.slope_variance[1] = kNan;
  borrowed.loss_variance[1] = borrowed.loss_variance[0];
  borrowed.slope_variance[1] = borrowed.slope_variance[0];
  expect_number(alpha_of(line), fitted_alpha(borrowed), "alpha");
}

// ---- a learning rate of zero --------------------------------------------------------------------

TEST(StandingStill, IsSeenByTheStepQuantities) {
  const FedNet net = make_net("logreg");
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(
      net.parameters,
      {quantity("alpha"), quantity("distance"), quantity("update_size"), quantity("update_ratio")},
      options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  for (int64_t step = 0; step < 2; ++step) {
    const Model model = net.forward(4);
    StepWatch watch = cockpit.watch(step, model.losses);
    model.losses.mean().backward();
    watch.end();
  }
  cockpit.finish();
  EXPECT_EQ(sink->find(0, "alpha"), nullptr);
  EXPECT_EQ(sink->number(1, "distance"), 0);
  EXPECT_EQ(sink->number(0, "update_size"), 0);
  EXPECT_EQ(sink->number(0, "update_ratio"), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace flightdeck::tests
