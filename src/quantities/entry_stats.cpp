// SPDX-License-Identifier: MIT
#include "quantities/entry_stats.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "graph/layout.h"
#include "kernels/entry_sums/entry_sums.h"
#include "kernels/tables/tables.h"
#include "rows/gpu_tables.h"

namespace flightdeck {
namespace {

static_assert(kEntryStats == kernels::kEntryNumbers, "tables.cu writes them in this order");

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct Stats {
  double fields[kEntryStats] = {};
  Stats() {
    fields[kEntryLow] = kUnbounded;
    fields[kEntryHigh] = -kUnbounded;
    fields[kEntryFirstSample] = kUnbounded;
  }
  Stats(const kernels::EntrySums& sums, int64_t count) {
    fields[kEntryCount] = static_cast<double>(count);
    fields[kEntrySum] = sums.sum;
    fields[kEntrySquares] = sums.squares;
    fields[kEntryCubes] = sums.cubes;
    fields[kEntryFourths] = sums.fourths;
    fields[kEntriesNotFinite] = sums.not_finite;
    fields[kEntriesZero] = sums.zeros;
    fields[kEntriesTiny] = sums.tiny;
    fields[kEntriesHuge] = sums.huge;
    fields[kEntryLow] = sums.low;
    fields[kEntryHigh] = sums.high;
    fields[kEntryFirstSample] = kUnbounded;
  }

  void add(const double* other) {
    for (int64_t k = 0; k < kEntryLow; ++k) fields[k] += other[k];
    fields[kEntryLow] = std::min(fields[kEntryLow], other[kEntryLow]);
    fields[kEntryHigh] = std::max(fields[kEntryHigh], other[kEntryHigh]);
    fields[kEntryFirstSample] = std::min(fields[kEntryFirstSample], other[kEntryFirstSample]);
  }
  Tensor tensor() const {
    Tensor stats = at::empty({kEntryStats}, at::kDouble);
    std::copy_n(fields, kEntryStats, stats.data_ptr<double>());
    return stats;
  }
};

// Sums in blocks, so that the sums do not depend on the number of threads.
template <typename Stored>
Tensor sweep_entries(const Tensor& values, const EntryRange& range) {
  constexpr int64_t kBlock = int64_t{1} << 14;
  const auto* data = static_cast<const Stored*>(values.data_ptr());
  const int64_t count = values.numel();
  std::vector<Stats> blocks((count + kBlock - 1) / kBlock);
  const auto add = kernels::add_entries<Stored>();
  at::parallel_for(0, static_cast<int64_t>(blocks.size()), 4, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock, size = std::min(kBlock, count - first);
      kernels::EntrySums sums;
      add(data + first, size, range.tiny, range.huge, sums);
      blocks[block] = Stats(sums, size);
    }
  });
  Stats all;
  for (const Stats& block : blocks) all.add(block.fields);
  return all.tensor();
}

// Returns the first sample with an entry that is not finite, [] in double; infinity if there is
// none.
Tensor first_bad_sample(const Tensor& values, const Layout& layout) {
  const auto options = values.options().dtype(at::kDouble);
  if (values.numel() == 0 || !has_samples(values, layout)) return at::full({}, kUnbounded, options);
  const Tensor is_bad = at::isfinite(samples_first(values, layout)).logical_not();
  const Tensor places = at::arange(layout.N, options);
  return at::where(is_bad.reshape({layout.N, -1}).any(1), places, at::full_like(places, kUnbounded))
      .amin();
}

Tensor stats_by_ops(const Tensor& values, const EntryRange& range, const Layout& layout) {
  const Tensor x = values.flatten().to(at::kDouble);
  if (x.numel() == 0) {
    return Stats().tensor().to(x.device());
  }
  const Tensor size = x.abs(), square = x.square();
  const Tensor is_finite = at::isfinite(x);
  const auto count = [](const Tensor& flags) { return flags.sum().to(at::kDouble); };
  return at::stack({at::full({}, static_cast<double>(x.numel()), x.options()),
                    x.sum(),
                    square.sum(),
                    (square * x).sum(),
                    square.square().sum(),
                    count(is_finite.logical_not()),
                    count(x == 0),
                    count((size < range.tiny).logical_and_(x != 0)),
                    count((size > range.huge).logical_and_(is_finite)),
                    at::where(is_finite, x, at::full_like(x, kUnbounded)).amin(),
                    at::where(is_finite, x, at::full_like(x, -kUnbounded)).amax(),
                    first_bad_sample(values, layout)});
}

// Sweeps a tensor whose entries lie side by side here. Samples are only looked at where one is bad.
template <typename Stored>
Tensor sweep_samples(const Tensor& values, const EntryRange& range, const Layout& layout) {
  Tensor stats = sweep_entries<Stored>(values, range);
  auto* fields = stats.data_ptr<double>();
  if (fields[kEntriesNotFinite] > 0) {
    fields[kEntryFirstSample] = first_bad_sample(values, layout).item<double>();
  }
  return stats;
}

Tensor stat(const Tensor& stats, EntryStat field) { return stats.select(-1, field); }

}  // namespace

EntryRange range_of(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return {6.103515625e-05, 65504.0 / 16};
    case at::kBFloat16:
      return {std::numeric_limits<float>::min(), 3.3895313892515355e38 / 16};
    case at::kDouble:
    case at::kComplexDouble:
      return {std::numeric_limits<double>::min(), std::numeric_limits<double>::max() / 16};
    default:
      return {std::numeric_limits<float>::min(), std::numeric_limits<float>::max() / 16};
  }
}

Tensor entry_stats(const Tensor& values, const EntryRange& range, const Layout& layout) {
  const Tensor entries = values.is_complex() ? at::view_as_real(values) : values;
  if (const auto numbers = entry_numbers_by_table(entries, range.tiny, range.huge, layout)) {
    return *numbers;
  }
  const bool is_plain = entries.is_cpu() && entries.is_non_overlapping_and_dense();
  if (!is_plain) return stats_by_ops(entries, range, layout);
  switch (entries.scalar_type()) {
    case at::kFloat:
      return sweep_samples<float>(entries, range, layout);
    case at::kDouble:
      return sweep_samples<double>(entries, range, layout);
    case at::kBFloat16:
      return sweep_samples<kernels::Bfloat16>(entries, range, layout);
    default:
      return stats_by_ops(entries, range, layout);
  }
}

Tensor join_stats(const Tensor& stats) {
  if (stats.is_cpu() && stats.is_contiguous() && stats.scalar_type() == at::kDouble) {
    Stats all;
    const auto* rows = stats.data_ptr<double>();
    for (int64_t row = 0; row < stats.size(0); ++row) all.add(rows + row * kEntryStats);
    return all.tensor();
  }
  const auto column = [&](int64_t field) { return stats.slice(1, field, field + 1); };
  return at::cat({stats.slice(1, 0, kEntryLow).sum(0),
                  column(kEntryLow).amin(0),
                  column(kEntryHigh).amax(0),
                  column(kEntryFirstSample).amin(0)});
}

Tensor root_mean_square(const Tensor& stats) {
  return (stat(stats, kEntrySquares) / stat(stats, kEntryCount)).sqrt();
}

Tensor variance_of(const Tensor& stats) {
  const Tensor n = stat(stats, kEntryCount);
  const Tensor mean = stat(stats, kEntrySum) / n;
  // Rounding may leave a little below zero of entries that are all the same.
  return (stat(stats, kEntrySquares) / n - mean.square()).clamp_min(0);
}

Tensor kurtosis(const Tensor& stats) {
  const Tensor n = stat(stats, kEntryCount);
  const Tensor mean = stat(stats, kEntrySum) / n;
  const Tensor second = stat(stats, kEntrySquares) / n, third = stat(stats, kEntryCubes) / n;
  const Tensor variance = second - mean.square();
  const Tensor fourth = stat(stats, kEntryFourths) / n - 4 * mean * third +
                        6 * mean.square() * second - 3 * mean.square().square();
  return fourth / variance.square();
}

Tensor largest_magnitude(const Tensor& stats) {
  return at::maximum(stat(stats, kEntryLow).abs(), stat(stats, kEntryHigh).abs());
}

}  // namespace flightdeck
