// SPDX-License-Identifier: MIT
#include "rows/histogram.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace flightdeck {
namespace {

// The bin of one value; same arithmetic as bin_index.
template <typename Scalar>
struct BinOf {
  Scalar low, high, scale;
  int64_t count;

  explicit BinOf(const Bins& bins)
      : low(static_cast<Scalar>(bins.low)),
        high(static_cast<Scalar>(bins.high)),
        scale(static_cast<Scalar>(bins.count / (bins.high - bins.low))),
        count(bins.count) {}

  int64_t operator()(Scalar value) const {
    if (std::isnan(value)) return count + 1;
    if (value < low) return -1;
    if (value > high) return count;
    return std::min(static_cast<int64_t>((value - low) * scale), count - 1);
  }
};

template <typename Scalar>
void count_line(Scalar a,
                const std::vector<Scalar>& sorted,
                const BinOf<Scalar>& bin,
                int64_t* counts) {
  const auto size = static_cast<int64_t>(sorted.size());
  const auto bin_at = [&](int64_t j) {
    return bin(a * (a > 0 ? sorted[j] : sorted[size - 1 - j]));
  };
  const int64_t last = bin_at(size - 1);
  int64_t begin = 0;
  for (int64_t current = bin_at(0); current != last; current = bin_at(begin)) {
    int64_t low = begin + 1, high = size - 1;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (bin_at(middle) > current) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    counts[current + 1] += low - begin;
    begin = low;
  }
  counts[last + 1] += size - begin;
}

template <typename Scalar>
void count_sample(const Scalar* a,
                  int64_t I,
                  const Scalar* b,
                  int64_t J,
                  const BinOf<Scalar>& bin,
                  int64_t* counts) {
  std::vector<Scalar> sorted(b, b + J);
  const bool finite = std::all_of(a, a + I, [](Scalar x) { return std::isfinite(x); }) &&
                      std::all_of(b, b + J, [](Scalar x) { return std::isfinite(x); });
  if (!finite) {  // 0 * inf and NaN break the monotone order
    for (int64_t i = 0; i < I; ++i) {
      for (int64_t j = 0; j < J; ++j) ++counts[bin(a[i] * b[j]) + 1];
    }
    return;
  }
  std::sort(sorted.begin(), sorted.end());
  int64_t zeros = 0;
  for (int64_t i = 0; i < I; ++i) {
    if (a[i] == 0) {
      ++zeros;
    } else {
      count_line(a[i], sorted, bin, counts);
    }
  }
  counts[bin(Scalar{0}) + 1] += zeros * J;
}

}  // namespace

Tensor bin_index(const Tensor& values, const Bins& bins) {
  const double scale = bins.count / (bins.high - bins.low);
  Tensor index = values.sub(bins.low).mul_(scale).to(at::kLong).clamp_max_(bins.count - 1);
  index.masked_fill_(values < bins.low, -1);
  index.masked_fill_(values > bins.high, bins.count);
  index.masked_fill_(values.isnan(), bins.count + 1);
  return index;
}

Tensor count_into_bins(const Tensor& values, const Bins& bins) {
  return at::bincount(bin_index(values.reshape({-1}), bins).add_(1), {}, bins.count + 3);
}

Histogram finish_histogram(const Tensor& raw_counts, const Bins& bins) {
  const Tensor raw = raw_counts.cpu();
  const auto* counts = raw.data_ptr<int64_t>();
  Histogram histogram;
  histogram.counts = raw.slice(0, 1, bins.count + 1).clone();
  histogram.underflow = counts[0];
  histogram.overflow = counts[bins.count + 1];
  histogram.not_a_number = counts[bins.count + 2];
  return histogram;
}

Tensor count_outer_into_bins(const Tensor& a, const Tensor& b, const Bins& bins) {
  const Tensor left = a.contiguous();
  const Tensor right = b.contiguous();
  const int64_t N = a.size(0), I = a.size(1), J = b.size(1);
  Tensor counts = at::zeros({bins.count + 3}, at::kLong);
  if (N * I * J == 0) return counts;
  std::mutex merge;
  AT_DISPATCH_FLOATING_TYPES(left.scalar_type(), "count_outer_into_bins", [&] {
    const BinOf<scalar_t> bin(bins);
    const auto* a_data = left.data_ptr<scalar_t>();
    const auto* b_data = right.data_ptr<scalar_t>();
    at::parallel_for(0, N, 1, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> local(bins.count + 3);
      for (int64_t n = begin; n < end; ++n) {
        count_sample(a_data + n * I, I, b_data + n * J, J, bin, local.data());
      }
      const std::lock_guard<std::mutex> lock(merge);
      auto* total = counts.data_ptr<int64_t>();
      for (size_t k = 0; k < local.size(); ++k) total[k] += local[k];
    });
  });
  return counts;
}

Tensor count_into_joint_bins(const Tensor& rows,
                             const Bins& bins,
                             const Tensor& value_bin,
                             int64_t value_bins) {
  const Tensor clamped = rows.clamp(bins.low, bins.high);
  const Tensor index = bin_index(clamped, bins).mul_(value_bins).add_(value_bin);
  const Tensor kept = index.masked_select(rows.isnan().logical_not_());
  return at::bincount(kept, {}, bins.count * value_bins).view({bins.count, value_bins});
}

Tensor count_outer_into_joint_bins(const Tensor& a,
                                   const Tensor& b,
                                   const Tensor& value_bin,
                                   const Bins& bins,
                                   int64_t value_bins) {
  Tensor counts = at::zeros({bins.count, value_bins}, at::kLong);
  const Tensor flat = value_bin.reshape({-1});
  for (int64_t n = 0; n < a.size(0); ++n) {
    const Tensor row = at::outer(a[n], b[n]).view({1, -1});
    counts += count_into_joint_bins(row, bins, flat, value_bins);
  }
  return counts;
}

}  // namespace flightdeck
