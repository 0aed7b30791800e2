// SPDX-License-Identifier: MIT
// What the caller waits for a batch, beside the step that it feeds: N = 128, synthetic data of the
// real shapes. "cut" prepares on the caller's thread, "ahead" on its own; "step" trains
// mnist_logreg, the cheapest problem, with batches from either.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "suite/prefetch.h"

namespace flightdeck::suite {
namespace {

Batches batches_of(const std::string& name) {
  DataOptions options;
  options.synthetic = true;
  return Batches(load_data(name, options), Part::kTrain, BatchOptions());
}

void cut(benchmark::State& state, const std::string& name) {
  Batches batches = batches_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(batches.next());
}

template <typename Source>
void train(benchmark::State& state, const std::string& name, Source& batches) {
  const Problem& problem = find_problem(name);
  const Model model = problem.build();
  torch::optim::SGD optimizer(model.module->parameters(), 0.01);
  for (auto _ : state) {
    const Batch batch = batches.next();
    optimizer.zero_grad();
    problem.losses(model.forward(batch.inputs), batch.targets).mean().backward();
    optimizer.step();
  }
}

void step_cut(benchmark::State& state, const std::string& name) {
  Batches batches = batches_of(find_problem(name).data_set);
  train(state, name, batches);
}

void step_ahead(benchmark::State& state, const std::string& name) {
  Prefetch batches(batches_of(find_problem(name).data_set));
  train(state, name, batches);
}

BENCHMARK_CAPTURE(cut, mnist, "mnist")->UseRealTime();
BENCHMARK_CAPTURE(cut, cifar10, "cifar10")->UseRealTime();
BENCHMARK_CAPTURE(step_cut, mnist_logreg, "mnist_logreg")->UseRealTime();
BENCHMARK_CAPTURE(step_ahead, mnist_logreg, "mnist_logreg")->UseRealTime();
BENCHMARK_CAPTURE(step_cut, mnist_mlp, "mnist_mlp")->UseRealTime();
BENCHMARK_CAPTURE(step_ahead, mnist_mlp, "mnist_mlp")->UseRealTime();
BENCHMARK_CAPTURE(step_cut, cifar10_3c3d, "cifar10_3c3d")->UseRealTime();
BENCHMARK_CAPTURE(step_ahead, cifar10_3c3d, "cifar10_3c3d")->UseRealTime();

}  // namespace
}  // namespace flightdeck::suite
