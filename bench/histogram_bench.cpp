// SPDX-License-Identifier: MIT
// Speed of the histograms at the layer sizes of the test networks, N = 128, float. The baseline is
// the plain LibTorch expression on entries written out, one sample at a time. Argument: threads.
#include <cstdio>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "rows/histogram.h"

namespace flightdeck {
namespace {

constexpr int64_t kSamples = 128;
const Bins kBins{-2, 2, 100};
const JointBins kJointBins;

struct Layer {
  int64_t I, J;
  double a_deviation, b_deviation, a_zeros, b_zeros;
  bool is_image;  // a holds multiples of 1 / 255
};

struct Net {
  const char* name;
  std::vector<Layer> layers;
};

// Deviations and zeros as at the beginning of training. `spread` fills all bins, `tiny` is a
// network that has fitted its samples: products around the spacing of numbers at -low.
const Net kNets[] = {
    {"mnist_mlp",
     {{784, 1000, 0.5, 0.005, 0.8, 0.5, true},
      {1000, 500, 0.3, 0.01, 0.5, 0.5, false},
      {500, 100, 0.2, 0.03, 0.5, 0.5, false},
      {100, 10, 0.2, 0.3, 0.5, 0, false}}},
    {"2c2d_dense", {{3136, 1024, 0.3, 0.01, 0.4, 0.5, false}}},
    {"spread_1152x512", {{1152, 512, 1, 1, 0, 0, false}}},
    {"tiny_1000x500", {{1000, 500, 0.3, 1e-6, 0.5, 0.5, false}}},
};

struct Factors {
  Tensor a, b, value_bin;
};

std::vector<Factors> draw(const Net& net) {
  at::manual_seed(1);
  std::vector<Factors> factors;
  for (const Layer& layer : net.layers) {
    Tensor a = at::randn({kSamples, layer.I}).abs_().mul_(layer.a_deviation);
    if (layer.is_image) a = a.mul_(255).ceil_().clamp_max_(255).div_(255);
    Tensor b = at::randn({kSamples, layer.J}).mul_(layer.b_deviation);
    a.masked_fill_(at::rand(a.sizes()) < layer.a_zeros, 0);
    b.masked_fill_(at::rand(b.sizes()) < layer.b_zeros, 0);
    const Tensor weights = at::randn({layer.I, layer.J}).mul_(0.05);
    const Bins& values = kJointBins.parameters;
    factors.push_back({a, b, bin_index(weights.clamp(values.low, values.high), values, at::kInt)});
  }
  return factors;
}

// Plain LibTorch: indices by arithmetic on whole tensors, then bincount.
Tensor plain_index(const Tensor& values, const Bins& bins) {
  const double scale = bins.count / (bins.high - bins.low);
  return values.clamp(bins.low, bins.high)
      .sub_(bins.low)
      .mul_(scale)
      .to(at::kLong)
      .clamp_max_(bins.count - 1);
}

Tensor plain_outer(const Factors& factors) {
  Tensor counts = at::zeros({kBins.count}, at::kLong);
  for (int64_t n = 0; n < kSamples; ++n) {
    const Tensor row = factors.a[n].unsqueeze(1) * factors.b[n];
    counts += at::bincount(plain_index(row.view({-1}), kBins), {}, kBins.count);
  }
  return counts;
}

Tensor plain_joint(const Tensor& rows, const Tensor& value_bin) {
  const int64_t columns = kJointBins.parameters.count, size = kJointBins.gradients.count * columns;
  const Tensor index = plain_index(rows, kJointBins.gradients).mul_(columns).add_(value_bin);
  return at::bincount(index.view({-1}), {}, size);
}

Tensor plain_outer_joint(const Factors& factors) {
  Tensor counts;
  for (int64_t n = 0; n < kSamples; ++n) {
    const Tensor row = factors.a[n].unsqueeze(1) * factors.b[n];
    const Tensor part = plain_joint(row, factors.value_bin);
    counts = counts.defined() ? counts.add_(part) : part;
  }
  return counts;
}

Tensor fast_outer(const Factors& factors) {
  return count_outer_into_bins(factors.a, factors.b, kBins);
}

Tensor fast_outer_joint(const Factors& factors) {
  return count_outer_into_joint_bins(
      factors.a, factors.b, factors.value_bin, kJointBins.gradients, kJointBins.parameters.count);
}

void run_outer(benchmark::State& state, const Net& net, Tensor (*count)(const Factors&)) {
  at::set_num_threads(int(state.range(0)));
  const std::vector<Factors> layers = draw(net);
  for (auto _ : state) {
    for (const Factors& factors : layers) benchmark::DoNotOptimize(count(factors));
  }
  int64_t entries = 0;
  for (const Layer& layer : net.layers) entries += kSamples * layer.I * layer.J;
  state.SetItemsProcessed(state.iterations() * entries);
}

struct Dense {
  const char* name;
  int64_t d;
  double deviation;
};

const Dense kDense[] = {{"3c3d_convolutions", 4800 + 55296 + 110592, 0.02},
                        {"3c3d_convolutions_spread", 4800 + 55296 + 110592, 1}};

void run_dense(benchmark::State& state, const Dense& dense, bool is_joint, bool is_plain) {
  at::set_num_threads(int(state.range(0)));
  at::manual_seed(1);
  const Tensor rows = at::randn({kSamples, dense.d}).mul_(dense.deviation);
  const Bins& values = kJointBins.parameters;
  const Tensor value_bin = bin_index(at::randn({dense.d}).mul_(0.05), values);
  for (auto _ : state) {
    if (is_joint && is_plain) benchmark::DoNotOptimize(plain_joint(rows, value_bin));
    if (is_joint && !is_plain) {
      benchmark::DoNotOptimize(
          count_into_joint_bins(rows, kJointBins.gradients, value_bin, values.count));
    }
    if (!is_joint && is_plain) {
      benchmark::DoNotOptimize(at::bincount(plain_index(rows, kBins).view({-1}), {}, kBins.count));
    }
    if (!is_joint && !is_plain) benchmark::DoNotOptimize(count_into_bins(rows, kBins));
  }
  state.SetItemsProcessed(state.iterations() * rows.numel());
}

// Gradients and parameters uniform in [0, share] of the histogram's range: the smaller the share,
// the fewer bins take all entries, and the more threads or atomics meet in one.
void run_balance(benchmark::State& state, double share, bool is_plain) {
  at::set_num_threads(int(state.range(0)));
  at::manual_seed(1);
  constexpr int64_t kEntries = 170688;
  const Bins &gradients = kJointBins.gradients, &values = kJointBins.parameters;
  const auto uniform = [share](at::IntArrayRef sizes, const Bins& bins) {
    return at::rand(sizes).mul_(share * (bins.high - bins.low)).add_(bins.low);
  };
  const Tensor rows = uniform({kSamples, kEntries}, gradients);
  const Tensor value_bin = bin_index(uniform({kEntries}, values), values);
  for (auto _ : state) {
    benchmark::DoNotOptimize(is_plain
                                 ? plain_joint(rows, value_bin)
                                 : count_into_joint_bins(rows, gradients, value_bin, values.count));
  }
  state.SetItemsProcessed(state.iterations() * rows.numel());
}

template <typename... Arguments>
void add(const std::string& name, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), arguments...)
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace flightdeck

int main(int argc, char** argv) {
  using namespace flightdeck;
  for (const Net& net : kNets) {
    const std::string name = net.name;
    add("outer/" + name + "/fast", run_outer, net, fast_outer);
    add("outer/" + name + "/plain", run_outer, net, plain_outer);
    add("outer_joint/" + name + "/fast", run_outer, net, fast_outer_joint);
    add("outer_joint/" + name + "/plain", run_outer, net, plain_outer_joint);
  }
  for (const Dense& dense : kDense) {
    for (const bool is_plain : {false, true}) {
      const std::string name = std::string(dense.name) + (is_plain ? "/plain" : "/fast");
      add("dense/" + name, run_dense, dense, false, is_plain);
      add("dense_joint/" + name, run_dense, dense, true, is_plain);
    }
  }
  for (const double share : {1.0, 0.5, 0.1, 0.01, 0.001}) {
    char percent[16];
    std::snprintf(percent, sizeof percent, "%g", 100 * share);
    for (const bool is_plain : {false, true}) {
      add("balance_joint/" + std::string(percent) + "_percent/" + (is_plain ? "plain" : "fast"),
          run_balance,
          share,
          is_plain);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
