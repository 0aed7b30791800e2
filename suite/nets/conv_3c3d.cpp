// SPDX-License-Identifier: MIT
// DeepOBS's network of three convolutions and three dense layers.
#include "suite/nets/conv_3c3d.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {
namespace {

// Pooling with SAME padding: 0 before, 1 after. Zero stands for minus infinity because the inputs
// come from a ReLU.
torch::nn::ZeroPad2d pad_after() {
  return torch::nn::ZeroPad2d(torch::nn::ZeroPad2dOptions({0, 1, 0, 1}));
}

torch::nn::MaxPool2d pool() {
  return torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2));
}

// Glorot normal for convolutions, Glorot uniform for dense layers.
void glorot_(Tensor weight) {
  if (weight.dim() == 4) {
    torch::nn::init::xavier_normal_(weight);
  } else {
    torch::nn::init::xavier_uniform_(weight);
  }
}

}  // namespace

Model conv_3c3d(int64_t classes) {
  namespace nn = torch::nn;
  nn::Sequential layers({
      {"conv1", nn::Conv2d(nn::Conv2dOptions(3, 64, 5))},
      {"relu1", nn::ReLU()},
      {"pad1", pad_after()},
      {"pool1", pool()},
      {"conv2", nn::Conv2d(nn::Conv2dOptions(64, 96, 3))},
      {"relu2", nn::ReLU()},
      {"pad2", pad_after()},
      {"pool2", pool()},
      {"conv3", nn::Conv2d(nn::Conv2dOptions(96, 128, 3).padding(1))},
      {"relu3", nn::ReLU()},
      {"pad3", pad_after()},
      {"pool3", pool()},
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(128 * 3 * 3, 512)},
      {"relu4", nn::ReLU()},
      {"dense2", nn::Linear(512, 256)},
      {"relu5", nn::ReLU()},
      {"dense3", nn::Linear(256, classes)},
  });
  initialise(*layers, &glorot_, /*bias=*/0.0);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
