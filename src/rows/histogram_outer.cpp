// SPDX-License-Identifier: MIT
// Histogram of outer products from their factors.
//
// Per sample: both factors are split by sign, which settles zeros and NaN and leaves four quadrants
// of positive magnitudes. In a quadrant the number of products at or above each boundary is counted
// on the rarer side of it, among the factors that can reach that side with the other's extreme.
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

// These are rough nanoseconds with wide vectors: one pair compared, one factor sorted, one step of
// a sweep. Only the choice between two exact ways depends on them.
constexpr double kPairCost = 0.1, kSortCost = 25, kStepCost = 1.2;

// Holds magnitudes of the factors of one sign, with room for a vector of zeros before and after.
template <typename Scalar>
class Magnitudes {
 public:
  void reserve(int64_t size) { storage_.resize(size + 3 * kSlack); }
  Scalar* data() { return storage_.data() + kSlack; }
  const Scalar* data() const { return storage_.data() + kSlack; }
  int64_t size() const { return size_; }
  void set_size(int64_t size) {
    size_ = size;
    std::fill_n(data() + size, kSlack, Scalar{0});
  }
  void sort() { std::sort(data(), data() + size_); }

  kernels::Extremes<Scalar> range{};

 private:
  std::vector<Scalar> storage_;  // storage_[kSlack - 1] stays zero
  int64_t size_ = 0;
};

template <typename Scalar>
struct Factor {
  Magnitudes<Scalar> positive, negative;
  int64_t size = 0, zero = 0, infinite = 0, not_a_number = 0;

  explicit Factor(int64_t most) {
    positive.reserve(most);
    negative.reserve(most);
  }

  void read(const Scalar* x, int64_t n, const CountingKernels<Scalar>& kernels) {
    const auto counts = kernels.split_by_sign(x, n, positive.data(), negative.data());
    positive.set_size(counts.positive);
    negative.set_size(counts.negative);
    size = n;
    zero = counts.zero;
    not_a_number = n - counts.positive - counts.negative - counts.zero;
    infinite = 0;
    for (auto* part : {&positive, &negative}) {
      if (part->size() == 0) continue;
      part->range = kernels.extremes(part->data(), part->size());
      if (std::isinf(part->range.largest)) {
        infinite += std::count(part->data(), part->data() + part->size(), part->range.largest);
      }
    }
  }

  int64_t finite_nonzero() const { return size - zero - infinite - not_a_number; }
};

// Holds magnitudes of the products at which the index grows by one, away from zero, on either side.
template <typename Scalar>
struct Boundaries {
  int64_t zero;  // index of zero
  std::vector<Scalar> above, below;

  explicit Boundaries(const kernels::EqualBins<Scalar>& bins) {
    const auto index_of = [&](Scalar value) { return raw_index(value, bins); };
    zero = index_of(0);
    for (int64_t k = zero + 1; k <= bins.count + 1; ++k) {
      above.push_back(first_value<Scalar>(index_of, k));
    }
    // A product lies below index k when it is smaller than its first value: its magnitude larger.
    for (int64_t k = zero; k >= 1; --k) {
      const Scalar last = -first_value<Scalar>(index_of, k);
      below.push_back(std::nextafter(last, std::numeric_limits<Scalar>::infinity()));
    }
  }
};

// Keeps one thread's raw counts.
template <typename Scalar>
class OuterCounter {
 public:
  OuterCounter(const Bins& bins, const Boundaries<Scalar>& boundaries, int64_t I, int64_t J)
      : boundaries_(boundaries), a_(I), b_(J), counts_(bins.count + 3) {
    some_u_.reserve(std::max(I, J));
    some_v_.reserve(std::max(I, J));
  }

  void add(const Scalar* a, int64_t I, const Scalar* b, int64_t J) {
    a_.read(a, I, kernels_);
    b_.read(b, J, kernels_);
    counts_[boundaries_.zero] +=
        a_.zero * (J - b_.infinite - b_.not_a_number) + a_.finite_nonzero() * b_.zero;
    counts_.back() += a_.not_a_number * J + (I - a_.not_a_number) * b_.not_a_number +
                      a_.zero * b_.infinite + a_.infinite * b_.zero;
    add_quadrant(a_.positive, b_.positive, boundaries_.above, 1);
    add_quadrant(a_.negative, b_.negative, boundaries_.above, 1);
    add_quadrant(a_.positive, b_.negative, boundaries_.below, -1);
    add_quadrant(a_.negative, b_.positive, boundaries_.below, -1);
  }

  const int64_t* finish() const { return counts_.data(); }

 private:
  using Parts = Magnitudes<Scalar>;

  void add_quadrant(const Parts& u,
                    const Parts& v,
                    const std::vector<Scalar>& boundaries,
                    int64_t direction) {
    if (u.size() == 0 || v.size() == 0) return;
    const auto reached = [&](double product) {
      return std::upper_bound(boundaries.begin(), boundaries.end(), product) - boundaries.begin();
    };
    // All products reach the boundaries before `first`, none those from `last` on.
    const int64_t first = reached(u.range.smallest * v.range.smallest);
    const int64_t last = reached(u.range.largest * v.range.largest);
    int64_t* const count = &counts_[boundaries_.zero];
    int64_t remaining = u.size() * v.size();
    if (first < last) {
      const double typical = u.range.sum / double(u.size()) * v.range.sum / double(v.size());
      const int64_t middle = std::clamp(int64_t(reached(typical)), first, last);
      pairs_.resize(boundaries.size());
      count_low_side(u, v, boundaries, first, middle);
      count_high_side(u, v, boundaries, middle, last);
    }
    for (int64_t k = first; k < last; ++k) {
      count[direction * k] += remaining - pairs_[k];
      remaining = pairs_[k];
    }
    count[direction * last] += remaining;
  }

  // Sets pairs_[k] for k in [first, last) to the number of products that do not stay below.
  void count_low_side(const Parts& u,
                      const Parts& v,
                      const std::vector<Scalar>& boundaries,
                      int64_t first,
                      int64_t last) {
    if (first == last) return;
    const Scalar bound = boundaries[last - 1];
    select(u, v.range.smallest, bound, /*at_least=*/false, some_u_);
    select(v, u.range.smallest, bound, /*at_least=*/false, some_v_);
    count_pairs(boundaries, first, last);
    const int64_t others = u.size() * v.size() - some_u_.size() * some_v_.size();
    for (int64_t k = first; k < last; ++k) pairs_[k] += others;
  }

  void count_high_side(const Parts& u,
                       const Parts& v,
                       const std::vector<Scalar>& boundaries,
                       int64_t first,
                       int64_t last) {
    if (first == last) return;
    select(u, v.range.largest, boundaries[first], /*at_least=*/true, some_u_);
    select(v, u.range.largest, boundaries[first], /*at_least=*/true, some_v_);
    count_pairs(boundaries, first, last);
  }

  void select(const Parts& from, Scalar factor, Scalar bound, bool at_least, Parts& to) {
    to.set_size(kernels_.select(from.data(), from.size(), factor, bound, at_least, to.data()));
  }

  // Sets pairs_[k] to the number of products of some_u_ and some_v_ that reach boundary k.
  void count_pairs(const std::vector<Scalar>& boundaries, int64_t first, int64_t last) {
    const double num_u = double(some_u_.size()), num_v = double(some_v_.size());
    const double boundaries_here = double(last - first);
    const double by_comparing = num_u * num_v * boundaries_here * kPairCost;
    const double by_sweeping = (num_u + num_v) * (kSortCost + boundaries_here * kStepCost);
    if (by_comparing <= by_sweeping) {
      const bool is_u_longer = some_u_.size() > some_v_.size();
      const Parts& outer = is_u_longer ? some_v_ : some_u_;
      const Parts& inner = is_u_longer ? some_u_ : some_v_;
      for (int64_t k = first; k < last; ++k) {
        pairs_[k] = kernels_.pairs_at_least(
            outer.data(), outer.size(), inner.data(), inner.size(), boundaries[k]);
      }
      return;
    }
    some_u_.sort();
    some_v_.sort();
    some_u_.data()[some_u_.size()] = std::numeric_limits<Scalar>::infinity();
    for (; first < last; first += kSweeps) sweep(boundaries, first, last);
  }

  // Sweeps up to kSweeps boundaries at once. A step moves on in v, downwards, while the product
  // reaches the boundary, else in u, upwards; the zero before v and the infinity after u make it
  // size_u + size_v steps exactly. Without branches, which would be mispredicted every other time,
  // a step has a long latency that the other sweeps fill.
  void sweep(const std::vector<Scalar>& boundaries, int64_t first, int64_t last) {
    const int64_t size_u = some_u_.size(), size_v = some_v_.size();
    const Scalar* const u = some_u_.data();
    const Scalar* const before_v = some_v_.data() - 1;
    Scalar boundary[kSweeps];
    int64_t i[kSweeps] = {}, j[kSweeps], pairs[kSweeps] = {};
    for (int64_t s = 0; s < kSweeps; ++s) {
      boundary[s] = boundaries[std::min(first + s, last - 1)];
      j[s] = size_v;
    }
    for (int64_t step = 0; step < size_u + size_v; ++step) {
#pragma GCC unroll 4
      for (int64_t s = 0; s < kSweeps; ++s) {
        const int64_t is_reached = u[i[s]] * before_v[j[s]] >= boundary[s];
        pairs[s] += (is_reached - 1) & (size_v - j[s]);
        j[s] -= is_reached;
        i[s] += 1 - is_reached;
      }
    }
    for (int64_t s = 0; first + s < std::min(last, first + kSweeps); ++s) {
      pairs_[first + s] = pairs[s];
    }
  }

  static constexpr int64_t kSweeps = 4;

  const CountingKernels<Scalar>& kernels_ = kernels::counting_kernels<Scalar>();
  const Boundaries<Scalar>& boundaries_;
  Factor<Scalar> a_, b_;
  Parts some_u_, some_v_;
  std::vector<int64_t> pairs_, counts_;
};

// Below this many factors a second thread costs more than it saves.
constexpr int64_t kGrainFactors = 4096;

}  // namespace

Tensor count_outer_into_bins(const Tensor& a, const Tensor& b, const Bins& bins) {
  check_bins(bins);
  const int64_t N = a.size(0), I = a.size(1), J = b.size(1);
  Tensor counts = at::zeros({bins.count + 3}, a.options().dtype(at::kLong));
  if (N * I * J == 0) return counts;
  if (has_gpu_kernel(a, bins.count + 3)) return gpu_count_outer_into_bins(a, b, bins);
  if (!counts_on_cpu(a)) {
    const int64_t piece = std::max<int64_t>(1, kIndicesPerPiece / (I * J));
    for (int64_t begin = 0; begin < N; begin += piece) {
      const Tensor part = a.slice(0, begin, begin + piece).unsqueeze(2);
      counts += count_into_bins(part * b.slice(0, begin, begin + piece).unsqueeze(1), bins);
    }
    return counts;
  }
  const Tensor left = a.contiguous(), right = b.contiguous();
  SharedCounts total(counts);
  AT_DISPATCH_FLOATING_TYPES(left.scalar_type(), "count_outer_into_bins", [&] {
    const Boundaries<scalar_t> boundaries(equal_bins<scalar_t>(bins));
    const auto* const a_data = left.data_ptr<scalar_t>();
    const auto* const b_data = right.data_ptr<scalar_t>();
    at::parallel_for(0, N, 1 + kGrainFactors / (I + J), [&](int64_t begin, int64_t end) {
      OuterCounter<scalar_t> counter(bins, boundaries, I, J);
      for (int64_t n = begin; n < end; ++n) counter.add(a_data + n * I, I, b_data + n * J, J);
      total.add(counter.finish());
    });
  });
  return counts;
}

}  // namespace flightdeck
