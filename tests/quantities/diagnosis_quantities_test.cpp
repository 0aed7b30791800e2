// SPDX-License-Identifier: MIT
// Spikes, times, spectra of weights, sharpness, critical batch and labels against plain formulas.
#include <algorithm>
#include <cmath>

#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double robust_score(const std::vector<double>& before, double x) {
  const double median = median_of(before);
  std::vector<double> distances;
  for (const double value : before) distances.push_back(std::abs(value - median));
  return (x - median) / (1.4826 * median_of(distances));
}

class DiagnosisTest : public SeededTest {
 protected:
  nn::Sequential net_ = on_device(nn::Sequential(nn::Linear(5, 6), nn::Tanh(), nn::Linear(6, 3)));
};

// ---- spikes -------------------------------------------------------------------------------------

TEST_F(DiagnosisTest, SpikesAreDistancesFromTheMedianInUnitsOfTheScatter) {
  torch::optim::SGD optimizer(net_->parameters(), torch::optim::SGDOptions(0.05));
  ShortLoop loop;
  loop.quantities = {quantity("spikes", {{"window", 10}, {"count", 2}}),
                     quantity("loss"),
                     quantity("grad_norm"),
                     quantity("update_size")};
  loop.parameters = net_->named_parameters();
  loop.optimizer = &optimizer;
  std::vector<Tensor> losses;
  loop.losses = [&](int64_t step) {
    const Tensor inputs = random({6, 5}) * (step == 12 ? 50 : 1);
    losses.push_back(cross_entropies(net_->forward(inputs), random_integers({6}, 3)));
    return losses.back();
  };
  const auto sink = loop.run(16);
  const auto series = [&](const std::string& name, int64_t step, const std::string& group = "") {
    std::vector<double> before;
    for (int64_t k = std::max<int64_t>(0, step - 10); k < step; ++k) {
      before.push_back(sink->number(k, name, group));
    }
    return robust_score(before, sink->number(step, name, group));
  };
  EXPECT_EQ(sink->find(7, "spikes"), nullptr);
  for (int64_t step = 8; step < 15; ++step) {
    expect_number(sink->number(step, "spikes"), series("loss", step), "loss");
    expect_number(
        sink->number(step, "spikes", "", "grad_norm"), series("grad_norm", step), "gradient");
    expect_number(
        sink->number(step, "spikes", "", "update"), series("update_size", step), "update");
    for (const char* group : {"0.weight", "2.bias"}) {
      expect_number(sink->number(step, "spikes", group, "grad_norm"),
                    series("grad_norm", step, group),
                    "gradient of a group");
      expect_number(sink->number(step, "spikes", group, "update"),
                    series("update_size", step, group),
                    "update of a group");
    }
  }
  const Reading* samples = sink->find(12, "spikes", "", "samples");
  ASSERT_NE(samples, nullptr);
  ASSERT_EQ(samples->list.size(), 2u);
  EXPECT_EQ(samples->list[0], static_cast<double>(losses[12].argmax().item<int64_t>()));
  EXPECT_EQ(sink->find(12, "spikes", "", "losses")->list[0], number(losses[12].max()));
}

TEST_F(DiagnosisTest, AValueThatNeverChangesIsNoSpike) {
  const Tensor parameter = random_parameter({3});
  ShortLoop loop;
  loop.quantities = {quantity("spikes")};
  loop.parameters = ParameterList().add("w", parameter);
  loop.losses = [&](int64_t) { return parameter.expand({4, 3}).square().sum(1); };
  EXPECT_EQ(loop.run(10)->number(9, "spikes"), 0);
}

TEST_F(DiagnosisTest, SpikesGoOnWhereTheyWereSaved) {
  ShortLoop loop;
  const Tensor inputs = random({20, 6, 5}), labels = random_integers({20, 6}, 3);
  const auto run = [&](bool is_interrupted) {
    auto sink = std::make_shared<MemorySink>();
    auto cockpit = std::make_unique<Cockpit>(
        net_->named_parameters(), std::vector<Quantity>{quantity("spikes"), quantity("inputs")});
    cockpit->add_sink(sink);
    for (int64_t step = 0; step < 20; ++step) {
      if (is_interrupted && step == 12) {
        const auto saved = cockpit->save();
        cockpit = std::make_unique<Cockpit>(
            net_->named_parameters(),
            std::vector<Quantity>{quantity("spikes"), quantity("inputs")});
        sink = std::make_shared<MemorySink>();
        cockpit->add_sink(sink);
        cockpit->load(saved);
      }
      clear_gradients(net_->named_parameters());
      const Tensor losses = cross_entropies(net_->forward(inputs[step % 15]), labels[step]);
      StepWatch watch = cockpit->watch(step, losses);
      losses.mean().backward();
      watch.end();
    }
    cockpit->finish();
    return std::make_pair(sink->number(19, "spikes"),
                          sink->number(17, "inputs", "", "seen_before"));
  };
  EXPECT_EQ(run(true), run(false));
}

// ---- step_times ---------------------------------------------------------------------------------

TEST_F(DiagnosisTest, TimesOfAStepAddUp) {
  ShortLoop loop;
  loop.quantities = {quantity("step_times")};
  loop.parameters = net_->named_parameters();
  loop.losses = [&](int64_t) { return losses_of(net_->forward(random({6, 5}))); };
  loop.told = [](int64_t) {
    StepOptions told;
    told.phases = {{"data", 0.25}, {"forward", 0.5}};
    return told;
  };
  const auto sink = loop.run(4);
  const auto field = [&](int64_t step, const std::string& name) {
    return sink->number(step, "step_times", "", name);
  };
  EXPECT_EQ(sink->find(0, "step_times"), nullptr);
  for (int64_t step = 1; step < 4; ++step) {
    EXPECT_GT(sink->number(step, "step_times"), 0);
    EXPECT_GT(field(step, "backward"), 0);
    EXPECT_GT(field(step, "cockpit"), 0);
    EXPECT_NEAR(field(step, "between") + field(step, "cockpit") + field(step - 1, "backward"),
                sink->number(step, "step_times"),
                1e-9);
    EXPECT_GE(field(step, "between"), 0);
    EXPECT_EQ(field(step, "data"), 0.25);
    EXPECT_EQ(field(step, "forward"), 0.5);
    EXPECT_GT(field(step, "memory"), 1e6);
    EXPECT_GE(field(step, "memory_peak"), field(step, "memory"));
  }
}

// ---- weight_spectra -----------------------------------------------------------------------------

double largest_singular(const Tensor& tensor) {
  return number(at::linalg_svdvals(tensor.detach().flatten(1))[0]);
}

TEST_F(DiagnosisTest, SpectralNormsAreLargestSingularValues) {
  auto net = on_device(nn::Sequential(nn::Conv2d(2, 3, 3), nn::Flatten(), nn::Linear(12, 5)));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  ShortLoop loop;
  loop.quantities = {quantity("weight_spectra", {{"iterations", 2000}})};
  loop.parameters = net->named_parameters();
  loop.optimizer = &optimizer;
  std::vector<std::vector<Tensor>> weights;
  loop.losses = [&](int64_t) {
    weights.emplace_back();
    for (const Tensor& tensor : net->parameters())
      weights.back().push_back(tensor.detach().clone());
    return losses_of(net->forward(random({4, 2, 4, 4})));
  };
  const auto sink = loop.run(3);
  const std::vector<std::string> names = {"0.weight", "0.bias", "2.weight", "2.bias"};
  for (int64_t step = 0; step < 2; ++step) {
    double largest = 0, largest_update = 0;
    for (const size_t p : {0, 2}) {
      const Tensor& weight = weights[step][p];
      const Tensor update = weights[step + 1][p] - weight;
      const double norm = largest_singular(weight), moved = largest_singular(update);
      largest = std::max(largest, norm);
      largest_update = std::max(largest_update, moved);
      expect_number(sink->number(step, "weight_spectra", names[p]), norm, names[p]);
      expect_number(sink->number(step, "weight_spectra", names[p], "stable_rank"),
                    number(weight.square().sum()) / (norm * norm),
                    names[p] + " stable rank");
      const Tensor values = at::linalg_svdvals(weight.flatten(1));
      expect_number(sink->number(step, "weight_spectra", names[p], "condition"),
                    number(values[0] / values[-1]),
                    names[p] + " condition",
                    1e-6);
      expect_number(sink->number(step, "weight_spectra", names[p], "update"), moved, "update");
      expect_number(sink->number(step, "weight_spectra", names[p], "update_stable_rank"),
                    number(update.square().sum()) / (moved * moved),
                    "rank of the update");
    }
    expect_number(sink->number(step, "weight_spectra"), largest, "largest");
    expect_number(sink->number(step, "weight_spectra", "", "update"), largest_update, "update");
    expect_number(sink->number(step, "weight_spectra", "2.bias"),
                  number(weights[step][3].norm()),
                  "norm of a vector");
  }
}

TEST_F(DiagnosisTest, AFewWarmIterationsFollowASlowWeight) {
  ShortLoop loop;
  loop.quantities = {quantity("weight_spectra")};
  loop.parameters = net_->named_parameters();
  torch::optim::SGD optimizer(net_->parameters(), torch::optim::SGDOptions(0.001));
  loop.optimizer = &optimizer;
  Tensor last;
  loop.losses = [&](int64_t) {
    last = net_->named_parameters()["0.weight"].detach().clone();
    return losses_of(net_->forward(random({6, 5})));
  };
  const auto sink = loop.run(40);
  expect_number(
      sink->number(39, "weight_spectra", "0.weight"), largest_singular(last), "warm", 1e-3);
}

TEST_F(DiagnosisTest, WeightsThatAreNotFiniteHaveSpectraThatAreNot) {
  net_->named_parameters()["0.weight"].detach()[0][0] = NAN;
  ShortLoop loop;
  loop.quantities = {quantity("weight_spectra")};
  loop.parameters = net_->named_parameters();
  loop.losses = [&](int64_t) { return losses_of(net_->forward(random({6, 5}))); };
  const auto sink = loop.run(1);
  EXPECT_TRUE(std::isnan(sink->number(0, "weight_spectra", "0.weight")));
  EXPECT_TRUE(std::isnan(sink->number(0, "weight_spectra", "0.weight", "condition")));
}

// ---- critical_batch -----------------------------------------------------------------------------

TEST_F(DiagnosisTest, TheCriticalBatchDividesWhatWasSmoothed) {
  ShortLoop loop;
  loop.quantities = {quantity("critical_batch", {{"decay", 0.5}}), quantity("grad_noise_scale")};
  loop.parameters = net_->named_parameters();
  loop.losses = [&](int64_t) {
    return cross_entropies(net_->forward(random({6, 5})), random_integers({6}, 3));
  };
  const auto sink = loop.run(5);
  double noise = 0, signal = 0;
  for (int64_t step = 0; step < 5; ++step) {
    noise = 0.5 * noise + 0.5 * sink->number(step, "grad_noise_scale", "", "noise");
    signal = 0.5 * signal + 0.5 * sink->number(step, "grad_noise_scale", "", "signal");
    expect_number(sink->number(step, "critical_batch"), noise / signal, "critical batch");
    expect_number(sink->number(step, "critical_batch", "", "ratio"), 6 * signal / noise, "ratio");
  }
}

// ---- sharpness ----------------------------------------------------------------------------------

// The largest eigenvalue of diag(s) H diag(s) over the bound, with a dense Hessian.
double dense_sharpness(const Tensor& hessian, const Tensor& squared_scale, double bound) {
  const Tensor s = squared_scale.sqrt();
  const Tensor scaled = s.unsqueeze(1) * hessian * s;
  return number(at::linalg_eigvalsh(scaled).max()) / bound;
}

struct SharpCase {
  std::string name;
  std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<Tensor>)> make;
  double bound;
  bool is_adam = false;
};

TEST_F(DiagnosisTest, SharpnessIsThatOfThePreconditionedHessian) {
  using torch::optim::SGDOptions;
  const std::vector<SharpCase> cases = {
      {"sgd",
       [](auto tensors) { return std::make_unique<torch::optim::SGD>(tensors, SGDOptions(0.1)); },
       2},
      {"momentum",
       [](auto tensors) {
         return std::make_unique<torch::optim::SGD>(tensors, SGDOptions(0.1).momentum(0.9));
       },
       2 * 1.9},
      {"nesterov",
       [](auto tensors) {
         return std::make_unique<torch::optim::SGD>(tensors,
                                                    SGDOptions(0.1).momentum(0.9).nesterov(true));
       },
       2 * 1.9 / 2.8},
      {"adam",
       [](auto tensors) {
         return std::make_unique<torch::optim::Adam>(tensors, torch::optim::AdamOptions(0.1));
       },
       38,
       true},
  };
  for (const SharpCase& one : cases) {
    auto net = on_device(nn::Sequential(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 3)));
    const auto optimizer = one.make(net->parameters());
    const Tensor inputs = random({6, 3}), labels = random_integers({6}, 3);
    ShortLoop loop;
    loop.quantities = {quantity("sharpness", {{"tolerance", 1e-9}, {"max_products", 2000}})};
    loop.parameters = net->named_parameters();
    loop.optimizer = optimizer.get();
    Tensor hessian, second;  // of the last step; Adam's second moment as we keep it ourselves
    int64_t steps = 0;
    loop.losses = [&](int64_t) {
      const Tensor outputs = net->forward(inputs);
      const Tensor losses = cross_entropies(outputs, labels);
      const DenseCurvature dense = dense_curvature(losses, outputs, loop.parameters);
      hessian = dense.hessian();
      if (steps++ < 2) {
        const Tensor gradient = dense.gradients.mean(0);
        second = 0.001 * gradient.square() + (second.defined() ? 0.999 * second : 0 * gradient);
      }
      return losses;
    };
    const auto sink = loop.run(3);
    Tensor scale = at::full({hessian.size(0)}, 0.1, doubles());
    if (one.is_adam) {
      const double first = 1 - std::pow(0.9, 2), correction = 1 - std::pow(0.999, 2);
      scale = 0.1 / (((second / correction).sqrt() + 1e-8) * first);
      EXPECT_EQ(sink->find(0, "sharpness"), nullptr);
    }
    expect_number(
        sink->number(2, "sharpness"), dense_sharpness(hessian, scale, one.bound), one.name, 1e-6);
    expect_number(sink->number(2, "sharpness", "", "bound"), one.bound, "bound", 1e-9);
  }
}

TEST_F(DiagnosisTest, SharpnessTakesRulesThatAreTold) {
  ShortLoop loop;
  loop.quantities = {quantity("sharpness", {{"tolerance", 1e-9}, {"max_products", 2000}})};
  loop.parameters = net_->named_parameters();
  loop.told = [&](int64_t) {
    StepOptions told;
    told.update_formulas.emplace();
    for (const Tensor& tensor : net_->parameters()) {
      told.update_formulas->emplace_back(tensor, UpdateFormula{0.3, 0, false, false, {}});
    }
    return told;
  };
  const Tensor inputs = random({6, 5}), labels = random_integers({6}, 3);
  loop.losses = [&](int64_t) { return cross_entropies(net_->forward(inputs), labels); };
  const Tensor outputs = net_->forward(inputs);
  const Tensor hessian =
      dense_curvature(cross_entropies(outputs, labels), outputs, loop.parameters).hessian();
  expect_number(loop.run(1)->number(0, "sharpness"),
                dense_sharpness(hessian, at::full({hessian.size(0)}, 0.3, doubles()), 2),
                "told rules",
                1e-6);
}

TEST_F(DiagnosisTest, WithoutAnOptimizerThereIsNoSharpness) {
  ShortLoop loop;
  loop.quantities = {quantity("sharpness")};
  loop.parameters = net_->named_parameters();
  loop.losses = [&](int64_t) { return losses_of(net_->forward(random({6, 5}))); };
  const auto sink = loop.run(1);
  EXPECT_EQ(sink->find(0, "sharpness"), nullptr);
  EXPECT_EQ(remarks_of(*sink, "sharpness").size(), 1u);
}

// ---- label_conflicts ----------------------------------------------------------------------------

TEST_F(DiagnosisTest, ConflictsAreNegativeCosinesWithTheRestOfTheClass) {
  const Tensor inputs = random({9, 5});
  const Tensor labels = at::tensor({0, 1, 2, 0, 1, 0, 0, 1, 1}, at::kLong).to(test_device());
  ShortLoop loop;
  loop.quantities = {quantity("label_conflicts", {{"count", 3}})};
  loop.parameters = net_->named_parameters();
  loop.losses = [&](int64_t) { return cross_entropies(net_->forward(inputs), labels); };
  loop.told = [](int64_t) {
    StepOptions told;
    told.sample_ids = at::arange(100, 109, at::kLong);
    return told;
  };
  const auto sink = loop.run(1);
  const Tensor outputs = net_->forward(inputs);
  const Tensor rows =
      dense_curvature(cross_entropies(outputs, labels), outputs, loop.parameters).gradients;
  std::vector<std::pair<double, int64_t>> cosines;
  double negative = 0;
  for (int64_t n = 0; n < 9; ++n) {
    Tensor sum = at::zeros_like(rows[0]);
    int64_t others = 0;
    for (int64_t m = 0; m < 9; ++m) {
      if (m == n || number(labels[m]) != number(labels[n])) continue;
      sum += rows[m];
      ++others;
    }
    if (others == 0) continue;
    const double cosine = number(rows[n].dot(sum) / (rows[n].norm() * sum.norm()));
    cosines.emplace_back(cosine, n);
    negative += cosine < 0 ? 1 : 0;
  }
  std::sort(cosines.begin(), cosines.end());
  ASSERT_EQ(cosines.size(), 8u);  // the only one of class 2 has nobody to agree with
  expect_number(sink->number(0, "label_conflicts"), negative / 8, "share");
  expect_number(
      sink->number(0, "label_conflicts", "", "smallest"), cosines[0].first, "smallest", 1e-6);
  const Reading* samples = sink->find(0, "label_conflicts", "", "samples");
  const Reading* ids = sink->find(0, "label_conflicts", "", "ids");
  ASSERT_EQ(samples->list.size(), 3u);
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(samples->list[k], static_cast<double>(cosines[k].second));
    EXPECT_EQ(ids->list[k], static_cast<double>(100 + cosines[k].second));
  }
}

TEST_F(DiagnosisTest, ConflictsNeedLabels) {
  ShortLoop loop;
  loop.quantities = {quantity("label_conflicts")};
  loop.parameters = net_->named_parameters();
  loop.losses = [&](int64_t) { return losses_of(net_->forward(random({6, 5}))); };
  EXPECT_EQ(remarks_of(*loop.run(1), "label_conflicts").size(), 1u);
}

}  // namespace
}  // namespace flightdeck::tests
