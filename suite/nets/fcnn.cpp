// SPDX-License-Identifier: MIT
#include "suite/nets/fcnn.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {

Model fcnn() {
  namespace nn = torch::nn;
  constexpr int64_t kLayers = 8;
  const int64_t widths[kLayers + 1] = {3072, 1024, 512, 256, 128, 64, 32, 16, 10};
  nn::Sequential layers;
  layers->push_back("flatten", nn::Flatten());
  for (int64_t layer = 1; layer <= kLayers; ++layer) {
    const std::string number = std::to_string(layer);
    layers->push_back("dense" + number, nn::Linear(widths[layer - 1], widths[layer]));
    if (layer < kLayers) layers->push_back("sigmoid" + number, nn::Sigmoid());
  }
  initialise(
      *layers, [](Tensor weight) { nn::init::xavier_uniform_(weight); }, /*bias=*/0.0);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
