// SPDX-License-Identifier: MIT
// Counting the entries of rows into bins of equal width. All counts are exact, whatever the
// algorithm, instruction set and number of threads; speed: bench/histogram_bench.cpp.
//
// On a GPU indices are written out, a bounded piece at a time, and added into a table by atomic
// additions: several passes over memory, but nothing waits for the device.
#pragma once

#include <ATen/core/Tensor.h>

#include "flightdeck/histogram.h"

namespace flightdeck {

using at::Tensor;

struct Histogram {
  Tensor counts;          // [count] int64
  int64_t underflow = 0;  // entries below low
  int64_t overflow = 0;   // entries above high
  int64_t not_a_number = 0;
};

// Returns the bin of each value by trunc((x - low) * count / (high - low)), in the values' own
// precision: 0..count-1, or -1 below, count above, count + 1 for NaN. Every algorithm matches this
// definition. `type` is kLong or kInt.
Tensor bin_index(const Tensor& values, const Bins& bins, at::ScalarType type = at::kLong);

// Returns the bin of each of a parameter's entries, both ends clamped: 0..count-1, or count for
// NaN.
Tensor value_bin_index(const Tensor& values, const Bins& bins);

// Returns raw counts [count + 3]: below, the bins, above, NaN. They are added up over pieces, then
// finished.
Tensor count_into_bins(const Tensor& values, const Bins& bins);
Histogram finish_histogram(const Tensor& raw_counts, const Bins& bins);

// Returns raw counts of every product a_n[i] * b_n[j] without forming them; a [N, I] and b [N, J].
//
// The rounded product is monotone in both factors. So per sample and bin boundary only the factors
// count that can make a product on the rarer side of it, found by one comparison each; the pairs
// among them are compared directly when few, or counted by one sweep over both sorted lists.
Tensor count_outer_into_bins(const Tensor& a, const Tensor& b, const Bins& bins);

// Returns joint counts [bins, value_bins] of rows [n, d] and the bins of per-entry values [d].
// Gradients are clamped into their range first, so nothing falls outside; NaN entries, and entries
// whose value_bin is not in [0, value_bins), are left out. value_bin may have any integer type;
// int32 saves a copy.
Tensor count_into_joint_bins(const Tensor& rows,
                             const Bins& bins,
                             const Tensor& value_bin,
                             int64_t value_bins);

// Returns joint counts of the rows a_n[i] * b_n[j]; a [N, I], b [N, J], value_bin [I, J] or [I *
// J].
//
// Per parameter entry one number is counted, how many of the N products reach the boundary nearest
// zero; the few outside the two bins around it are found by the ranges of the factors.
Tensor count_outer_into_joint_bins(const Tensor& a,
                                   const Tensor& b,
                                   const Tensor& value_bin,
                                   const Bins& bins,
                                   int64_t value_bins);

}  // namespace flightdeck
