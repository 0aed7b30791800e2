// SPDX-License-Identifier: MIT
// DeepOBS's network of two convolutions and two dense layers.
#include "suite/nets/conv_2c2d.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {

Model conv_2c2d(int64_t divisor) {
  namespace nn = torch::nn;
  nn::Sequential layers({
      {"conv1", nn::Conv2d(nn::Conv2dOptions(1, 32 / divisor, 5).padding(2))},
      {"relu1", nn::ReLU()},
      {"pool1", nn::MaxPool2d(2)},
      {"conv2", nn::Conv2d(nn::Conv2dOptions(32 / divisor, 64 / divisor, 5).padding(2))},
      {"relu2", nn::ReLU()},
      {"pool2", nn::MaxPool2d(2)},
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(64 / divisor * 7 * 7, 1024 / divisor)},
      {"relu3", nn::ReLU()},
      {"dense2", nn::Linear(1024 / divisor, 10)},
  });
  initialise(
      *layers, [](Tensor weight) { truncated_normal_(weight, 0.05); }, /*bias=*/0.05);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
