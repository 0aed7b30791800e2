// SPDX-License-Identifier: MIT
// Moments, range and special values of numbers, in one sweep.
#pragma once

#include <cstdint>
#include <string_view>

namespace flightdeck::kernels {

// Beginning with those of no numbers.
struct EntrySums {
  // Powers, in double; of numbers that are not finite, too.
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  // Counts. Tiny: not zero, and smaller in magnitude than `tiny`; huge: finite, and larger than
  // `huge`.
  double not_finite = 0, zeros = 0, tiny = 0, huge = 0;
  // Of the finite ones.
  double low = __builtin_inf(), high = -__builtin_inf();
};

// A bfloat16 as it lies in memory: the upper half of a float.
struct Bfloat16 {
  uint16_t bits;
};

// Adds n numbers. Sums of powers are those of the definition to rounding in double, whose order
// depends on the instruction set; all else is exact.
template <typename Stored>
using AddEntries = void (*)(const Stored* x, int64_t n, double tiny, double huge, EntrySums& sums);

// The fastest for this processor, under the wish of FLIGHTDECK_ISA.
template <typename Stored>
AddEntries<Stored> add_entries();
// "reference", "baseline" or "avx2"; null where the architecture lacks it.
template <typename Stored>
AddEntries<Stored> add_entries(std::string_view isa);

}  // namespace flightdeck::kernels
