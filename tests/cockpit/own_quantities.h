// SPDX-License-Identifier: MIT
// Quantities of a user's own that several tests of the cockpit watch.
#pragma once

#include "cockpit/loop.h"

namespace flightdeck::tests {

// The example of the documentation: a quantity of the user's own.
inline Quantity grad_max() {
  return Quantity("grad_max")
      .summary("Largest entry of the mini-batch gradient")
      .needs(Need::kMean)
      .compute([](const StepView& step) -> Value {
        Tensor largest = torch::zeros({}, doubles());
        for (const auto& p : step.gradients().parameters) {
          largest = torch::maximum(largest, p.mean.abs().max());
        }
        return largest;
      });
}

inline Quantity update_norm() {
  return Quantity("update_norm").after_update([](const UpdateView& update) {
    return Value(update.squared_update().sqrt());
  });
}

inline Quantity failing() {
  return Quantity("failing").compute(
      [](const StepView&) -> Value { TORCH_CHECK(false, "it broke"); });
}

}  // namespace flightdeck::tests
