// SPDX-License-Identifier: MIT
// The counting loops, written once for every vector width. Each instruction set includes this file
// with its own vector types; all of it has internal linkage, so that the linker cannot replace one
// instruction set's code by another's, and no standard library function is called. Compiled without
// contraction: a product fused with the comparison's subtraction would round differently.
//
// Cost model, in vector instructions per vector of numbers:
//   products_by_column, pairs_at_least   load, multiply, compare, add: bound by arithmetic
//   window_by_column                     the same, two comparisons, one load and one store more
//   in_window                            load, three comparisons, add: bound by memory
// A number outside the window costs a compression and, at the caller, one scalar increment.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/counting/counting.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes>
struct Counting {
  using Scalar = typename Lanes::Scalar;
  using Count = typename Lanes::Count;
  using Vector = typename Lanes::Vector;
  using Counts = typename Lanes::Counts;
  static constexpr int L = Lanes::kLanes;

  static int64_t sum_lanes(Counts counts) {
    Count lanes[L];
    Lanes::store(lanes, counts);
    int64_t sum = 0;
    for (int k = 0; k < L; ++k) sum += lanes[k];
    return sum;
  }

  // Computes indices in a loop that the compiler vectorises: every line is a selection.
  template <bool kClamps>
  static void index(const Scalar* x, int64_t n, const EqualBins<Scalar>& bins, int32_t* index) {
    const Scalar low = bins.low, high = bins.high, scale = bins.scale;
    const int32_t count = bins.count;
    for (int64_t k = 0; k < n; ++k) {
      Scalar value = x[k];
      if (kClamps) {
        value = value < low ? low : value;
        value = value > high ? high : value;
      }
      const Scalar scaled = (value - low) * scale;
      const bool is_inside = (value >= low) & (value <= high);
      int32_t bin = int32_t(is_inside ? scaled : Scalar(0));
      bin = (bin < count - 1 ? bin : count - 1) + 1;
      bin = value < low ? 0 : bin;
      bin = value > high ? count + 1 : bin;
      index[k] = value != value ? count + 2 : bin;
    }
  }

  static int64_t in_window(const Scalar* x,
                           int64_t n,
                           const Window<Scalar>& window,
                           Scalar* others,
                           int64_t* num_others) {
    const Vector low = Lanes::broadcast(window.low), middle = Lanes::broadcast(window.middle),
                 high = Lanes::broadcast(window.high);
    Counts upper{};
    int64_t above = 0, size = 0, j = 0;
    for (; j + L <= n; j += L) {
      const Vector value = Lanes::load(x + j);
      const auto is_upper = Lanes::at_least(value, middle);
      upper = Lanes::add_one(upper, is_upper);
      const uint32_t outside = Lanes::bits(Lanes::outside(value, low, high));
      if (__builtin_expect(outside != 0, 0)) {
        above += __builtin_popcount(outside & Lanes::bits(is_upper));
        size += Lanes::compress(others + size, outside, value);
      }
    }
    int64_t inside = sum_lanes(upper) - above;
    for (; j < n; ++j) {
      inside += x[j] >= window.middle && x[j] < window.high;
      others[size] = x[j];
      size += !(x[j] >= window.low && x[j] < window.high);
    }
    *num_others = size;
    return inside;
  }

  static int64_t window_by_column(const Scalar* x,
                                  int64_t n,
                                  Scalar factor,
                                  const Window<Scalar>& window,
                                  Count* upper,
                                  Scalar* others,
                                  int32_t* positions) {
    const Vector low = Lanes::broadcast(window.low), middle = Lanes::broadcast(window.middle),
                 high = Lanes::broadcast(window.high), scale = Lanes::broadcast(factor);
    int64_t size = 0, j = 0;
    for (; j + L <= n; j += L) {
      const Vector product = Lanes::load(x + j) * scale;
      const Counts old = Lanes::load(upper + j);
      Lanes::store(upper + j, Lanes::add_one(old, Lanes::at_least(product, middle)));
      const uint32_t outside = Lanes::bits(Lanes::outside(product, low, high));
      if (__builtin_expect(outside != 0, 0)) {
        Lanes::positions(positions + size, outside, int32_t(j));
        size += Lanes::compress(others + size, outside, product);
      }
    }
    for (; j < n; ++j) {
      const Scalar product = x[j] * factor;
      upper[j] += product >= window.middle;
      others[size] = product;
      positions[size] = int32_t(j);
      size += !(product >= window.low && product < window.high);
    }
    return size;
  }

  // Counts one strip of kVectors vectors of columns, with the counts in registers.
  template <int kVectors>
  static void strip(const Scalar* b,
                    int64_t stride,
                    const int32_t* lines,
                    const Scalar* factors,
                    int64_t num_lines,
                    Vector middle,
                    Count* upper) {
    Counts counts[kVectors];
    for (int k = 0; k < kVectors; ++k) counts[k] = Lanes::load(upper + k * L);
    for (int64_t s = 0; s < num_lines; ++s) {
      const Scalar* const line = b + lines[s] * stride;
      const Vector factor = Lanes::broadcast(factors[s]);
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; ++k) {
        const Vector product = Lanes::load(line + k * L) * factor;
        counts[k] = Lanes::add_one(counts[k], Lanes::at_least(product, middle));
      }
    }
    for (int k = 0; k < kVectors; ++k) Lanes::store(upper + k * L, counts[k]);
  }

  static void products_by_column(const Scalar* b,
                                 int64_t stride,
                                 int64_t columns,
                                 const int32_t* lines,
                                 const Scalar* factors,
                                 int64_t num_lines,
                                 Scalar middle,
                                 Count* upper) {
    const Vector bound = Lanes::broadcast(middle);
    int64_t j = 0;
    const auto strips = [&](auto vectors) {
      constexpr int kVectors = decltype(vectors)::value;
      for (; j + kVectors * L <= columns; j += kVectors * L) {
        strip<kVectors>(b + j, stride, lines, factors, num_lines, bound, upper + j);
      }
    };
    strips(std::integral_constant<int, Lanes::kTile>());
    strips(std::integral_constant<int, 3>());
    strips(std::integral_constant<int, 1>());
    if (j == columns) return;
    for (int64_t s = 0; s < num_lines; ++s) {
      for (int64_t k = j; k < columns; ++k) {
        upper[k] += b[lines[s] * stride + k] * factors[s] >= middle;
      }
    }
  }

  template <int kRows>
  static Counts pairs_of_rows(const Scalar* u, const Scalar* v, int64_t num_v, Vector least) {
    Vector factors[kRows];
    Counts counts[kRows] = {};
    for (int r = 0; r < kRows; ++r) factors[r] = Lanes::broadcast(u[r]);
    for (int64_t j = 0; j < num_v; j += L) {
      const Vector value = Lanes::load(v + j);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        counts[r] = Lanes::add_one(counts[r], Lanes::at_least(value * factors[r], least));
      }
    }
    // Rows are added as wider integers where the type says so: no lane overflows, so none carries.
    for (int r = 1; r < kRows; ++r) counts[0] += counts[r];
    return counts[0];
  }

  static int64_t pairs_at_least(
      const Scalar* u, int64_t num_u, const Scalar* v, int64_t num_v, Scalar least) {
    const Vector bound = Lanes::broadcast(least);
    int64_t pairs = 0, i = 0;
    for (; i + 4 <= num_u; i += 4) pairs += sum_lanes(pairs_of_rows<4>(u + i, v, num_v, bound));
    for (; i < num_u; ++i) pairs += sum_lanes(pairs_of_rows<1>(u + i, v, num_v, bound));
    return pairs;
  }

  static int64_t select(
      const Scalar* x, int64_t n, Scalar factor, Scalar bound, bool at_least, Scalar* selected) {
    const Vector scale = Lanes::broadcast(factor), limit = Lanes::broadcast(bound);
    int64_t size = 0, j = 0;
    for (; j + L <= n; j += L) {
      const Vector value = Lanes::load(x + j);
      const auto mask =
          at_least ? Lanes::at_least(value * scale, limit) : Lanes::below(value * scale, limit);
      size += Lanes::compress(selected + size, Lanes::bits(mask), value);
    }
    for (; j < n; ++j) {
      selected[size] = x[j];
      size += at_least ? x[j] * factor >= bound : x[j] * factor < bound;
    }
    return size;
  }

  static SignCounts split_by_sign(const Scalar* x, int64_t n, Scalar* positive, Scalar* negative) {
    const Vector none{};
    SignCounts counts{};
    int64_t j = 0;
    for (; j + L <= n; j += L) {
      const Vector value = Lanes::load(x + j);
      const uint32_t above = Lanes::bits(Lanes::below(none, value)),
                     below = Lanes::bits(Lanes::below(value, none));
      counts.positive += Lanes::compress(positive + counts.positive, above, value);
      counts.negative += Lanes::compress(negative + counts.negative, below, -value);
      counts.zero += __builtin_popcount(Lanes::bits(Lanes::equal(value, none)));
    }
    for (; j < n; ++j) {
      positive[counts.positive] = x[j];
      negative[counts.negative] = -x[j];
      counts.positive += x[j] > 0;
      counts.negative += x[j] < 0;
      counts.zero += x[j] == 0;
    }
    return counts;
  }

  static Extremes<Scalar> extremes(const Scalar* x, int64_t n) {
    Scalar smallest = x[0], largest = x[0];
    double sum = 0;
    int64_t j = 0;
    if (n >= L) {
      Vector low = Lanes::load(x), high = low, total{};
      for (; j + L <= n; j += L) {
        const Vector value = Lanes::load(x + j);
        low = Lanes::smaller(value, low);
        high = Lanes::larger(value, high);
        total += value;
      }
      for (int k = 0; k < L; ++k) {
        smallest = low[k] < smallest ? low[k] : smallest;
        largest = high[k] > largest ? high[k] : largest;
        sum += double(total[k]);
      }
    }
    for (; j < n; ++j) {
      smallest = x[j] < smallest ? x[j] : smallest;
      largest = x[j] > largest ? x[j] : largest;
      sum += double(x[j]);
    }
    return {smallest, largest, sum};
  }
};

template <class Lanes>
constexpr CountingKernels<typename Lanes::Scalar> kCounting = {
    Counting<Lanes>::template index<false>,
    Counting<Lanes>::template index<true>,
    Counting<Lanes>::in_window,
    Counting<Lanes>::window_by_column,
    Counting<Lanes>::products_by_column,
    Counting<Lanes>::pairs_at_least,
    Counting<Lanes>::select,
    Counting<Lanes>::split_by_sign,
    Counting<Lanes>::extremes};

}  // namespace
}  // namespace flightdeck::kernels
