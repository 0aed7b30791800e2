// SPDX-License-Identifier: MIT
// The instruction sets of the counting kernels; null where the architecture lacks one.
#pragma once

#include "kernels/counting/counting.h"

namespace flightdeck::kernels {

struct CountingVariant {
  const CountingKernels<float>* f32;
  const CountingKernels<double>* f64;
};

extern const CountingVariant kReferenceCounting;
extern const CountingVariant kBaselineCounting;
extern const CountingVariant kAvx2Counting;
extern const CountingVariant kAvx512Counting;

}  // namespace flightdeck::kernels
