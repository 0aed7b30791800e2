// SPDX-License-Identifier: MIT
// Plain loops: the definition of correct for these kernels. One number at a time, so the cost is
// one comparison or two per number or pair, without vectors.
#include "kernels/counting/variants.h"

namespace flightdeck::kernels {
namespace {

template <typename Scalar>
struct PlainCounting {
  using Count = typename CountingKernels<Scalar>::Count;

  static bool is_in(Scalar value, const Window<Scalar>& window) {
    return value >= window.low && value < window.high;
  }

  static int32_t index_of(Scalar value, const EqualBins<Scalar>& bins) {
    if (value != value) return bins.count + 2;
    if (value < bins.low) return 0;
    if (value > bins.high) return bins.count + 1;
    const int32_t bin = static_cast<int32_t>((value - bins.low) * bins.scale);
    return 1 + (bin < bins.count ? bin : bins.count - 1);  // the upper end is in the last bin
  }

  static void index(const Scalar* x, int64_t n, const EqualBins<Scalar>& bins, int32_t* index) {
    for (int64_t k = 0; k < n; ++k) index[k] = index_of(x[k], bins);
  }

  static void clamped_index(const Scalar* x,
                            int64_t n,
                            const EqualBins<Scalar>& bins,
                            int32_t* index) {
    for (int64_t k = 0; k < n; ++k) {
      Scalar value = x[k];
      if (value < bins.low) value = bins.low;
      if (value > bins.high) value = bins.high;
      index[k] = index_of(value, bins);
    }
  }

  static int64_t in_window(const Scalar* x,
                           int64_t n,
                           const Window<Scalar>& window,
                           Scalar* others,
                           int64_t* num_others) {
    int64_t upper = 0;
    *num_others = 0;
    for (int64_t k = 0; k < n; ++k) {
      if (!is_in(x[k], window)) {
        others[(*num_others)++] = x[k];
      } else if (x[k] >= window.middle) {
        ++upper;
      }
    }
    return upper;
  }

  static int64_t window_by_column(const Scalar* x,
                                  int64_t n,
                                  Scalar factor,
                                  const Window<Scalar>& window,
                                  Count* upper,
                                  Scalar* others,
                                  int32_t* positions) {
    int64_t num_others = 0;
    for (int64_t j = 0; j < n; ++j) {
      const Scalar product = factor * x[j];
      if (product >= window.middle) ++upper[j];
      if (is_in(product, window)) continue;
      others[num_others] = product;
      positions[num_others++] = static_cast<int32_t>(j);
    }
    return num_others;
  }

  static void products_by_column(const Scalar* b,
                                 int64_t stride,
                                 int64_t columns,
                                 const int32_t* lines,
                                 const Scalar* factors,
                                 int64_t num_lines,
                                 Scalar middle,
                                 Count* upper) {
    for (int64_t s = 0; s < num_lines; ++s) {
      const Scalar* const line = b + lines[s] * stride;
      for (int64_t j = 0; j < columns; ++j) {
        const Scalar product = factors[s] * line[j];
        if (product >= middle) ++upper[j];
      }
    }
  }

  static int64_t pairs_at_least(
      const Scalar* u, int64_t num_u, const Scalar* v, int64_t num_v, Scalar least) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < num_u; ++i) {
      for (int64_t j = 0; j < num_v; ++j) {
        const Scalar product = u[i] * v[j];
        if (product >= least) ++pairs;
      }
    }
    return pairs;
  }

  static int64_t select(
      const Scalar* x, int64_t n, Scalar factor, Scalar bound, bool at_least, Scalar* selected) {
    int64_t size = 0;
    for (int64_t k = 0; k < n; ++k) {
      const Scalar product = factor * x[k];
      if (at_least ? product >= bound : product < bound) selected[size++] = x[k];
    }
    return size;
  }

  static SignCounts split_by_sign(const Scalar* x, int64_t n, Scalar* positive, Scalar* negative) {
    SignCounts counts{};
    for (int64_t k = 0; k < n; ++k) {
      if (x[k] > 0) positive[counts.positive++] = x[k];
      if (x[k] < 0) negative[counts.negative++] = -x[k];
      if (x[k] == 0) ++counts.zero;
    }
    return counts;
  }

  static Extremes<Scalar> extremes(const Scalar* x, int64_t n) {
    Extremes<Scalar> found{x[0], x[0], 0};
    for (int64_t k = 0; k < n; ++k) {
      if (x[k] < found.smallest) found.smallest = x[k];
      if (x[k] > found.largest) found.largest = x[k];
      found.sum += static_cast<double>(x[k]);
    }
    return found;
  }
};

template <typename Scalar>
constexpr CountingKernels<Scalar> kPlainCounting = {PlainCounting<Scalar>::index,
                                                    PlainCounting<Scalar>::clamped_index,
                                                    PlainCounting<Scalar>::in_window,
                                                    PlainCounting<Scalar>::window_by_column,
                                                    PlainCounting<Scalar>::products_by_column,
                                                    PlainCounting<Scalar>::pairs_at_least,
                                                    PlainCounting<Scalar>::select,
                                                    PlainCounting<Scalar>::split_by_sign,
                                                    PlainCounting<Scalar>::extremes};

}  // namespace

const CountingVariant kReferenceCounting = {&kPlainCounting<float>, &kPlainCounting<double>};

}  // namespace flightdeck::kernels
