// SPDX-License-Identifier: MIT
// Layers that several tests of the passes use.
#pragma once

#include "tensors.h"

namespace flightdeck::tests {

inline torch::nn::Linear linear(int64_t inputs,
                                int64_t outputs,
                                at::ScalarType type = at::kDouble) {
  return on_device(torch::nn::Linear(inputs, outputs), type);
}

}  // namespace flightdeck::tests
