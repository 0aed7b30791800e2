// SPDX-License-Identifier: MIT
// Bins of equal width as a monotone function of the value, and the values at which they begin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

#include <ATen/core/Tensor.h>

#include "kernels/counting/counting.h"
#include "rows/histogram.h"

namespace flightdeck {

template <typename Scalar>
kernels::EqualBins<Scalar> equal_bins(const Bins& bins) {
  return {static_cast<Scalar>(bins.low),
          static_cast<Scalar>(bins.high),
          static_cast<Scalar>(bins.count / (bins.high - bins.low)),
          static_cast<int32_t>(bins.count)};
}

// Returns 0 below, 1 + bin, count + 1 above by the arithmetic of bin_index; value is not NaN.
template <typename Scalar>
int64_t raw_index(Scalar value, const kernels::EqualBins<Scalar>& bins) {
  if (value < bins.low) return 0;
  if (value > bins.high) return bins.count + 1;
  const auto bin = static_cast<int64_t>((value - bins.low) * bins.scale);
  return 1 + std::min<int64_t>(bin, bins.count - 1);
}

// Returns the index of the value clamped into the range: 1..count.
template <typename Scalar>
int64_t clamped_index(Scalar value, const kernels::EqualBins<Scalar>& bins) {
  return raw_index(std::min(std::max(value, bins.low), bins.high), bins);
}

// Maps floating-point numbers to integers in order: neighbours differ by one, both zeros are 0.
template <typename Scalar>
class Ordinal {
 public:
  using Integer = std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>;

  static Integer of(Scalar value) {
    Integer bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return mirrored(bits);
  }
  static Scalar value(Integer ordinal) {
    const Integer bits = mirrored(ordinal);
    Scalar value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

 private:
  static Integer mirrored(Integer x) {
    return x >= 0 ? x : std::numeric_limits<Integer>::min() - x;
  }
};

// Returns the smallest value whose index, monotone in it, is `least` or more; infinity where there
// is none, minus infinity where all are. It takes 33 or 65 evaluations: bisection over the numbers
// themselves.
template <typename Scalar, typename Index>
Scalar first_value(const Index& index_of, int64_t least) {
  using Numbers = Ordinal<Scalar>;
  constexpr Scalar kInfinity = std::numeric_limits<Scalar>::infinity();
  if (index_of(-kInfinity) >= least) return -kInfinity;
  auto below = Numbers::of(-kInfinity), reached = Numbers::of(kInfinity);
  while (below + 1 < reached) {
    const auto middle = (below & reached) + ((below ^ reached) >> 1);  // no overflow
    if (index_of(Numbers::value(middle)) >= least) {
      reached = middle;
    } else {
      below = middle;
    }
  }
  return Numbers::value(reached);
}

// Describes the window of the two bins around the threshold nearest to zero; zero lies in one of
// them.
template <typename Scalar>
struct Centre {
  kernels::Window<Scalar> window;
  int64_t upper;  // index of [middle, high)

  template <typename Index>
  explicit Centre(const Index& index_of) {
    const int64_t zero = index_of(Scalar{0});
    const int64_t bottom = index_of(-std::numeric_limits<Scalar>::infinity());
    const int64_t top = index_of(std::numeric_limits<Scalar>::infinity());
    const auto start = [&](int64_t k) { return first_value<Scalar>(index_of, k); };
    const bool is_next_nearer = zero < top && (zero == bottom || start(zero + 1) < -start(zero));
    upper = is_next_nearer ? zero + 1 : zero;
    window = {start(upper - 1), start(upper), start(upper + 1)};
  }
};

// Adds up int64 tables of several threads.
class SharedCounts {
 public:
  explicit SharedCounts(const Tensor& total) : total_(total) {}

  void add(const int64_t* counts) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* const total = total_.data_ptr<int64_t>();
    for (int64_t k = 0; k < total_.numel(); ++k) total[k] += counts[k];
  }

 private:
  Tensor total_;
  std::mutex mutex_;
};

// Throws where the bins have no meaning.
void check_bins(const Bins& bins);

// A piece has so many values where indices are written out: 128 MB of them.
constexpr int64_t kIndicesPerPiece = int64_t{1} << 24;

// Counts indices [n] in [0, size), without waiting for the device; for what counts_on_cpu refuses.
Tensor count_indices(const Tensor& index, int64_t size);

// Returns true if the loops of src/kernels/counting apply: float or double on the CPU.
bool counts_on_cpu(const Tensor& values);

}  // namespace flightdeck
