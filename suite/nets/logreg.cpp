// SPDX-License-Identifier: MIT
#include "suite/nets/logreg.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {

Model logreg() {
  namespace nn = torch::nn;
  nn::Sequential layers({{"flatten", nn::Flatten()}, {"dense", nn::Linear(784, 10)}});
  initialise(
      *layers, [](Tensor weight) { weight.zero_(); }, /*bias=*/0.0);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
