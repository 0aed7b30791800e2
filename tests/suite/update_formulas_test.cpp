// SPDX-License-Identifier: MIT
// Every optimizer against its published formula, written here for one number at a time in double,
// and against LibTorch's own where it has one.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "suite/optimizer.h"

namespace flightdeck::suite {
namespace {

using std::max;
using std::min;
using std::pow;
using std::sqrt;

// Roundings of 100 steps.
constexpr double kTolerance = 1e-11;
constexpr int kSteps = 100;

// ---- the formulas -------------------------------------------------------------------------------

// What a formula remembers of one number: as many as it likes, 0 at first.
using Memory = std::map<std::string, double>;
using Formula =
    std::function<void(double& x, double g, Memory& s, int t, const Hyperparameters& h)>;

void decay_gradient(double& g, double x, const Hyperparameters& h) {
  g += h.at("weight_decay") * x;
}

void sgd(double& x, double g, Memory&, int, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  x -= h.at("learning_rate") * g;
}

void momentum(double& x, double g, Memory& s, int, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  s["v"] = h.at("momentum") * s["v"] + g;
  x -= h.at("learning_rate") * s["v"];
}

void nag(double& x, double g, Memory& s, int, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  s["v"] = h.at("momentum") * s["v"] + g;
  x -= h.at("learning_rate") * (g + h.at("momentum") * s["v"]);
}

void adagrad(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  if (t == 1) s["s"] = h.at("start");
  s["s"] += g * g;
  x -= h.at("learning_rate") / (sqrt(s["s"]) + h.at("epsilon")) * g;
}

void rmsprop(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  if (t == 1) s["s"] = h.at("start");
  s["s"] = h.at("decay") * s["s"] + (1 - h.at("decay")) * g * g;
  s["v"] = h.at("momentum") * s["v"] + g / (sqrt(s["s"]) + h.at("epsilon"));
  x -= h.at("learning_rate") * s["v"];
}

void adadelta(double& x, double g, Memory& s, int, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  const double rho = h.at("decay"), epsilon = h.at("epsilon");
  s["s"] = rho * s["s"] + (1 - rho) * g * g;
  const double step = sqrt(s["d"] + epsilon) / sqrt(s["s"] + epsilon) * g;
  s["d"] = rho * s["d"] + (1 - rho) * step * step;
  x -= h.at("learning_rate") * step;
}

void average(double g, Memory& s, const Hyperparameters& h) {
  s["m"] = h.at("beta1") * s["m"] + (1 - h.at("beta1")) * g;
  s["v"] = h.at("beta2") * s["v"] + (1 - h.at("beta2")) * g * g;
}

double corrected(double mean, double beta, int t) { return mean / (1 - pow(beta, t)); }

void adam(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  const double m = corrected(s["m"], h.at("beta1"), t), v = corrected(s["v"], h.at("beta2"), t);
  x -= h.at("learning_rate") * m / (sqrt(v) + h.at("epsilon"));
}

void adamw(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  average(g, s, h);
  const double m = corrected(s["m"], h.at("beta1"), t), v = corrected(s["v"], h.at("beta2"), t);
  x -= h.at("learning_rate") * (m / (sqrt(v) + h.at("epsilon")) + h.at("weight_decay") * x);
}

void amsgrad(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  s["u"] = max(s["u"], s["v"]);
  const double m = corrected(s["m"], h.at("beta1"), t), u = corrected(s["u"], h.at("beta2"), t);
  x -= h.at("learning_rate") * m / (sqrt(u) + h.at("epsilon"));
}

void adabelief(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  s["s"] = h.at("beta2") * s["s"] + (1 - h.at("beta2")) * pow(g - s["m"], 2) + h.at("epsilon");
  const double m = corrected(s["m"], h.at("beta1"), t), v = corrected(s["s"], h.at("beta2"), t);
  x -= h.at("learning_rate") * m / (sqrt(v) + h.at("epsilon"));
}

void bounded(double& x, double v, Memory& s, int t, const Hyperparameters& h) {
  const double rate =
      h.at("learning_rate") * sqrt(1 - pow(h.at("beta2"), t)) / (1 - pow(h.at("beta1"), t));
  const double low = h.at("final_rate") * (1 - 1 / (h.at("gamma") * t + 1));
  const double high = h.at("final_rate") * (1 + 1 / (h.at("gamma") * t));
  x -= min(max(rate / (sqrt(v) + h.at("epsilon")), low), high) * s["m"];
}

void adabound(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  bounded(x, s["v"], s, t, h);
}

void amsbound(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  s["u"] = max(s["u"], s["v"]);
  bounded(x, s["u"], s, t, h);
}

void nadam(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  const auto mu = [&](int i) {
    return h.at("beta1") * (1 - 0.5 * pow(0.96, i * h.at("momentum_decay")));
  };
  double product = 1;
  for (int i = 1; i <= t; ++i) product *= mu(i);
  const double v = corrected(s["v"], h.at("beta2"), t);
  x -= h.at("learning_rate") / (sqrt(v) + h.at("epsilon")) *
       ((1 - mu(t)) * g / (1 - product) + mu(t + 1) * s["m"] / (1 - product * mu(t + 1)));
}

void radam(double& x, double g, Memory& s, int t, const Hyperparameters& h) {
  decay_gradient(g, x, h);
  average(g, s, h);
  const double beta2 = h.at("beta2"), most = 2 / (1 - beta2) - 1;
  const double rho = most - 2 * t * pow(beta2, t) / (1 - pow(beta2, t));
  const double m = corrected(s["m"], h.at("beta1"), t), v = corrected(s["v"], beta2, t);
  if (rho <= 4) {
    x -= h.at("learning_rate") * m;
    return;
  }
  const double r = sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho));
  x -= h.at("learning_rate") * r * m / (sqrt(v) + h.at("epsilon"));
}

Formula lookahead(const Formula& inner) {
  return [inner](double& x, double g, Memory& s, int t, const Hyperparameters& h) {
    if (t == 1) s["slow"] = x;
    inner(x, g, s, t, h);
    if (t % static_cast<int>(h.at("fast_steps")) == 0) {
      s["slow"] += h.at("slow_rate") * (x - s["slow"]);
      x = s["slow"];
    }
  };
}

// A formula of all numbers of a parameter together; each remembers its own.
using Layer = std::vector<double>;
using LayerFormula = std::function<void(
    Layer& x, const Layer& g, std::vector<Memory>& s, int t, const Hyperparameters& h)>;

double length(const Layer& numbers) {
  double squares = 0;
  for (const double number : numbers) squares += number * number;
  return sqrt(squares);
}

double layer_rate(double base, double parameter, double step) {
  return parameter == 0 || step == 0 ? base : base * parameter / step;
}

void lars(Layer& x, const Layer& g, std::vector<Memory>& s, int, const Hyperparameters& h) {
  const double decay = h.at("weight_decay");
  const double rate =
      layer_rate(h.at("learning_rate") * h.at("trust"), length(x), length(g) + decay * length(x));
  for (size_t i = 0; i < x.size(); ++i) {
    s[i]["v"] = h.at("momentum") * s[i]["v"] + rate * (g[i] + decay * x[i]);
    x[i] -= s[i]["v"];
  }
}

void lamb(Layer& x, const Layer& g, std::vector<Memory>& s, int t, const Hyperparameters& h) {
  Layer u(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    average(g[i], s[i], h);
    const double m = corrected(s[i]["m"], h.at("beta1"), t);
    const double v = corrected(s[i]["v"], h.at("beta2"), t);
    u[i] = m / (sqrt(v) + h.at("epsilon")) + h.at("weight_decay") * x[i];
  }
  const double rate = layer_rate(h.at("learning_rate"), length(x), length(u));
  for (size_t i = 0; i < x.size(); ++i) x[i] -= rate * u[i];
}

const std::map<std::string, LayerFormula>& layer_formulas() {
  static const std::map<std::string, LayerFormula> table = {{"lamb", lamb}, {"lars", lars}};
  return table;
}

const std::map<std::string, Formula>& formulas() {
  static const std::map<std::string, Formula> table = {{"adabelief", adabelief},
                                                       {"adabound", adabound},
                                                       {"adadelta", adadelta},
                                                       {"adagrad", adagrad},
                                                       {"adam", adam},
                                                       {"adamw", adamw},
                                                       {"amsbound", amsbound},
                                                       {"amsgrad", amsgrad},
                                                       {"lookahead_momentum", lookahead(momentum)},
                                                       {"momentum", momentum},
                                                       {"nadam", nadam},
                                                       {"lookahead_radam", lookahead(radam)},
                                                       {"nag", nag},
                                                       {"radam", radam},
                                                       {"rmsprop", rmsprop},
                                                       {"sgd", sgd}};
  return table;
}

// ---- cases --------------------------------------------------------------------------------------

// Settings beside the defaults, as far as an optimizer has them.
Hyperparameters settings(const OptimizerEntry& entry, const Hyperparameters& wanted) {
  Hyperparameters given;
  for (const Hyperparameter& parameter : entry.hyperparameters) {
    const auto found = wanted.find(parameter.name);
    if (found != wanted.end()) given.insert(*found);
  }
  return given;
}

const std::vector<Hyperparameters>& variants() {
  static const std::vector<Hyperparameters> all = {
      {},
      {{"learning_rate", 0.05},
       {"weight_decay", 0.1},
       {"momentum", 0.5},
       {"fast_steps", 3},
       {"trust", 0.1}},
      {{"learning_rate", 0.3},
       {"beta1", 0.6},
       {"beta2", 0.85},
       {"decay", 0.6},
       {"start", 0.1},
       {"momentum", 0.0},
       {"gamma", 0.1},
       {"slow_rate", 0.2},
       {"epsilon", 1e-3},
       {"fast_steps", 1}},
      {{"learning_rate", 0.01}, {"beta1", 0.0}, {"beta2", 0.5}, {"momentum_decay", 0.1}}};
  return all;
}

// Gradients from 1e-3 to 1e3; of every four entries one has them seldom and one never.
double gradient_at(int64_t entry, int step) {
  if (entry % 4 == 3 || (entry % 4 == 2 && step % 5 != 0)) return 0.0;
  const double scale = pow(10.0, static_cast<double>(entry % 7) - 3.0);
  return scale * (std::sin(1.3 * step + static_cast<double>(entry)) + 0.2);
}

Tensor gradient_of(const Tensor& parameter, int step) {
  Tensor gradient = torch::empty(parameter.sizes(), torch::kDouble);
  for (int64_t i = 0; i < gradient.numel(); ++i) {
    gradient.view(-1)[i] = gradient_at(i, step);
  }
  return gradient.to(parameter.scalar_type());
}

Tensor start(at::IntArrayRef shape) {
  torch::manual_seed(1);
  return torch::randn(shape, torch::kDouble).requires_grad_();
}

void take_steps(torch::optim::Optimizer& optimizer, const Tensor& parameter, int from, int to) {
  for (int step = from; step <= to; ++step) {
    parameter.mutable_grad() = gradient_of(parameter, step);
    optimizer.step();
  }
}

// The parameter after kSteps by the formula of this file.
std::vector<double> follow(const std::string& name,
                           const Tensor& from,
                           const Hyperparameters& values) {
  Layer x, g(static_cast<size_t>(from.numel()));
  for (int64_t i = 0; i < from.numel(); ++i) {
    x.push_back(from.detach().reshape(-1)[i].item<double>());
  }
  std::vector<Memory> memories(x.size());
  for (int step = 1; step <= kSteps; ++step) {
    for (size_t i = 0; i < x.size(); ++i) g[i] = gradient_at(static_cast<int64_t>(i), step);
    if (layer_formulas().count(name) > 0) {
      layer_formulas().at(name)(x, g, memories, step, values);
      continue;
    }
    for (size_t i = 0; i < x.size(); ++i)
      formulas().at(name)(x[i], g[i], memories[i], step, values);
  }
  return x;
}

void expect_near(const Tensor& actual, const std::vector<double>& expected, const char* what) {
  const Tensor flat = actual.detach().reshape(-1);
  ASSERT_EQ(flat.numel(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const double value = expected[static_cast<size_t>(i)];
    EXPECT_NEAR(flat[i].item<double>(), value, kTolerance * max(1.0, std::abs(value)))
        << what << " entry " << i;
  }
}

TEST(OptimizerRules, AreAllTested) {
  for (const OptimizerEntry& entry : first_order_optimizers()) {
    EXPECT_EQ(formulas().count(entry.name) + layer_formulas().count(entry.name), 1u) << entry.name;
  }
  EXPECT_EQ(first_order_optimizers().size(), formulas().size() + layer_formulas().size());
}

class UpdateFormula : public testing::TestWithParam<std::string> {
 protected:
  const OptimizerEntry& entry() const { return find_optimizer(GetParam()); }
};

TEST_P(UpdateFormula, FollowsThePublishedFormula) {
  const std::vector<std::vector<int64_t>> shapes = {{}, {9}, {3, 5}, {2, 3, 4}};
  for (const Hyperparameters& wanted : variants()) {
    const Hyperparameters given = settings(entry(), wanted);
    for (const std::vector<int64_t>& shape : shapes) {
      const Tensor parameter = start(shape);
      const std::vector<double> expected = follow(GetParam(), parameter, entry().complete(given));
      const auto optimizer = entry().make({parameter}, given);
      take_steps(*optimizer, parameter, 1, kSteps);
      expect_near(parameter, expected, GetParam().c_str());
    }
  }
}

// Gradients that lie otherwise in memory take the path of the tensors on a GPU.
TEST_P(UpdateFormula, DoesNotDependOnTheLayoutOfGradients) {
  for (const Hyperparameters& wanted : variants()) {
    const Hyperparameters given = settings(entry(), wanted);
    const Tensor plain = start({3, 5}), other = start({3, 5});
    const auto first = entry().make({plain}, given), second = entry().make({other}, given);
    for (int step = 1; step <= kSteps; ++step) {
      plain.mutable_grad() = gradient_of(plain, step);
      other.mutable_grad() = gradient_of(plain, step).t().contiguous().t();
      first->step();
      second->step();
    }
    EXPECT_TRUE(torch::allclose(plain, other, kTolerance, kTolerance));
  }
}

TEST_P(UpdateFormula, TreatsEveryEntryAlike) {
  // Above the size from which threads share the work, and no multiple of a vector's length.
  const Tensor parameter = torch::full({70001}, 0.7f).requires_grad_();
  const auto optimizer = entry().make({parameter}, settings(entry(), variants()[1]));
  for (int step = 1; step <= 12; ++step) {
    parameter.mutable_grad() = torch::full_like(parameter, gradient_at(5, step));
    optimizer->step();
  }
  EXPECT_TRUE(torch::equal(parameter.min(), parameter.max()));
  EXPECT_NE(parameter[0].item<float>(), 0.7f);
}

TEST_P(UpdateFormula, LetsNanThrough) {
  for (const bool is_transposed : {false, true}) {
    const Tensor parameter = start({2, 3}), untouched = start({2, 3});
    const auto optimizer = entry().make({parameter}), other = entry().make({untouched});
    for (int step = 1; step <= 10; ++step) {
      Tensor gradient = gradient_of(parameter, step);
      untouched.mutable_grad() = gradient.clone();
      if (step == 3) gradient[0][1] = NAN;
      parameter.mutable_grad() = is_transposed ? gradient.t().contiguous().t() : gradient;
      optimizer->step();
      other->step();
    }
    EXPECT_TRUE(std::isnan(parameter[0][1].item<double>()));
    // Where the length of the gradient sets that of the step no entry has one any more.
    if (layer_formulas().count(GetParam()) > 0) {
      EXPECT_EQ(torch::isnan(parameter).sum().item<int64_t>(), 6);
      continue;
    }
    EXPECT_EQ(torch::isnan(parameter).sum().item<int64_t>(), 1);
    EXPECT_NEAR(parameter[1][1].item<double>(), untouched[1][1].item<double>(), kTolerance);
  }
}

TEST_P(UpdateFormula, FindsTheMinimumOfAParabola) {
  const Tensor parameter = torch::tensor({3.0, -2.0}, torch::kDouble).requires_grad_();
  const Tensor curvature = torch::tensor({1.0, 0.3}, torch::kDouble);
  const std::map<std::string, double> others = {
      {"adadelta", 10.0}, {"adagrad", 0.5}, {"lamb", 0.001}, {"lars", 0.001}};
  const double rate = others.count(GetParam()) > 0 ? others.at(GetParam()) : 0.01;
  const auto optimizer = entry().make(
      {parameter},
      settings(entry(), {{"learning_rate", rate}, {"momentum", 0.9}, {"weight_decay", 0}}));
  for (int step = 0; step < 3000; ++step) {
    parameter.mutable_grad() = curvature * (parameter.detach() - 1.0);
    optimizer->step();
  }
  EXPECT_LT((parameter - 1.0).abs().max().item<double>(), 0.05);
}

// Otherwise a bias would never leave 0.
TEST(LayerRate, IsTheBaseRateWhereTheParameterIsZero) {
  for (const bool is_transposed : {false, true}) {
    const Tensor parameter = torch::zeros({2, 3}, torch::kDouble).requires_grad_();
    const Tensor gradient = torch::ones({2, 3}, torch::kDouble);
    parameter.mutable_grad() = is_transposed ? gradient.t().contiguous().t() : gradient;
    find_optimizer("lars").make({parameter}, {{"learning_rate", 0.25}})->step();
    EXPECT_TRUE(torch::equal(parameter, -0.25 * gradient));
  }
}

TEST(LayerRate, MakesStepsAsLongAsTheParameterWhateverTheGradient) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    const Tensor parameter = start({40, 1000}), before = parameter.detach().clone();
    parameter.mutable_grad() = scale * torch::randn({40, 1000}, torch::kDouble);
    find_optimizer("lars").make({parameter}, {{"learning_rate", 0.1}})->step();
    const double moved = (parameter.detach() - before).norm().item<double>();
    EXPECT_NEAR(moved, 0.1 * before.norm().item<double>(), 1e-10);
  }
}

std::vector<std::string> first_order_names() {
  std::vector<std::string> all;
  for (const OptimizerEntry& entry : first_order_optimizers()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Suite,
                         UpdateFormula,
                         testing::ValuesIn(first_order_names()),
                         [](const auto& info) { return info.param; });

// ---- LibTorch's own -----------------------------------------------------------------------------

void expect_same_path(const std::string& name,
                      const Hyperparameters& given,
                      const std::function<std::unique_ptr<torch::optim::Optimizer>(Tensor)>& make) {
  const Tensor ours = start({4, 5}), theirs = start({4, 5});
  const auto optimizer = find_optimizer(name).make({ours}, given);
  const auto reference = make(theirs);
  for (int step = 1; step <= kSteps; ++step) {
    take_steps(*optimizer, ours, step, step);
    take_steps(*reference, theirs, step, step);
    ASSERT_TRUE(torch::allclose(ours, theirs, kTolerance, kTolerance)) << name << " step " << step;
  }
}

TEST(LibTorchsOwn, SgdMomentumAndNagAreTheSame) {
  for (const std::string name : {"sgd", "momentum", "nag"}) {
    Hyperparameters given = {{"learning_rate", 0.03}, {"weight_decay", 0.1}};
    if (name != "sgd") given["momentum"] = 0.8;
    expect_same_path(name, given, [&](Tensor parameter) {
      torch::optim::SGDOptions options(0.03);
      options.weight_decay(0.1).momentum(name == "sgd" ? 0.0 : 0.8).nesterov(name == "nag");
      return std::make_unique<torch::optim::SGD>(std::vector<Tensor>{parameter}, options);
    });
  }
}

TEST(LibTorchsOwn, AdamAndAmsGradAreTheSame) {
  for (const std::string name : {"adam", "amsgrad"}) {
    const Hyperparameters given = {{"learning_rate", 0.03},
                                   {"beta1", 0.8},
                                   {"beta2", 0.95},
                                   {"epsilon", 1e-6},
                                   {"weight_decay", 0.1}};
    expect_same_path(name, given, [&](Tensor parameter) {
      torch::optim::AdamOptions options(0.03);
      options.betas({0.8, 0.95}).eps(1e-6).weight_decay(0.1).amsgrad(name == "amsgrad");
      return std::make_unique<torch::optim::Adam>(std::vector<Tensor>{parameter}, options);
    });
  }
}

TEST(LibTorchsOwn, AdamWIsTheSame) {
  expect_same_path("adamw", {{"learning_rate", 0.03}, {"weight_decay", 0.2}}, [](Tensor parameter) {
    torch::optim::AdamWOptions options(0.03);
    options.weight_decay(0.2);
    return std::make_unique<torch::optim::AdamW>(std::vector<Tensor>{parameter}, options);
  });
}

TEST(LibTorchsOwn, AdagradIsTheSame) {
  const Hyperparameters given = {
      {"learning_rate", 0.1}, {"epsilon", 1e-5}, {"start", 0.2}, {"weight_decay", 0.1}};
  expect_same_path("adagrad", given, [](Tensor parameter) {
    torch::optim::AdagradOptions options(0.1);
    options.eps(1e-5).initial_accumulator_value(0.2).weight_decay(0.1);
    return std::make_unique<torch::optim::Adagrad>(std::vector<Tensor>{parameter}, options);
  });
}

TEST(LibTorchsOwn, RmsPropIsTheSame) {
  for (const double share : {0.0, 0.7}) {
    const Hyperparameters given = {{"learning_rate", 0.01},
                                   {"decay", 0.8},
                                   {"epsilon", 1e-6},
                                   {"momentum", share},
                                   {"weight_decay", 0.1}};
    expect_same_path("rmsprop", given, [&](Tensor parameter) {
      torch::optim::RMSpropOptions options(0.01);
      options.alpha(0.8).eps(1e-6).momentum(share).weight_decay(0.1);
      return std::make_unique<torch::optim::RMSprop>(std::vector<Tensor>{parameter}, options);
    });
  }
}

}  // namespace
}  // namespace flightdeck::suite
