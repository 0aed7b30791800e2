// SPDX-License-Identifier: MIT
// Counting the entries of rows into bins of equal width.
#pragma once

#include <ATen/core/Tensor.h>

#include "flightdeck/histogram.h"

namespace flightdeck {

using at::Tensor;

struct Histogram {
  Tensor counts;          ///< [count] int64
  int64_t underflow = 0;  ///< entries below low
  int64_t overflow = 0;   ///< entries above high
  int64_t not_a_number = 0;
};

/// The bin of each value by trunc((x - low) * count / (high - low)), in the values' own precision:
/// 0..count-1, or -1 below, count above, count + 1 for NaN. The definition every algorithm matches.
Tensor bin_index(const Tensor& values, const Bins& bins);

/// Raw counts [count + 3]: below, the bins, above, NaN. Added up over pieces, then finished.
Tensor count_into_bins(const Tensor& values, const Bins& bins);
Histogram finish_histogram(const Tensor& raw_counts, const Bins& bins);

/// Raw counts of every product a_n[i] * b_n[j] without forming them; a [N, I] and b [N, J] on the
/// CPU, float or double.
///
/// For fixed a_i the rounded product is monotone in b_j, so each bin is a contiguous range of the
/// sorted b: a few binary searches count a whole line (design: 162 ms -> 7.7 ms at 1152 x 512,
/// N = 128, concentrated values).
Tensor count_outer_into_bins(const Tensor& a, const Tensor& b, const Bins& bins);

/// Joint counts [gradient bins, value bins] of rows [n, d] and per-entry values [d]. Both are
/// clamped into their range first, so nothing falls outside; NaN entries are left out.
Tensor count_into_joint_bins(const Tensor& rows,
                             const Bins& bins,
                             const Tensor& value_bin,
                             int64_t value_bins);

/// The same for the rows a_n b_nᵀ of a [N, I] and b [N, J], with value_bin [I, J], on the CPU.
Tensor count_outer_into_joint_bins(const Tensor& a,
                                   const Tensor& b,
                                   const Tensor& value_bin,
                                   const Bins& bins,
                                   int64_t value_bins);

}  // namespace flightdeck
