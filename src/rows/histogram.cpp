// SPDX-License-Identifier: MIT
#include "rows/histogram.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rows/form.h"
#include "rows/gpu_counts.h"
#include "rows/histogram_bins.h"

namespace flightdeck {
namespace {

constexpr int64_t kPiece = 2048;     // fits the first-level cache with its scratch
constexpr int64_t kGrain = 1 << 15;  // below it a second thread costs more than it saves
constexpr int64_t kGpuTables = 256;  // spread the atomic additions to the bins around zero

// Keeps one thread's raw counts. Neighbours go to different tables: an increment that has to wait
// for the previous one of the same bin takes several times as long.
template <typename Scalar>
class BinCounter {
 public:
  BinCounter(const Bins& bins, const Centre<Scalar>& centre)
      : bins_(equal_bins<Scalar>(bins)), centre_(centre), counts_(kTables * size()) {}

  void add(const Scalar* x, int64_t n) {
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      add_piece(x + begin, std::min(kPiece, n - begin));
    }
  }

  const int64_t* finish() {
    for (int64_t k = 0; k < size(); ++k) {
      for (int64_t table = 1; table < kTables; ++table) counts_[k] += counts_[table * size() + k];
    }
    return counts_.data();
  }

 private:
  static constexpr int64_t kTables = 4;

  int64_t size() const { return bins_.count + 3; }

  void add_piece(const Scalar* x, int64_t n) {
    int64_t num_others = 0;
    const int64_t upper = kernels_.in_window(x, n, centre_.window, others_, &num_others);
    counts_[centre_.upper] += upper;
    if (centre_.upper > 0) counts_[centre_.upper - 1] += n - upper - num_others;
    kernels_.index(others_, num_others, bins_, index_);
    for (int64_t k = 0; k < num_others; ++k) ++counts_[k % kTables * size() + index_[k]];
  }

  const kernels::CountingKernels<Scalar>& kernels_ = kernels::counting_kernels<Scalar>();
  kernels::EqualBins<Scalar> bins_;
  Centre<Scalar> centre_;
  std::vector<int64_t> counts_;
  Scalar others_[kPiece + kernels::kSlack];
  int32_t index_[kPiece + kernels::kSlack];
};

template <typename Scalar>
void index_on_cpu(const Tensor& values, const Bins& bins, const Tensor& index) {
  const auto& kernels = kernels::counting_kernels<Scalar>();
  const auto equal = equal_bins<Scalar>(bins);
  const auto* const x = values.data_ptr<Scalar>();
  AT_DISPATCH_INDEX_TYPES(index.scalar_type(), "bin_index", [&] {
    auto* const to = index.data_ptr<index_t>();
    at::parallel_for(0, values.numel(), kGrain, [&](int64_t begin, int64_t end) {
      int32_t piece[kPiece];
      for (; begin < end; begin += kPiece) {
        const int64_t size = std::min(kPiece, end - begin);
        kernels.index(x + begin, size, equal, piece);
        for (int64_t k = 0; k < size; ++k) to[begin + k] = piece[k] - 1;
      }
    });
  });
}

}  // namespace

void check_bins(const Bins& bins) {
  TORCH_CHECK_VALUE(std::isfinite(bins.high - bins.low) && bins.low < bins.high && bins.count > 0 &&
                        bins.count < (int64_t{1} << 24),
                    "histogram: ",
                    bins.count,
                    " bins from ",
                    bins.low,
                    " to ",
                    bins.high,
                    "; give a finite low < high and between 1 and 2^24 - 1 bins");
}

bool counts_on_cpu(const Tensor& values) {
  return values.is_cpu() &&
         (values.scalar_type() == at::kFloat || values.scalar_type() == at::kDouble);
}

Tensor bin_index(const Tensor& values, const Bins& bins, at::ScalarType type) {
  check_bins(bins);
  if (counts_on_cpu(values)) {
    const Tensor contiguous = values.contiguous();
    Tensor index = at::empty(values.sizes(), type);
    AT_DISPATCH_FLOATING_TYPES(contiguous.scalar_type(), "bin_index", [&] {
      index_on_cpu<scalar_t>(contiguous, bins, index);
    });
    return index;
  }
  const double scale = bins.count / (bins.high - bins.low);
  Tensor index = values.sub(bins.low).mul_(scale).to(type).clamp_max_(bins.count - 1);
  index.masked_fill_(values < bins.low, -1);
  index.masked_fill_(values > bins.high, bins.count);
  index.masked_fill_(values.isnan(), bins.count + 1);
  return index;
}

Tensor value_bin_index(const Tensor& values, const Bins& bins) {
  return bin_index(in_row_precision(values).clamp(bins.low, bins.high), bins)
      .clamp_max_(bins.count);
}

Tensor count_indices(const Tensor& index, int64_t size) {
  Tensor tables = at::zeros({kGpuTables * size}, index.options());
  const Tensor lane = at::arange(index.numel(), index.options()).remainder_(kGpuTables);
  tables.index_add_(
      0, lane.mul_(size).add_(index), at::ones({1}, index.options()).expand_as(index));
  return tables.view({kGpuTables, size}).sum(0);
}

Tensor count_into_bins(const Tensor& values, const Bins& bins) {
  check_bins(bins);
  if (has_gpu_kernel(values, bins.count + 3)) return gpu_count_into_bins(values, bins);
  Tensor counts = at::zeros({bins.count + 3}, values.options().dtype(at::kLong));
  if (!counts_on_cpu(values)) {
    for (const Tensor& piece : values.reshape({-1}).split(kIndicesPerPiece)) {
      counts += count_indices(bin_index(piece, bins).add_(1), bins.count + 3);
    }
    return counts;
  }
  const Tensor contiguous = values.contiguous();
  SharedCounts total(counts);
  AT_DISPATCH_FLOATING_TYPES(contiguous.scalar_type(), "count_into_bins", [&] {
    const auto equal = equal_bins<scalar_t>(bins);
    const Centre<scalar_t> centre([&](scalar_t value) { return raw_index(value, equal); });
    const auto* const x = contiguous.data_ptr<scalar_t>();
    at::parallel_for(0, contiguous.numel(), kGrain, [&](int64_t begin, int64_t end) {
      BinCounter<scalar_t> counter(bins, centre);
      counter.add(x + begin, end - begin);
      total.add(counter.finish());
    });
  });
  return counts;
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

}  // namespace flightdeck
