// SPDX-License-Identifier: MIT
#include "suite/nets/fcnn.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {

Model fcnn(const std::vector<int64_t>& widths) {
  namespace nn = torch::nn;
  const size_t layer_count = widths.size() - 1;
  nn::Sequential layers;
  layers->push_back("flatten", nn::Flatten());
  for (size_t layer = 1; layer <= layer_count; ++layer) {
    const std::string number = std::to_string(layer);
    layers->push_back("dense" + number, nn::Linear(widths[layer - 1], widths[layer]));
    if (layer < layer_count) layers->push_back("sigmoid" + number, nn::Sigmoid());
  }
  initialise(
      *layers, [](Tensor weight) { nn::init::xavier_uniform_(weight); }, /*bias=*/0.0);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
