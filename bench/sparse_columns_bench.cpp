// SPDX-License-Identifier: MIT
// Columns of which few entries are not zero, at the convolutions of the test networks, N = 128,
// float: products without the zeros beside the dense ones that they replace. Arguments: threads,
// and the share of entries that are not zero, in percent. FLIGHTDECK_ISA selects the variant.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "rows/sparse_convolution.h"

namespace flightdeck {
namespace {

constexpr int64_t kSamples = 128, kColumns = 9;

struct Layer {
  const char* name;
  int64_t channels, size, kernel, padding, J;
};

const Layer kLayers[] = {{"conv1_3c3d", 3, 32, 5, 0, 64},
                         {"conv2_3c3d", 64, 14, 3, 0, 96},
                         {"conv3_3c3d", 96, 6, 3, 1, 128},
                         {"conv2_2c2d", 32, 14, 5, 2, 64}};

struct Problem {
  Problem(const Layer& layer, int64_t K, double share)
      : geometry{{1, 1}, {layer.padding, layer.padding}, {1, 1}} {
    torch::manual_seed(1);
    input = torch::randn({kSamples, layer.channels, layer.size, layer.size});
    weight = torch::randn({layer.J, layer.channels, layer.kernel, layer.kernel});
    const int64_t size = layer.size + 2 * layer.padding - layer.kernel + 1;
    const Tensor is_there = torch::rand({kSamples, layer.J, size, size}) < share;
    stack = torch::randn({K, kSamples, layer.J, size, size}).mul_(is_there);
  }

  Tensor input, weight, stack;
  ConvolutionGeometry geometry;
};

void set_up(benchmark::State& state) { at::set_num_threads(static_cast<int>(state.range(0))); }

void squares(benchmark::State& state, const Layer& layer) {
  set_up(state);
  const Problem problem(layer, kColumns, double(state.range(1)) / 100);
  const std::vector<Tensor> columns = problem.stack.unbind(0);
  for (auto _ : state) {
    const Tensor result =
        sparse_squares(problem.input, columns, problem.weight.sizes().vec(), problem.geometry);
    if (!result.defined()) state.SkipWithError("left to dense products");
  }
}

void dense_squares(benchmark::State& state, const Layer& layer) {
  set_up(state);
  const Problem problem(layer, kColumns, double(state.range(1)) / 100);
  Questions questions;
  questions.what = Need::kSecondMoment;
  for (auto _ : state) {
    for (const Tensor& column : problem.stack.unbind(0)) {
      // A dense entry keeps the dense kernel.
      const ConvolutionForm form(
          problem.input, column.add(1e-20), problem.weight.sizes().vec(), problem.geometry);
      benchmark::DoNotOptimize(form.answer(questions).second_moment);
    }
  }
}

void inputs(benchmark::State& state, const Layer& layer) {
  set_up(state);
  const Problem problem(layer, kColumns, double(state.range(1)) / 100);
  for (auto _ : state) {
    const Tensor result =
        sparse_inputs(problem.stack, problem.weight, problem.input.sizes().vec(), problem.geometry);
    if (!result.defined()) state.SkipWithError("left to dense products");
  }
}

void dense_inputs(benchmark::State& state, const Layer& layer) {
  set_up(state);
  const Problem problem(layer, kColumns, double(state.range(1)) / 100);
  Shape sizes = problem.input.sizes().vec();
  sizes[0] *= kColumns;
  for (auto _ : state) {
    benchmark::DoNotOptimize(at::convolution_backward(problem.stack.flatten(0, 1),
                                                      at::empty(sizes),
                                                      problem.weight,
                                                      c10::nullopt,
                                                      problem.geometry.stride,
                                                      problem.geometry.padding,
                                                      problem.geometry.dilation,
                                                      /*transposed=*/false,
                                                      {0, 0},
                                                      /*groups=*/1,
                                                      {true, false, false}));
  }
}

int add_all() {
  const auto add = [](const std::string& name, const auto& function) {
    benchmark::RegisterBenchmark(name.c_str(), function)
        ->ArgsProduct({{1, 2}, {20}})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  for (const Layer& layer : kLayers) {
    const std::string name = layer.name;
    add(name + "/squares", [layer](benchmark::State& state) { squares(state, layer); });
    add(name + "/dense_squares", [layer](benchmark::State& state) { dense_squares(state, layer); });
    add(name + "/inputs", [layer](benchmark::State& state) { inputs(state, layer); });
    add(name + "/dense_inputs", [layer](benchmark::State& state) { dense_inputs(state, layer); });
  }
  return 0;
}

const int kAdded = add_all();

}  // namespace
}  // namespace flightdeck
