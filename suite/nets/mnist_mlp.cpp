// SPDX-License-Identifier: MIT
// DeepOBS's MNIST multi-layer perceptron, 784-1000-500-100-10.
#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/net.h"

namespace flightdeck::suite::nets {
namespace {

Model build() {
  namespace nn = torch::nn;
  nn::Sequential layers({
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(784, 1000)},
      {"relu1", nn::ReLU()},
      {"dense2", nn::Linear(1000, 500)},
      {"relu2", nn::ReLU()},
      {"dense3", nn::Linear(500, 100)},
      {"relu3", nn::ReLU()},
      {"dense4", nn::Linear(100, 10)},
  });
  initialise(
      *layers, [](Tensor weight) { truncated_normal_(weight, 0.03); }, /*bias=*/0.0);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace

Net mnist_mlp() {
  Net net;
  net.name = "mnist_mlp";
  net.summary = "multi-layer perceptron 784-1000-500-100-10";
  net.classes = 10;
  net.batch_size = 128;
  net.build = &build;
  net.random_inputs = [](int64_t N) { return torch::rand({N, 1, 28, 28}); };
  return net;
}

}  // namespace flightdeck::suite::nets
