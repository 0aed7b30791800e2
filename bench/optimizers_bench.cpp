// SPDX-License-Identifier: MIT
// A step of the suite's optimizers and of LibTorch's own, side by side, on the parameters of
// mnist_mlp (1 336 610 entries), of 3c3d (895 210) and on many small ones. Float, CPU. Argument:
// threads.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "suite/optimizer.h"

namespace flightdeck::suite {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;
using Parameters = std::vector<Tensor>;

struct Net {
  const char* name;
  Shapes shapes;
};

const Net kNets[] = {
    {"mnist_mlp", {{1000, 784}, {1000}, {500, 1000}, {500}, {100, 500}, {100}, {10, 100}, {10}}},
    {"3c3d",
     {{64, 3, 5, 5},
      {64},
      {96, 64, 3, 3},
      {96},
      {128, 96, 3, 3},
      {128},
      {512, 1152},
      {512},
      {256, 512},
      {256},
      {10, 256},
      {10}}},
    {"200_small", Shapes(200, {64})},
};

struct Rule {
  const char* name;
  std::shared_ptr<torch::optim::Optimizer> (*torchs)(Parameters);
};

template <typename Optimizer, typename Options>
std::shared_ptr<torch::optim::Optimizer> own(Parameters parameters, Options options) {
  return std::make_shared<Optimizer>(std::move(parameters), options);
}

const Rule kRules[] = {
    {"sgd", [](Parameters p) { return own<torch::optim::SGD>(p, torch::optim::SGDOptions(1e-2)); }},
    {"momentum",
     [](Parameters p) {
       return own<torch::optim::SGD>(p, torch::optim::SGDOptions(1e-2).momentum(0.99));
     }},
    {"nag",
     [](Parameters p) {
       return own<torch::optim::SGD>(p,
                                     torch::optim::SGDOptions(1e-2).momentum(0.99).nesterov(true));
     }},
    {"adagrad",
     [](Parameters p) {
       return own<torch::optim::Adagrad>(p, torch::optim::AdagradOptions(1e-2));
     }},
    {"rmsprop",
     [](Parameters p) {
       return own<torch::optim::RMSprop>(p, torch::optim::RMSpropOptions(1e-3));
     }},
    {"adam",
     [](Parameters p) { return own<torch::optim::Adam>(p, torch::optim::AdamOptions(1e-3)); }},
    {"amsgrad",
     [](Parameters p) {
       return own<torch::optim::Adam>(p, torch::optim::AdamOptions(1e-2).amsgrad(true));
     }},
    {"adamw",
     [](Parameters p) { return own<torch::optim::AdamW>(p, torch::optim::AdamWOptions(1e-3)); }},
    // Not in LibTorch.
    {"adabelief", nullptr},
    {"adabound", nullptr},
    {"adadelta", nullptr},
    {"amsbound", nullptr},
    {"lookahead_momentum", nullptr},
    {"lookahead_radam", nullptr},
    {"nadam", nullptr},
    {"radam", nullptr},
};

void run(benchmark::State& state, const Net& net, const Rule& rule, bool is_torchs) {
  at::set_num_threads(int(state.range(0)));
  torch::manual_seed(1);
  Parameters parameters;
  for (const std::vector<int64_t>& shape : net.shapes) {
    parameters.push_back(torch::randn(shape).requires_grad_());
    parameters.back().mutable_grad() = torch::randn(shape).mul_(0.01);
  }
  const auto optimizer =
      is_torchs ? rule.torchs(parameters) : find_optimizer(rule.name).make(parameters);
  optimizer->step();
  for (auto _ : state) optimizer->step();
}

void add(const Net& net, const Rule& rule, bool is_torchs) {
  const std::string name =
      std::string(net.name) + "/" + rule.name + (is_torchs ? "/libtorch" : "/suite");
  benchmark::RegisterBenchmark(name.c_str(), run, net, rule, is_torchs)
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace flightdeck::suite

int main(int argc, char** argv) {
  using namespace flightdeck::suite;
  for (const Net& net : kNets) {
    for (const Rule& rule : kRules) {
      if (rule.torchs != nullptr) add(net, rule, true);
      add(net, rule, false);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
