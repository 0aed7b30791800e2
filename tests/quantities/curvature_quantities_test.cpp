// SPDX-License-Identifier: MIT
// Quantities of curvature against dense matrices.
#include <cmath>

#include "quantities/watched_run.h"

namespace flightdeck::tests {
namespace {

Tensor second_moment(const Facts& facts) { return facts.rows.square().mean(0); }

class CurvatureQuantities : public RunTest {};

TEST_P(CurvatureQuantities, TraceIsTheSumOfTheDiagonal) {
  expect_textbook("hess_trace", [](const Facts& facts) { return number(facts.hessian.trace()); });
  expect_textbook("hess_trace_ggn", [](const Facts& facts) { return number(facts.ggn.trace()); });
}

TEST_P(CurvatureQuantities, TicDividesNoiseByCurvature) {
  const auto by_diagonal = [](const Facts& facts, const Tensor& matrix) {
    return number((second_moment(facts) / (matrix.diagonal() + 1e-7)).sum());
  };
  const auto by_trace = [](const Facts& facts, const Tensor& matrix) {
    return number(second_moment(facts).sum() / (matrix.trace() + 1e-7));
  };
  expect_textbook("tic_diag", [&](const Facts& f) { return by_diagonal(f, f.hessian); });
  expect_textbook("tic_diag_ggn", [&](const Facts& f) { return by_diagonal(f, f.ggn); });
  expect_textbook("tic_trace", [&](const Facts& f) { return by_trace(f, f.hessian); });
  expect_textbook("tic_trace_ggn", [&](const Facts& f) { return by_trace(f, f.ggn); });
}

TEST_P(CurvatureQuantities, EigenvaluesAreTheEndsOfTheSpectrum) {
  const MemorySink& sink = *run().sink;
  for (int64_t step = 0; step < WatchedRun::kSteps; ++step) {
    const Facts& facts = run().steps[step];
    for (const char* suffix : {"", "_ggn"}) {
      const Tensor values = at::linalg_eigvalsh(*suffix == '\0' ? facts.hessian : facts.ggn);
      const double largest = number(values[-1]), smallest = number(values[0]);
      const std::string max = std::string("hess_max_ev") + suffix;
      const std::string min = std::string("hess_min_ev") + suffix;
      expect_number(sink.number(step, max), largest, max, 1e-7);
      EXPECT_NEAR(sink.number(step, min), smallest, 1e-7 * std::abs(largest)) << min;
      for (const std::string& name : {max, min}) {
        EXPECT_EQ(sink.number(step, name, "", "converged"), 1);
        EXPECT_LT(sink.number(step, name, "", "residual"), 1e-3 * std::abs(largest));
        EXPECT_GE(sink.number(step, name, "", "products"),
                  sink.number(step, name, "", "iterations"));
      }
    }
  }
}

TEST_P(CurvatureQuantities, SpectrumIsTheGgns) {
  const Facts& facts = run().steps[1];
  const auto [values, vectors] = at::linalg_eigh(facts.ggn);  // ascending
  const double largest = number(values[-1]);
  expect_number(run().sink->number(1, "ggn_spectrum"), largest, "largest eigenvalue");
  const Reading* listed = run().sink->find(1, "ggn_spectrum", "", "eigenvalues");
  const Reading* slopes = run().sink->find(1, "ggn_spectrum", "", "slope_snr");
  const Reading* bends = run().sink->find(1, "ggn_spectrum", "", "curvature_snr");
  ASSERT_TRUE(listed != nullptr && slopes != nullptr && bends != nullptr);
  ASSERT_LE(listed->list.size(), 10u);
  ASSERT_EQ(slopes->list.size(), listed->list.size());
  ASSERT_EQ(bends->list.size(), listed->list.size());
  const auto snr = [](const Tensor& per_sample) {
    return number(per_sample.mean().square() / per_sample.var(/*unbiased=*/true));
  };
  for (size_t k = 0; k < listed->list.size(); ++k) {
    const int64_t position = facts.D() - 1 - static_cast<int64_t>(k);
    EXPECT_NEAR(listed->list[k], number(values[position]), 1e-8 * largest);
    // Directions of close or tiny eigenvalues are known to fewer digits.
    const bool is_apart =
        listed->list[k] > 1e-3 * largest &&
        (position == 0 || number(values[position] - values[position - 1]) > 1e-2 * largest) &&
        (k == 0 || number(values[position + 1] - values[position]) > 1e-2 * largest);
    if (!is_apart) continue;
    const Tensor direction = vectors.select(1, position);
    expect_number(slopes->list[k], snr(facts.rows.mv(direction)), "slope", 1e-5);
    expect_number(
        bends->list[k], snr(facts.ggns.matmul(direction).matmul(direction)), "curvature", 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, CurvatureQuantities, ::testing::ValuesIn(run_cases()), name_of_run);

// ---- choices ------------------------------------------------------------------------------------

// One step of the net; the facts are of the batch's first samples.
struct OneStep {
  std::shared_ptr<MemorySink> sink = std::make_shared<MemorySink>();
  DenseCurvature dense;
};

OneStep watch_once(const std::string& name, int64_t batch_size, std::vector<Quantity> quantities) {
  torch::manual_seed(7);
  const FedNet net = make_net(name);
  OneStep result;
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(net.parameters, std::move(quantities), options);
  cockpit.add_sink(result.sink);
  const Model model = net.forward(batch_size);
  result.dense = dense_curvature(model.losses, model.outputs, model.parameters);
  StepWatch watch = cockpit.watch(0, model.losses);
  model.losses.mean().backward();
  watch.end();
  cockpit.finish();
  return result;
}

TEST(CurvatureChoice, TakesTheFirstSamplesAlone) {
  const OneStep step = watch_once("mlp_sigmoid",
                                  6,
                                  {quantity("hess_trace", {{"samples", 2}}),
                                   quantity("tic_trace", {{"samples", 2}, {"curvature", "ggn"}}),
                                   quantity("tic_diag", {{"samples", 2}, {"epsilon", 1e-3}}),
                                   quantity("hess_max_ev", {{"samples", 2}, {"tolerance", 1e-10}}),
                                   quantity("ggn_spectrum", {{"samples", 2}, {"count", 3}})});
  const DenseCurvature part = step.dense.select({0, 1});
  const Tensor moment = step.dense.gradients.square().mean(0);  // of the whole batch
  const MemorySink& sink = *step.sink;
  expect_number(sink.number(0, "hess_trace"), number(part.hessian().trace()), "hess_trace");
  expect_number(
      sink.number(0, "tic_trace"), number(moment.sum() / (part.ggn().trace() + 1e-7)), "tic_trace");
  expect_number(sink.number(0, "tic_diag"),
                number((moment / (part.hessian().diagonal() + 1e-3)).sum()),
                "tic_diag");
  expect_number(sink.number(0, "hess_max_ev"),
                number(at::linalg_eigvalsh(part.hessian())[-1]),
                "hess_max_ev",
                1e-7);
  expect_number(
      sink.number(0, "ggn_spectrum"), number(at::linalg_eigvalsh(part.ggn())[-1]), "ggn_spectrum");
  const Reading* listed = sink.find(0, "ggn_spectrum", "", "eigenvalues");
  ASSERT_NE(listed, nullptr);
  EXPECT_EQ(listed->list.size(), 3u);
}

TEST(CurvatureChoice, OfSamplesComesNearTheExactGgn) {
  const Settings sampled = {{"curvature", "ggn_mc"}, {"mc_samples", 2000}};
  const OneStep step =
      watch_once("logreg",
                 4,
                 {quantity("hess_trace", sampled),
                  quantity("tic_trace", sampled),
                  quantity("tic_diag", sampled),
                  quantity("hess_max_ev", {{"curvature", "ggn_mc"}, {"mc_samples", 200}}),
                  quantity("hess_min_ev", {{"curvature", "ggn_mc"}})});
  const MemorySink& sink = *step.sink;
  const Tensor ggn = step.dense.ggn();
  const Tensor moment = step.dense.gradients.square().mean(0);
  // The error of a mean of 2000 bounded terms is some percent at most.
  expect_number(sink.number(0, "hess_trace"), number(ggn.trace()), "hess_trace", 0.1);
  expect_number(sink.number(0, "tic_trace"), number(moment.sum() / ggn.trace()), "tic_trace", 0.1);
  expect_number(
      sink.number(0, "tic_diag"), number((moment / ggn.diagonal()).sum()), "tic_diag", 0.1);
  expect_number(
      sink.number(0, "hess_max_ev"), number(at::linalg_eigvalsh(ggn)[-1]), "hess_max_ev", 0.3);
  EXPECT_EQ(sink.number(0, "hess_min_ev"), 0);  // fewer samples than parameters
}

TEST(CurvatureChoice, BudgetThatIsTooSmallIsReported) {
  const OneStep step = watch_once(
      "mlp_relu", 4, {quantity("hess_max_ev", {{"tolerance", 1e-12}, {"max_products", 3}})});
  EXPECT_EQ(step.sink->number(0, "hess_max_ev", "", "converged"), 0);
  EXPECT_LE(step.sink->number(0, "hess_max_ev", "", "products"), 3);
  EXPECT_GT(step.sink->number(0, "hess_max_ev", "", "residual"), 0);
}

// ---- eigenvalues --------------------------------------------------------------------------------

// Trains a net and calls `look` with the step and the Hessian of its batch. A batch that is
// repeated leaves the Hessian of a linear model as it is.
std::shared_ptr<MemorySink> follow_eigenvalues(
    const FedNet& net,
    int64_t steps,
    bool repeats_batch,
    std::vector<Quantity> quantities,
    const std::function<void(int64_t step, const Tensor& hessian)>& look) {
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(net.parameters, std::move(quantities), options);
  const auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  for (int64_t step = 0; step < steps; ++step) {
    if (repeats_batch) torch::manual_seed(1);
    const Model model = net.forward(8);
    look(step, dense_curvature(model.losses, model.outputs, model.parameters).hessian());
    StepWatch watch = cockpit.watch(step, model.losses);
    model.losses.mean().backward();
    watch.end();
    const at::NoGradGuard no_grad;
    for (const NamedParameter& parameter : net.parameters) {
      parameter.tensor.sub_(parameter.tensor.grad(), 0.1);
      parameter.tensor.mutable_grad() = Tensor();
    }
  }
  cockpit.finish();
  return sink;
}

TEST(Eigenvalues, ThatConvergedAreWithinTheirToleranceStepByStep) {
  constexpr double kTolerance = 1e-2, kFloor = 1e-4;
  constexpr int64_t kSteps = 3;
  int64_t all = 0, converged = 0;
  for (const char* name : {"mlp_sigmoid", "tied", "recurrent"}) {
    for (const int64_t budget : {12, 100}) {
      for (int seed = 0; seed < 2; ++seed) {
        torch::manual_seed(seed);
        std::vector<Tensor> spectra;
        const Settings settings = {{"max_products", budget}, {"until", "proved"}};
        const auto sink = follow_eigenvalues(
            make_net(name),
            kSteps,
            /*repeats_batch=*/false,
            {quantity("hess_max_ev", settings), quantity("hess_min_ev", settings)},
            [&](int64_t, const Tensor& hessian) {
              spectra.push_back(at::linalg_eigvalsh(hessian).cpu());
            });
        for (int64_t step = 0; step < kSteps; ++step) {
          const double norm = number(spectra[step].abs().max());
          for (const auto& [quantity, position] :
               {std::make_pair("hess_max_ev", -1), std::make_pair("hess_min_ev", 0)}) {
            ++all;
            if (sink->number(step, quantity, "", "converged") == 0) continue;
            ++converged;
            const double truth = number(spectra[step][position]);
            EXPECT_NEAR(sink->number(step, quantity),
                        truth,
                        kTolerance * std::max(std::abs(truth), kFloor * norm))
                << name << ", seed " << seed << ", step " << step << ", " << quantity;
          }
        }
      }
    }
  }
  EXPECT_GT(2 * converged, all);
}

TEST(Eigenvalues, OfAConstantHessianDoNotDrift) {
  torch::manual_seed(5);
  double truth = 0;
  const auto sink = follow_eigenvalues(
      make_net("linreg_mse"),
      12,
      /*repeats_batch=*/true,
      {quantity("hess_max_ev", {{"until", "proved"}})},
      [&](int64_t, const Tensor& hessian) { truth = number(at::linalg_eigvalsh(hessian)[-1]); });
  for (int64_t step = 0; step < 12; ++step) {
    EXPECT_EQ(sink->number(step, "hess_max_ev", "", "converged"), 1);
    expect_number(sink->number(step, "hess_max_ev"), truth, "hess_max_ev", 1e-3);
  }
}

TEST(Eigenvalues, ThatStandStillNeitherDriftNorClaimMoreThanIsProved) {
  for (const char* name : {"linreg_mse", "mlp_sigmoid"}) {
    torch::manual_seed(5);
    std::vector<double> truths;
    const auto sink =
        follow_eigenvalues(make_net(name),
                           30,
                           /*repeats_batch=*/true,
                           {quantity("hess_max_ev")},
                           [&](int64_t, const Tensor& hessian) {
                             truths.push_back(number(at::linalg_eigvalsh(hessian)[-1]));
                           });
    EXPECT_EQ(sink->number(0, "hess_max_ev", "", "converged"), 1) << "the first is proved";
    for (int64_t step = 0; step < 30; ++step) {
      const double value = sink->number(step, "hess_max_ev");
      expect_number(value, truths[step], "hess_max_ev", 1e-2);
      EXPECT_LE(value, truths[step] * (1 + 1e-5)) << "a bound from below";
    }
  }
}

TEST(CurvatureChoice, BothEndsOfOneMatrixShareTheirProducts) {
  const OneStep step =
      watch_once("mlp_sigmoid", 4, {quantity("hess_max_ev"), quantity("hess_min_ev")});
  EXPECT_EQ(step.sink->number(0, "hess_max_ev", "", "products"),
            step.sink->number(0, "hess_min_ev", "", "products"));
  EXPECT_LT(step.sink->number(0, "hess_min_ev"), step.sink->number(0, "hess_max_ev"));
}

}  // namespace
}  // namespace flightdeck::tests
