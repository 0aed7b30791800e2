// SPDX-License-Identifier: MIT
// Follows the curvature of a small net under gradient descent: the largest eigenvalue of the
// Hessian (the sharpness) against the limit 2 / learning rate, the trace of the Hessian, and how
// far the gradient stands out from its noise along the leading directions of the GGN.
// Random images take the place of Fashion-MNIST where it is not found.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>

#include <torch/torch.h>

#include "suite/batches.h"
#include <flightdeck/flightdeck.h>

namespace fd = flightdeck;
using torch::Tensor;

namespace {

constexpr int64_t kImages = 512;  // one batch, the same in every step
constexpr int64_t kSteps = 60;
constexpr int64_t kLookEvery = 10;
constexpr int64_t kDirections = 3;
constexpr int64_t kSubBatch = 16;
constexpr double kLearningRate = 0.2;

fd::suite::Batch load_images() {
  fd::suite::BatchOptions options;
  options.batch_size = kImages;
  try {
    const fd::suite::DataSet data = fd::suite::load_data("fashion_mnist");
    return fd::suite::Batches(data, fd::suite::Part::kTrain, options).next();
  } catch (const c10::Error& error) {
    std::printf("random images instead of Fashion-MNIST: %s\n", error.what_without_backtrace());
    fd::suite::Batch batch;
    batch.inputs = torch::rand({kImages, 1, 28, 28});
    batch.targets = torch::randint(10, {kImages}, torch::kLong);
    return batch;
  }
}

torch::nn::Sequential build_model() {
  using namespace torch::nn;
  return Sequential(Flatten(), Linear(28 * 28, 64), Tanh(), Linear(64, 64), Tanh(), Linear(64, 10));
}

Tensor individual_losses(const Tensor& logits, const Tensor& labels) {
  namespace F = torch::nn::functional;
  return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

// Squared mean of the gradient over its variance along each leading direction, the first one first:
// at 1 / kSubBatch the mean over the sub-batch is as large as its own standard error.
std::string signal_to_noise(const fd::Batch& batch) {
  fd::VivitOptions options;
  options.gradient_samples.resize(kSubBatch);
  std::iota(options.gradient_samples.begin(), options.gradient_samples.end(), 0);
  const fd::Vivit vivit(batch.of(options.gradient_samples), options);
  const Tensor ratios =
      fd::Vivit::signal_to_noise(vivit.gammas(std::min(kDirections, vivit.rank())));
  std::string text;
  for (int64_t k = 0; k < ratios.size(0); ++k) {
    char entry[32];
    std::snprintf(entry, sizeof(entry), " %5.2f", ratios[k].item<double>());
    text += entry;
  }
  return text;
}

// Prints one line. `leading` is the eigenvector found last time, where the next search begins.
void look(int64_t step, const fd::Batch& batch, Tensor& leading) {
  const auto hessian = fd::curvature_operator(batch, fd::CurvatureKind::kHessian);
  fd::EigenOptions options;
  options.start = leading;
  options.seed = static_cast<uint64_t>(step);
  const fd::Eigenpairs pairs = fd::eigenpairs(*hessian, options);
  leading = pairs.vectors;
  const double sharpness = pairs.values[0].item<double>();  // not converged: marked with '?'
  const Tensor trace = fd::curvature(batch, fd::CurvatureNeed::kTraceHessian).total.trace_hessian;
  std::printf("%4lld %7.4f %9.2f%c %8lld %11.2f of 2 %8.1f %s\n",
              static_cast<long long>(step),
              batch.losses().mean().item<double>(),
              sharpness,
              pairs.all_converged() ? ' ' : '?',
              static_cast<long long>(pairs.products),
              kLearningRate * sharpness,
              trace.item<double>(),
              signal_to_noise(batch).c_str());
  std::fflush(stdout);
}

void train() {
  torch::manual_seed(0);
  const fd::suite::Batch data = load_images();
  torch::nn::Sequential model = build_model();
  torch::optim::SGD optimizer(model->parameters(), kLearningRate);
  std::puts("step    loss sharpness  products rate x sharpness    trace  signal to noise");
  Tensor leading;
  for (int64_t step = 0; step <= kSteps; ++step) {
    const Tensor losses = individual_losses(model->forward(data.inputs), data.targets);  // [N]
    // Before backward(), which frees the graph.
    if (step % kLookEvery == 0) {
      look(step, fd::Batch(losses, model->named_parameters()), leading);
    }
    optimizer.zero_grad();
    losses.mean().backward();
    optimizer.step();
  }
}

}  // namespace

int main() {
  try {
    train();
    return 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "sharpness: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sharpness: %s\n", error.what());
  }
  return 1;
}
