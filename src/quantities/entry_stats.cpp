// SPDX-License-Identifier: MIT
#include "quantities/entry_stats.h"

#include <cmath>
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

// In lanes, so that additions do not wait for one another.
template <typename Scalar>
void add_entries(const Scalar* values, int64_t count, const EntryRange& range, Stats& stats) {
  constexpr int64_t kLanes = 4;
  double sum[kLanes] = {}, squares[kLanes] = {}, cubes[kLanes] = {}, fourths[kLanes] = {};
  int64_t bad = 0, zeros = 0, tiny = 0, huge = 0;
  Scalar low = std::numeric_limits<Scalar>::infinity(), high = -low;
  const auto smallest = static_cast<Scalar>(range.tiny), largest = static_cast<Scalar>(range.huge);
  for (int64_t k = 0; k < count; ++k) {
    const Scalar x = values[k], size = std::abs(x);
    const bool is_finite = size <= std::numeric_limits<Scalar>::max();
    const double wide = x, square = wide * wide;
    const int64_t lane = k % kLanes;
    sum[lane] += wide;
    squares[lane] += square;
    cubes[lane] += square * wide;
    fourths[lane] += square * square;
    bad += is_finite ? 0 : 1;
    zeros += x == 0 ? 1 : 0;
    tiny += size < smallest && x != 0 ? 1 : 0;
    huge += size > largest && is_finite ? 1 : 0;
    low = is_finite && x < low ? x : low;
    high = is_finite && x > high ? x : high;
  }
  const auto add = [&](EntryStat field, const double* lanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) stats.fields[field] += lanes[lane];
  };
  add(kEntrySum, sum);
  add(kEntrySquares, squares);
  add(kEntryCubes, cubes);
  add(kEntryFourths, fourths);
  stats.fields[kEntryCount] += static_cast<double>(count);
  stats.fields[kEntriesNotFinite] += static_cast<double>(bad);
  stats.fields[kEntriesZero] += static_cast<double>(zeros);
  stats.fields[kEntriesTiny] += static_cast<double>(tiny);
  stats.fields[kEntriesHuge] += static_cast<double>(huge);
  stats.fields[kEntryLow] = std::min(stats.fields[kEntryLow], static_cast<double>(low));
  stats.fields[kEntryHigh] = std::max(stats.fields[kEntryHigh], static_cast<double>(high));
}

template <typename Scalar>
Tensor sweep_entries(const Tensor& values, const EntryRange& range) {
  constexpr int64_t kBlock = int64_t{1} << 14;
  const auto* data = values.data_ptr<Scalar>();
  const int64_t count = values.numel();
  std::vector<Stats> blocks((count + kBlock - 1) / kBlock);
  at::parallel_for(0, static_cast<int64_t>(blocks.size()), 4, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock;
      add_entries(data + first, std::min(kBlock, count - first), range, blocks[block]);
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

Tensor entry_stats(const Tensor& values, const EntryRange& range) {
  const Tensor entries = values.is_complex() ? at::view_as_real(values) : values;
  const bool is_plain = entries.is_cpu() && entries.is_non_overlapping_and_dense();
  if (is_plain && entries.scalar_type() == at::kFloat) return sweep_entries<float>(entries, range);
  if (is_plain && entries.scalar_type() == at::kDouble) {
    return sweep_entries<double>(entries, range);
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
