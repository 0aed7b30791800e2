// SPDX-License-Identifier: MIT
// Trains a small convolutional net on Fashion-MNIST and watches the individual gradients.
//
//   fashion_mnist [folder with the four IDX files]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include <torch/torch.h>

#include "suite/batches.h"
#include <flightdeck/flightdeck.h>

namespace fd = flightdeck;
using torch::Tensor;

namespace {

constexpr int64_t kBatch = 128;
constexpr int64_t kEpochs = 2;
constexpr int64_t kWatchEvery = 50;

torch::nn::Sequential build_model() {
  namespace nn = torch::nn;
  return nn::Sequential({{"conv1", nn::Conv2d(nn::Conv2dOptions(1, 16, 5).padding(2))},
                         {"relu1", nn::ReLU()},
                         {"pool1", nn::MaxPool2d(2)},
                         {"conv2", nn::Conv2d(nn::Conv2dOptions(16, 32, 5).padding(2))},
                         {"relu2", nn::ReLU()},
                         {"pool2", nn::MaxPool2d(2)},
                         {"flatten", nn::Flatten()},
                         {"dense1", nn::Linear(32 * 7 * 7, 128)},
                         {"relu3", nn::ReLU()},
                         {"dense2", nn::Linear(128, 10)}});
}

Tensor individual_losses(const Tensor& logits, const Tensor& labels) {
  namespace F = torch::nn::functional;
  return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

int64_t count_right(const Tensor& logits, const Tensor& labels) {
  return (logits.argmax(1) == labels).sum().item<int64_t>();
}

// How the g_n of one parameter (or of all) scatter around their mean.
struct Scatter {
  double mean_norm2;  // |mean of g_n|²
  double variance;    // trace of the covariance of g_n, estimated without bias
};

Scatter scatter(const Tensor& norms, double mean_norm2) {
  const double N = static_cast<double>(norms.numel());
  const double mean_of_squares = norms.to(torch::kDouble).square().mean().item<double>();
  return {mean_norm2, (mean_of_squares - mean_norm2) * N / (N - 1)};
}

// The batch size at which noise and signal of the mini-batch gradient are equal. One batch gives
// the ratio of two noisy numbers, so both are averaged over the watched steps.
class NoiseScale {
 public:
  double update(const Scatter& all) {
    noise_ = 0.8 * noise_ + 0.2 * all.variance;
    // |mean g|² holds a part variance / N of noise.
    signal_ = 0.8 * signal_ + 0.2 * (all.mean_norm2 - all.variance / kBatch);
    return noise_ / signal_;
  }

 private:
  double noise_ = 0, signal_ = 0;
};

double norm2(const Tensor& tensor) {
  return tensor.to(torch::kDouble).square().sum().item<double>();
}

Scatter total_scatter(const fd::Gradients& gradients, const torch::nn::Module& model) {
  double mean_norm2 = 0;
  for (const Tensor& parameter : model.parameters()) mean_norm2 += norm2(parameter.grad());
  return scatter(gradients.total.norms, mean_norm2);
}

void print_table(const fd::Gradients& gradients, const torch::nn::Module& model) {
  const double total_variance = total_scatter(gradients, model).variance;
  const auto parameters = model.named_parameters();
  std::printf("\nindividual gradients g_n of the last watched step, N = %lld\n",
              static_cast<long long>(gradients.batch_size));
  std::printf("%-14s %9s %11s %10s %10s %10s\n",
              "parameter",
              "|mean g|",
              "mean |g_n|",
              "max |g_n|",
              "norm test",
              "variance");
  for (const fd::ParameterGradients& parameter : gradients.parameters) {
    const auto [mean_norm2, variance] =
        scatter(parameter.norms, norm2(parameters[parameter.name].grad()));
    // The norm test: variance of the mini-batch gradient over its squared norm. Above 1 the step
    // is more noise than signal.
    std::printf("%-14s %9.4f %11.4f %10.4f %10.2f %8.1f %%\n",
                parameter.name.c_str(),
                std::sqrt(mean_norm2),
                parameter.norms.mean().item<double>(),
                parameter.norms.max().item<double>(),
                variance / (kBatch * mean_norm2),
                100 * variance / total_variance);
  }
}

double test_accuracy(torch::nn::Sequential& model, const fd::suite::DataSet& data) {
  torch::NoGradGuard no_grad;
  fd::suite::BatchOptions options;
  options.batch_size = 1000;
  options.shuffle = false;
  fd::suite::Batches batches(data, fd::suite::Part::kTest, options);
  int64_t right = 0;
  for (int64_t i = 0; i < batches.per_epoch(); ++i) {
    const fd::suite::Batch batch = batches.next();
    right += count_right(model->forward(batch.inputs), batch.targets);
  }
  return static_cast<double>(right) / static_cast<double>(options.batch_size * batches.per_epoch());
}

void train(const std::string& folder) {
  fd::suite::DataOptions options;
  options.folder = folder;
  const fd::suite::DataSet data = fd::suite::load_data("fashion_mnist", options);
  torch::manual_seed(0);
  torch::nn::Sequential model = build_model();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));

  fd::Gradients watched;
  NoiseScale noise_scale;
  fd::suite::BatchOptions batch_options;
  batch_options.batch_size = kBatch;
  fd::suite::Batches batches(data, fd::suite::Part::kTrain, batch_options);
  for (int64_t step = 0; step < kEpochs * batches.per_epoch(); ++step) {
    const fd::suite::Batch batch = batches.next();

    optimizer.zero_grad();
    const Tensor logits = model->forward(batch.inputs);
    const Tensor losses = individual_losses(logits, batch.targets);  // [N]
    const Tensor loss = losses.mean();
    if (step % kWatchEvery == 0) {
      fd::Watch watch(losses, model->named_parameters(), fd::Need::kNorms);
      loss.backward();
      watched = watch.finish();
      std::printf("step %4lld  loss %.4f  accuracy %5.1f %%  gradient noise scale %6.0f\n",
                  static_cast<long long>(step),
                  loss.item<double>(),
                  100.0 * static_cast<double>(count_right(logits, batch.targets)) / kBatch,
                  noise_scale.update(total_scatter(watched, *model)));
      std::fflush(stdout);
    } else {
      loss.backward();
    }
    optimizer.step();
  }

  print_table(watched, *model);
  std::printf("\n%s\n", watched.coverage.text().c_str());
  std::printf("test accuracy %.2f %%\n", 100 * test_accuracy(model, data));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    train(argc > 1 ? argv[1] : "");
    return 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
  }
  return 1;
}
