// SPDX-License-Identifier: MIT
// DeepOBS's Fashion-MNIST network of two convolutions and two dense layers.
#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/net.h"

namespace flightdeck::suite::nets {
namespace {

Model build() {
  namespace nn = torch::nn;
  nn::Sequential layers({
      {"conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 5).padding(2))},
      {"relu1", nn::ReLU()},
      {"pool1", nn::MaxPool2d(2)},
      {"conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 5).padding(2))},
      {"relu2", nn::ReLU()},
      {"pool2", nn::MaxPool2d(2)},
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(64 * 7 * 7, 1024)},
      {"relu3", nn::ReLU()},
      {"dense2", nn::Linear(1024, 10)},
  });
  initialise(
      *layers, [](Tensor weight) { truncated_normal_(weight, 0.05); }, /*bias=*/0.05);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace

Net fmnist_2c2d() {
  Net net;
  net.name = "fmnist_2c2d";
  net.summary = "two convolutions, two dense layers, 28 x 28 grey images";
  net.classes = 10;
  net.batch_size = 128;
  net.build = &build;
  net.random_inputs = [](int64_t N) { return torch::rand({N, 1, 28, 28}); };
  return net;
}

}  // namespace flightdeck::suite::nets
