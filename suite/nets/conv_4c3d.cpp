// SPDX-License-Identifier: MIT
#include "suite/nets/conv_4c3d.h"

#include <torch/torch.h>

namespace flightdeck::suite::nets {

Model conv_4c3d(int64_t divisor) {
  namespace nn = torch::nn;
  const int64_t narrow = 16 / divisor, wide = 32 / divisor;
  const auto padded = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  };
  nn::Sequential layers({
      {"conv1", padded(3, narrow)},
      {"sigmoid1", nn::Sigmoid()},
      {"conv2", padded(narrow, narrow)},
      {"sigmoid2", nn::Sigmoid()},
      {"pool1", nn::MaxPool2d(2)},
      {"conv3", padded(narrow, wide)},
      {"sigmoid3", nn::Sigmoid()},
      {"conv4", padded(wide, wide)},
      {"sigmoid4", nn::Sigmoid()},
      {"pool2", nn::MaxPool2d(2)},
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(wide * 8 * 8, 512 / divisor)},
      {"sigmoid5", nn::Sigmoid()},
      {"dense2", nn::Linear(512 / divisor, 64 / divisor)},
      {"sigmoid6", nn::Sigmoid()},
      {"dense3", nn::Linear(64 / divisor, 10)},
  });
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
