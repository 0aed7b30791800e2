// SPDX-License-Identifier: MIT
// Moments, range and special values of numbers, in one sweep.
#pragma once

#include <cstdint>
#include <string_view>

namespace flightdeck::kernels {

// Holds the sums and counts; it begins with those of no numbers.
struct EntrySums {
  // These are sums of powers in double, over numbers that are not finite, too.
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  // These are counts. Tiny numbers are not zero and smaller in magnitude than `tiny`; huge ones are
  // finite and larger than `huge`.
  double not_finite = 0, zeros = 0, tiny = 0, huge = 0;
  // These are the extremes of the finite numbers.
  double low = __builtin_inf(), high = -__builtin_inf();
};

// Holds a bfloat16 as it lies in memory: the upper half of a float.
struct Bfloat16 {
  uint16_t bits;
};

// Adds n numbers. Sums of powers are those of the definition to rounding in double, whose order
// depends on the instruction set; all else is exact.
template <typename Stored>
using AddEntries = void (*)(const Stored* x, int64_t n, double tiny, double huge, EntrySums& sums);

// Returns the fastest sweep for this processor, under the wish of FLIGHTDECK_ISA.
template <typename Stored>
AddEntries<Stored> add_entries();
// Returns the sweep of "reference", "baseline" or "avx2"; null where the architecture lacks it.
template <typename Stored>
AddEntries<Stored> add_entries(std::string_view isa);

}  // namespace flightdeck::kernels
