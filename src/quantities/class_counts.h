// SPDX-License-Identifier: MIT
// How often classes occur in a list of integers, without waiting for a device.
#pragma once

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

struct ClassCounts {
  Tensor low, high;  // of the classes, []
  Tensor distinct;   // how many occur, []
  Tensor largest;    // share of the commonest, []
  Tensor counted;    // entries that count, []
};

// Counts integers of any shape, in double. Those where `is_counted` is false (same shape, may be
// undefined) are left out. Without entries low, high and largest are NaN.
ClassCounts count_classes(const Tensor& classes, const Tensor& is_counted = {});

}  // namespace flightdeck
