// SPDX-License-Identifier: MIT
#include "quantities/entry_stats.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace flightdeck {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct Stats {
  double fields[kEntryStats] = {};
  Stats() {
    fields[kEntryLow] = kUnbounded;
    fields[kEntryHigh] = -kUnbounded;
  }
};

// In lanes, so that additions and comparisons do not wait for one another and become vectors.
constexpr int64_t kLanes = 16;

template <typename Scalar>
void add_moments(const Scalar* values, int64_t count, Stats& stats) {
  double sum[kLanes] = {}, squares[kLanes] = {}, cubes[kLanes] = {}, fourths[kLanes] = {};
  const auto add = [&](int64_t lane, double x) {
    const double square = x * x;
    sum[lane] += x;
    squares[lane] += square;
    cubes[lane] += square * x;
    fourths[lane] += square * square;
  };
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) add(lane, values[k + lane]);
  }
  for (; k < count; ++k) add(0, values[k]);
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    stats.fields[kEntrySum] += sum[lane];
    stats.fields[kEntrySquares] += squares[lane];
    stats.fields[kEntryCubes] += cubes[lane];
    stats.fields[kEntryFourths] += fourths[lane];
  }
}

template <typename Scalar>
void add_range(const Scalar* values, int64_t count, const EntryRange& range, Stats& stats) {
  constexpr Scalar kFar = std::numeric_limits<Scalar>::infinity();
  constexpr Scalar kMost = std::numeric_limits<Scalar>::max();
  const auto smallest = static_cast<Scalar>(range.tiny), largest = static_cast<Scalar>(range.huge);
  // Counts are floating-point numbers too, exact in a block.
  Scalar bad[kLanes] = {}, zeros[kLanes] = {}, tiny[kLanes] = {}, huge[kLanes] = {};
  Scalar low[kLanes], high[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    low[lane] = kFar;
    high[lane] = -kFar;
  }
  const auto add = [&](int64_t lane, Scalar x) {
    const Scalar size = x < 0 ? -x : x;
    const bool is_finite = size <= kMost;
    bad[lane] += is_finite ? Scalar(0) : Scalar(1);
    zeros[lane] += size == 0 ? Scalar(1) : Scalar(0);
    tiny[lane] += size < smallest ? Scalar(1) : Scalar(0);
    huge[lane] += size > largest && is_finite ? Scalar(1) : Scalar(0);
    const Scalar lower = is_finite ? x : kFar, upper = is_finite ? x : -kFar;
    low[lane] = lower < low[lane] ? lower : low[lane];
    high[lane] = upper > high[lane] ? upper : high[lane];
  };
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) add(lane, values[k + lane]);
  }
  for (; k < count; ++k) add(0, values[k]);
  double zero = 0, small = 0, large = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    stats.fields[kEntriesNotFinite] += bad[lane];
    zero += zeros[lane];
    small += tiny[lane];
    large += huge[lane];
    stats.fields[kEntryLow] = std::min<double>(stats.fields[kEntryLow], low[lane]);
    stats.fields[kEntryHigh] = std::max<double>(stats.fields[kEntryHigh], high[lane]);
  }
  stats.fields[kEntriesZero] += zero;
  stats.fields[kEntriesTiny] += smallest > 0 ? small - zero : 0;
  stats.fields[kEntriesHuge] += large;
  stats.fields[kEntryCount] += static_cast<double>(count);
}

template <typename Scalar>
Tensor sweep_entries(const Tensor& values, const EntryRange& range, bool has_moments) {
  constexpr int64_t kBlock = int64_t{1} << 14;
  const auto* data = values.data_ptr<Scalar>();
  const int64_t count = values.numel();
  std::vector<Stats> blocks((count + kBlock - 1) / kBlock);
  at::parallel_for(0, static_cast<int64_t>(blocks.size()), 4, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock;
      const int64_t size = std::min(kBlock, count - first);
      if (has_moments) add_moments(data + first, size, blocks[block]);
      add_range(data + first, size, range, blocks[block]);
    }
  });
  const Stats none;
  Tensor all = at::empty({static_cast<int64_t>(blocks.size()) + 1, kEntryStats}, at::kDouble);
  auto* rows = all.data_ptr<double>();
  for (const Stats& block : blocks) rows = std::copy_n(block.fields, kEntryStats, rows);
  std::copy_n(none.fields, kEntryStats, rows);
  return join_stats(all);
}

Tensor stats_by_ops(const Tensor& values, const EntryRange& range) {
  const Tensor x = values.flatten().to(at::kDouble);
  if (x.numel() == 0) {
    const Stats none;
    return at::tensor(at::ArrayRef<double>(none.fields, kEntryStats), at::kDouble).to(x.device());
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
                    at::where(is_finite, x, at::full_like(x, -kUnbounded)).amax()});
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

Tensor entry_stats(const Tensor& values, const EntryRange& range, bool has_moments) {
  const Tensor entries = values.is_complex() ? at::view_as_real(values) : values;
  const bool is_plain = entries.is_cpu() && entries.is_non_overlapping_and_dense();
  if (is_plain && entries.scalar_type() == at::kFloat) {
    return sweep_entries<float>(entries, range, has_moments);
  }
  if (is_plain && entries.scalar_type() == at::kDouble) {
    return sweep_entries<double>(entries, range, has_moments);
  }
  return stats_by_ops(entries, range);
}

Tensor join_stats(const Tensor& stats) {
  return at::cat({stats.slice(1, 0, kEntryLow).sum(0),
                  stats.slice(1, kEntryLow, kEntryLow + 1).amin(0),
                  stats.slice(1, kEntryHigh, kEntryHigh + 1).amax(0)});
}

Tensor root_mean_square(const Tensor& stats) {
  return (stat(stats, kEntrySquares) / stat(stats, kEntryCount)).sqrt();
}

Tensor variance_of(const Tensor& stats) {
  const Tensor n = stat(stats, kEntryCount);
  const Tensor mean = stat(stats, kEntrySum) / n;
  // Rounding may leave less than nothing of entries that are all the same.
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
