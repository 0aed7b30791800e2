// SPDX-License-Identifier: MIT
// Speed of the patch products at the layer sizes of the test networks, N = 128, float.
// Arguments: outputs asked for, threads. FLIGHTDECK_ISA selects the variant.
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/patch_products/patch_products.h"

namespace flightdeck::kernels {
namespace {

constexpr int64_t kSamples = 128;

struct Layer {
  const char* name;
  int64_t channels, height, width;  // of the padded input; a sequence has channels = features
  int64_t kernel;                   // 0: linear layer over a sequence of `height` positions
  int64_t J;
};

const Layer kLayers[] = {
    {"conv1_3c3d_I75_J64_T784", 3, 32, 32, 5, 64},
    {"conv2_3c3d_I576_J96_T144", 64, 14, 14, 3, 96},
    {"conv3_3c3d_I864_J128_T36", 96, 8, 8, 3, 128},
    {"conv1_2c2d_I25_J32_T784", 1, 32, 32, 5, 32},
    {"conv2_2c2d_I800_J64_T196", 32, 18, 18, 5, 64},
    {"sequence_I256_J1024_T64", 256, 64, 1, 0, 1024},
    {"large_image_I27_J64_T4096", 3, 66, 66, 3, 64},
    {"few_columns_I75_J10_T784", 3, 32, 32, 5, 10},
};

enum Outputs : int64_t { kSum, kSumSecondNorms, kRows };

// LibTorch aligns tensors to a cache line.
template <typename T>
struct LineAligned : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = LineAligned<U>;
  };
  T* allocate(size_t size) {
    return static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* start, size_t) { ::operator delete(start, std::align_val_t(64)); }
};

using Tensor = std::vector<float, LineAligned<float>>;

struct Problem {
  std::vector<int64_t> base, step;
  Tensor a, b, sum, second, rows;
  std::vector<double> squared_norms;
  PatchProducts<float> work;

  Problem(const Layer& layer, Outputs outputs) {
    if (layer.kernel == 0) {
      for (int64_t i = 0; i < layer.channels; ++i) base.push_back(i);
      for (int64_t t = 0; t < layer.height; ++t) step.push_back(t * layer.channels);
    } else {
      for (int64_t c = 0; c < layer.channels; ++c)
        for (int64_t y = 0; y < layer.kernel; ++y)
          for (int64_t x = 0; x < layer.kernel; ++x)
            base.push_back((c * layer.height + y) * layer.width + x);
      for (int64_t y = 0; y + layer.kernel <= layer.height; ++y)
        for (int64_t x = 0; x + layer.kernel <= layer.width; ++x)
          step.push_back(y * layer.width + x);
    }
    work.N = kSamples;
    work.T = int64_t(step.size());
    work.I = int64_t(base.size());
    work.J = layer.J;
    work.a_sample = layer.channels * layer.height * layer.width;
    work.b_sample = work.T * work.J;
    work.b_t = layer.kernel == 0 ? work.J : 1;
    work.b_j = layer.kernel == 0 ? 1 : work.T;
    fill(a, work.N * work.a_sample);
    fill(b, work.N * work.b_sample);
    work.base = base.data();
    work.step = step.data();
    work.a = a.data();
    work.b = b.data();
    ask(outputs);
  }

  void ask(Outputs outputs) {
    const size_t size = size_t(work.I * work.J);
    if (outputs == kRows) {
      rows.resize(size * size_t(work.N));
      work.rows = rows.data();
      work.rows_sample = work.I * work.J;
      return;
    }
    sum.resize(size);
    work.sum = sum.data();
    if (outputs == kSum) return;
    second.resize(size);
    squared_norms.resize(size_t(work.N));
    work.second = second.data();
    work.squared_norms = squared_norms.data();
  }

  static void fill(Tensor& values, int64_t size) {
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    values.resize(size_t(size));
    for (float& value : values) value = uniform(random);
  }
};

// Hands out tasks in contiguous shares, as at::parallel_for does.
ParallelFor share_among(int threads) {
  return [threads](int64_t tasks, const std::function<void(int64_t)>& body) {
    const auto share = [&](int k) {
      for (int64_t task = k * tasks / threads; task < (k + 1) * tasks / threads; ++task) body(task);
    };
    std::vector<std::thread> others;
    for (int k = 1; k < threads; ++k) others.emplace_back(share, k);
    share(0);
    for (std::thread& other : others) other.join();
  };
}

void run(benchmark::State& state, const Layer& layer) {
  Problem problem(layer, Outputs(state.range(0)));
  const int threads = int(state.range(1));
  const ParallelFor parallel_for = share_among(threads);
  for (auto _ : state) patch_products(problem.work, parallel_for, threads);

  const PatchProducts<float>& work = problem.work;
  const double flops = 2.0 * double(work.N) * double(work.T) * double(work.I) * double(work.J);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  const char* const labels[] = {"sum", "sum+second+norms", "rows"};
  state.SetLabel(std::string(labels[state.range(0)]) + " " + std::string(patch_products_isa()));
}

}  // namespace
}  // namespace flightdeck::kernels

int main(int argc, char** argv) {
  using namespace flightdeck::kernels;
  for (const Layer& layer : kLayers) {
    benchmark::RegisterBenchmark(layer.name, run, layer)
        ->ArgsProduct({{kSum, kSumSecondNorms, kRows}, {1, 2}})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
