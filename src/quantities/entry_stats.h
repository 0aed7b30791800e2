// SPDX-License-Identifier: MIT
// Sums over the entries of a tensor in one sweep: moments, range, what is not finite.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/layout.h"

namespace flightdeck {

using at::Tensor;

// Names the places in the list that `entry_stats` returns.
enum EntryStat : int64_t {
  kEntryCount,
  kEntrySum,
  kEntrySquares,
  kEntryCubes,
  kEntryFourths,
  kEntriesNotFinite,
  kEntriesZero,
  kEntriesTiny,       // not zero, and smaller than `tiny`
  kEntriesHuge,       // finite, and larger than `huge`
  kEntryLow,          // of the finite ones; infinity if there are none
  kEntryHigh,         // minus infinity if there are none
  kEntryFirstSample,  // with an entry that is not finite; infinity if there is none or it is not
                      // known
  kEntryStats,
};

// Tells which magnitudes count as tiny and huge.
struct EntryRange {
  double tiny = 0, huge = 0;
};
// Returns the smallest normal number, and a sixteenth of the largest one, of a floating-point type.
EntryRange range_of(at::ScalarType type);

// Returns [kEntryStats] in double, on the tensor's device. Those of a complex tensor are of its
// real numbers. `layout` says whose the entries are.
Tensor entry_stats(const Tensor& values, const EntryRange& range, const Layout& layout = {});

// Joins those of several tensors, from [m, kEntryStats].
Tensor join_stats(const Tensor& stats);

// Return sqrt(mean of squares), mean square distance from the mean, fourth central moment over its
// square, largest magnitude: each [...] from [..., kEntryStats].
Tensor root_mean_square(const Tensor& stats);
Tensor variance_of(const Tensor& stats);
Tensor kurtosis(const Tensor& stats);
Tensor largest_magnitude(const Tensor& stats);

}  // namespace flightdeck
