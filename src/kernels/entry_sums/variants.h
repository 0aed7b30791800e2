// SPDX-License-Identifier: MIT
// The instruction sets of the sweep; null where the architecture lacks one.
#pragma once

#include "kernels/entry_sums/entry_sums.h"

namespace flightdeck::kernels {

struct EntrySumsVariant {
  AddEntries<float> f32;
  AddEntries<double> f64;
  AddEntries<Bfloat16> bf16;
};

extern const EntrySumsVariant kReferenceEntrySums;
extern const EntrySumsVariant kBaselineEntrySums;
extern const EntrySumsVariant kAvx2EntrySums;

}  // namespace flightdeck::kernels
