// SPDX-License-Identifier: MIT
// Joint histogram of gradient entries and parameter values.
//
// Per parameter entry the kernels count how many gradients reach the boundary nearest zero. These
// numbers are added up per value bin; together with how many entries each value bin has and with
// the gradients outside the two bins around that boundary, which are counted one by one, they give
// all.
#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rows/gpu_counts.h"
#include "rows/histogram_bins.h"

namespace flightdeck {
namespace {

using kernels::CountingKernels;
using kernels::kSlack;

constexpr int64_t kColumns = 1024;  // with N = 128 floats 512 KB of b: the second-level cache
constexpr int64_t kJointGrain = 1 << 16;

template <typename Scalar>
Centre<Scalar> clamped_centre(const Bins& bins) {
  const auto equal = equal_bins<Scalar>(bins);
  return Centre<Scalar>([&](Scalar value) { return clamped_index(value, equal); });
}

// Keeps one thread's counts of n gradients for each of the parameter entries it is given.
template <typename Scalar>
class JointCounter {
 public:
  using Count = typename CountingKernels<Scalar>::Count;

  JointCounter(const Bins& bins, const Centre<Scalar>& centre, int64_t value_bins, int64_t n)
      : bins_(equal_bins<Scalar>(bins)),
        centre_(centre),
        value_bins_(value_bins),
        n_(n),
        entries_(width()),
        packed_(kTables * width()),
        outside_((bins.count + 3) * width()) {}

  const kernels::Window<Scalar>& window() const { return centre_.window; }
  Count* upper() { return upper_; }

  // Adds one line of factor * x; columns and value_bin as of the block under way.
  void add_line(const Scalar* x, int64_t columns, Scalar factor, const int32_t* value_bin) {
    const int64_t num_others =
        kernels_.window_by_column(x, columns, factor, centre_.window, upper_, others_, positions_);
    if (num_others == 0) return;
    kernels_.clamped_index(others_, num_others, bins_, index_);
    for (int64_t k = 0; k < num_others; ++k) {
      ++outside_[index_[k] * width() + column_of(value_bin[positions_[k]])];
    }
  }

  void begin_block(int64_t columns, int64_t upper) { std::fill_n(upper_, columns, Count(upper)); }

  void end_block(int64_t columns, const int32_t* value_bin) {
    for (int64_t begin = 0; begin < columns; begin += kTables) {
      if (room_ < kTables) unpack();
      room_ -= kTables;
      const int64_t size = std::min(kTables, columns - begin);
      for (int64_t k = 0; k < size; ++k) {
        uint64_t& packed = packed_[k * width() + column_of(value_bin[begin + k])];
        packed += kOne + static_cast<uint64_t>(upper_[begin + k]);
      }
    }
  }

  // Adds to counts [bins, value_bins].
  void add_to(int64_t* counts) {
    unpack();
    for (int64_t column = 0; column < value_bins_; ++column) {
      const Entries& entries = entries_[column];
      int64_t upper = entries.upper;
      int64_t lower = n_ * entries.number - entries.upper - outside(bins_.count + 2, column);
      for (int64_t k = 1; k <= bins_.count; ++k) {
        (k < centre_.upper ? lower : upper) -= outside(k, column);
        counts[(k - 1) * value_bins_ + column] += outside(k, column);
      }
      counts[(centre_.upper - 1) * value_bins_ + column] += upper;
      if (centre_.upper > 1) counts[(centre_.upper - 2) * value_bins_ + column] += lower;
    }
  }

 private:
  // Neighbouring entries go to different tables, so that additions do not wait for each other, and
  // one addition does for both numbers: entries in the upper half of a word, gradients in the
  // lower.
  static constexpr int64_t kTables = 8;
  static constexpr uint64_t kOne = uint64_t{1} << 32;
  struct Entries {
    int64_t number, upper;
  };

  void unpack() {
    for (size_t k = 0; k < packed_.size(); ++k) {
      Entries& entries = entries_[k % width()];
      entries.number += static_cast<int64_t>(packed_[k] / kOne);
      entries.upper += static_cast<int64_t>(packed_[k] % kOne);
      packed_[k] = 0;
    }
    // A table sees one entry in kTables, and each adds n at most.
    room_ = static_cast<int64_t>((kOne - 1) / static_cast<uint64_t>(n_)) * kTables;
  }

  // The last column takes entries without a value bin.
  int64_t width() const { return value_bins_ + 1; }
  int64_t column_of(int32_t value_bin) const {
    return std::min<uint64_t>(static_cast<uint32_t>(value_bin), value_bins_);
  }
  int64_t outside(int64_t index, int64_t column) const {
    return outside_[index * width() + column];
  }

  const CountingKernels<Scalar>& kernels_ = kernels::counting_kernels<Scalar>();
  kernels::EqualBins<Scalar> bins_;
  Centre<Scalar> centre_;
  int64_t value_bins_, n_;
  int64_t room_ = 0;
  std::vector<Entries> entries_;  // [value_bins + 1]
  std::vector<uint64_t> packed_;  // [kTables, value_bins + 1]
  std::vector<int64_t> outside_;  // [raw index, value_bins + 1]
  Count upper_[kColumns];
  Scalar others_[kColumns + kSlack];
  int32_t positions_[kColumns + kSlack], index_[kColumns + kSlack];
};

// Holds b [N, J] with the range of every line.
template <typename Scalar>
struct JointLines {
  const Scalar* data;
  int64_t N, J;
  const Scalar* smallest;  // NaN where the line has one
  const Scalar* largest;
};

// Holds the samples of one a_i, sorted by what their line of products may hold.
template <typename Scalar>
class Samples {
 public:
  explicit Samples(int64_t N) : lines_(N), risky_lines_(N), factors_(N), risky_factors_(N) {}

  void sort(const Scalar* a, const JointLines<Scalar>& b, const kernels::Window<Scalar>& window) {
    size_ = risky_size_ = zeros_ = 0;
    for (int64_t n = 0; n < b.N; ++n) {
      const Scalar x = a[n] * b.smallest[n], y = a[n] * b.largest[n];
      const bool is_zero = x == 0 && y == 0;
      const bool is_inside =
          x >= window.low && x < window.high && y >= window.low && y < window.high;
      lines_[size_] = risky_lines_[risky_size_] = static_cast<int32_t>(n);
      factors_[size_] = risky_factors_[risky_size_] = a[n];
      zeros_ += is_zero;
      size_ += is_inside && !is_zero;
      risky_size_ += !is_inside;
    }
  }

  void count(const JointLines<Scalar>& b,
             int64_t begin,
             int64_t end,
             const int32_t* value_bin,
             JointCounter<Scalar>& counter) const {
    const int64_t columns = end - begin;
    const Scalar middle = counter.window().middle;
    counter.begin_block(columns, middle <= 0 ? zeros_ : 0);
    kernels::counting_kernels<Scalar>().products_by_column(b.data + begin,
                                                           b.J,
                                                           columns,
                                                           lines_.data(),
                                                           factors_.data(),
                                                           size_,
                                                           middle,
                                                           counter.upper());
    for (int64_t k = 0; k < risky_size_; ++k) {
      counter.add_line(
          b.data + risky_lines_[k] * b.J + begin, columns, risky_factors_[k], value_bin);
    }
    counter.end_block(columns, value_bin);
  }

 private:
  int64_t size_ = 0, risky_size_ = 0, zeros_ = 0;
  std::vector<int32_t> lines_, risky_lines_;
  std::vector<Scalar> factors_, risky_factors_;
};

template <typename Scalar>
void count_outer(const Tensor& a,  // [I, N]
                 const Tensor& b,  // [N, J]
                 const int32_t* value_bin,
                 const Bins& bins,
                 const Tensor& counts) {
  const int64_t I = a.size(0), N = b.size(0), J = b.size(1), value_bins = counts.size(1);
  const Tensor smallest = b.amin({1}), largest = b.amax({1});
  const JointLines<Scalar> lines{
      b.data_ptr<Scalar>(), N, J, smallest.data_ptr<Scalar>(), largest.data_ptr<Scalar>()};
  const auto* const factors = a.data_ptr<Scalar>();
  const Centre<Scalar> centre = clamped_centre<Scalar>(bins);
  std::mutex merge;
  at::parallel_for(0, I, 1 + kJointGrain / (N * J), [&](int64_t begin, int64_t end) {
    JointCounter<Scalar> counter(bins, centre, value_bins, N);
    Samples<Scalar> samples(N);
    for (int64_t j = 0; j < J; j += kColumns) {
      for (int64_t i = begin; i < end; ++i) {
        samples.sort(factors + i * N, lines, centre.window);
        samples.count(lines, j, std::min(j + kColumns, J), value_bin + i * J + j, counter);
      }
    }
    const std::lock_guard<std::mutex> lock(merge);
    counter.add_to(counts.data_ptr<int64_t>());
  });
}

template <typename Scalar>
void count_dense(const Tensor& rows,
                 const int32_t* value_bin,
                 const Bins& bins,
                 const Tensor& counts) {
  const int64_t n = rows.size(0), d = rows.size(1);
  const auto* const x = rows.data_ptr<Scalar>();
  const Centre<Scalar> centre = clamped_centre<Scalar>(bins);
  std::mutex merge;
  at::parallel_for(0, d, 1 + kJointGrain / n, [&](int64_t begin, int64_t end) {
    JointCounter<Scalar> counter(bins, centre, counts.size(1), n);
    for (int64_t j = begin; j < end; j += kColumns) {
      const int64_t columns = std::min(kColumns, end - j);
      counter.begin_block(columns, 0);
      for (int64_t k = 0; k < n; ++k) {
        counter.add_line(x + k * d + j, columns, Scalar{1}, value_bin + j);
      }
      counter.end_block(columns, value_bin + j);
    }
    const std::lock_guard<std::mutex> lock(merge);
    counter.add_to(counts.data_ptr<int64_t>());
  });
}

Tensor count_on_gpu(const Tensor& rows,
                    const Bins& bins,
                    const Tensor& value_bin,
                    int64_t value_bins) {
  const int64_t dropped = bins.count * value_bins;
  Tensor counts = at::zeros({dropped + 1}, rows.options().dtype(at::kLong));
  const Tensor column = value_bin.to(at::kLong);
  const Tensor has_no_bin = (column < 0).logical_or_(column >= value_bins);
  const int64_t piece = std::max<int64_t>(1, kIndicesPerPiece / std::max<int64_t>(1, rows.size(1)));
  for (const Tensor& part : rows.split(piece)) {
    Tensor index = bin_index(part.clamp(bins.low, bins.high), bins).mul_(value_bins).add_(column);
    index.masked_fill_(part.isnan().logical_or_(has_no_bin), dropped);
    counts += count_indices(index.reshape({-1}), dropped + 1);
  }
  return counts.slice(0, 0, dropped).view({bins.count, value_bins});
}

}  // namespace

Tensor count_into_joint_bins(const Tensor& rows,
                             const Bins& bins,
                             const Tensor& value_bin,
                             int64_t value_bins) {
  check_bins(bins);
  if (has_gpu_kernel(rows, bins.count * value_bins)) {
    return gpu_count_into_joint_bins(rows, bins, value_bin, value_bins);
  }
  if (!counts_on_cpu(rows)) return count_on_gpu(rows, bins, value_bin, value_bins);
  Tensor counts = at::zeros({bins.count, value_bins}, at::kLong);
  if (rows.numel() == 0) return counts;
  const Tensor x = rows.contiguous(), columns = value_bin.to(at::kInt).contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "count_into_joint_bins", [&] {
    count_dense<scalar_t>(x, columns.data_ptr<int32_t>(), bins, counts);
  });
  return counts;
}

Tensor count_outer_into_joint_bins(const Tensor& a,
                                   const Tensor& b,
                                   const Tensor& value_bin,
                                   const Bins& bins,
                                   int64_t value_bins) {
  check_bins(bins);
  const int64_t N = a.size(0), I = a.size(1), J = b.size(1);
  Tensor counts = at::zeros({bins.count, value_bins}, a.options().dtype(at::kLong));
  if (N * I * J == 0) return counts;
  if (has_gpu_kernel(a, bins.count * value_bins)) {
    return gpu_count_outer_into_joint_bins(a, b, value_bin, bins, value_bins);
  }
  if (!counts_on_cpu(a)) {
    const int64_t piece = std::max<int64_t>(1, kIndicesPerPiece / (I * J));
    for (int64_t begin = 0; begin < N; begin += piece) {
      const Tensor part = a.slice(0, begin, begin + piece).unsqueeze(2);
      const Tensor rows = (part * b.slice(0, begin, begin + piece).unsqueeze(1)).flatten(1);
      counts += count_on_gpu(rows, bins, value_bin.reshape({-1}), value_bins);
    }
    return counts;
  }
  const Tensor columns = value_bin.to(at::kInt).reshape({I, J});
  // The longer side is the one that fills vectors.
  constexpr int64_t kNarrow = 64;
  if (J < kNarrow && J < I) {
    return count_outer_into_joint_bins(b, a, columns.t(), bins, value_bins);
  }
  const Tensor left = a.t().contiguous(), right = b.contiguous();
  const Tensor contiguous = columns.contiguous();
  AT_DISPATCH_FLOATING_TYPES(left.scalar_type(), "count_outer_into_joint_bins", [&] {
    count_outer<scalar_t>(left, right, contiguous.data_ptr<int32_t>(), bins, counts);
  });
  return counts;
}

}  // namespace flightdeck
