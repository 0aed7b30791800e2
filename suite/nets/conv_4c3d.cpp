// SPDX-License-Identifier: MIT
#include "suite/nets/conv_4c3d.h"

#include <torch/torch.h>

namespace flightdeck::suite::nets {

Model conv_4c3d() {
  namespace nn = torch::nn;
  const auto padded = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  };
  nn::Sequential layers({
      {"conv1", padded(3, 16)},
      {"sigmoid1", nn::Sigmoid()},
      {"conv2", padded(16, 16)},
      {"sigmoid2", nn::Sigmoid()},
      {"pool1", nn::MaxPool2d(2)},
      {"conv3", padded(16, 32)},
      {"sigmoid3", nn::Sigmoid()},
      {"conv4", padded(32, 32)},
      {"sigmoid4", nn::Sigmoid()},
      {"pool2", nn::MaxPool2d(2)},
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(32 * 8 * 8, 512)},
      {"sigmoid5", nn::Sigmoid()},
      {"dense2", nn::Linear(512, 64)},
      {"sigmoid6", nn::Sigmoid()},
      {"dense3", nn::Linear(64, 10)},
  });
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
