// SPDX-License-Identifier: MIT
#include "suite/nets/mlp.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {

Model mlp() {
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

}  // namespace flightdeck::suite::nets
