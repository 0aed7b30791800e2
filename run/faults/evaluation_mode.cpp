// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault evaluation_mode() {
  Fault fault;
  fault.name = "evaluation_mode";
  fault.summary = "Batch norm uses running averages that nobody updates";
  fault.cause = "wrong_mode";
  fault.fits = [](const Trial& trial) {
    return trial.parts && trial.parts->hidden_layers > 0 && !trial.is_text;
  };
  fault.inject = [](Trial& trial, double) {
    trial.parts->between = [](int64_t layer, const Tensor& values) {
      if (layer != 0) return values;
      const int64_t units = values.size(1);
      return torch::batch_norm(values,
                               /*weight=*/{},
                               /*bias=*/{},
                               torch::zeros({units}),
                               torch::ones({units}),
                               /*training=*/false,
                               /*momentum=*/0.1,
                               /*eps=*/1e-5,
                               /*cudnn_enabled=*/false);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
