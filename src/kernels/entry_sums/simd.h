// SPDX-License-Identifier: MIT
// The sweep in vectors of a given number of bytes, in the compiler's own notation. No standard
// library here: these functions are compiled once per instruction set.
//
// Cost model, of 8 floats in AVX2: 2 conversions, 6 products and 8 additions of 4 doubles for the
// powers, some 16 operations of 8 floats for all else, and one read from memory: a piece lies in
// the first cache when it is read again.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/entry_sums/variants.h"

namespace flightdeck::kernels {
namespace {

constexpr int64_t kPiece = 2048;

template <typename Number, int kBytes>
struct VectorOf {
  typedef Number Type __attribute__((vector_size(kBytes)));
};

// Says how stored numbers become vectors of kBytes: of floats or doubles, and of as many doubles as
// one such vector holds.
template <typename Stored, int kBytes>
struct Lanes {
  using Scalar = Stored;
  using Vector = typename VectorOf<Scalar, kBytes>::Type;
  using Doubles = typename VectorOf<double, kBytes>::Type;
  static constexpr int kDoubles = kBytes / 8;

  static Vector load(const Stored* from) {
    Vector x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
  }
  static Doubles load_doubles(const Stored* from) {
    typename VectorOf<Scalar, int(kDoubles * sizeof(Scalar))>::Type x;
    __builtin_memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x, Doubles);
  }
  static Scalar value_of(Stored x) { return x; }
};

template <int kBytes>
struct Lanes<Bfloat16, kBytes> {
  using Scalar = float;
  using Vector = typename VectorOf<float, kBytes>::Type;
  using Doubles = typename VectorOf<double, kBytes>::Type;
  static constexpr int kDoubles = kBytes / 8;

  template <int kFloats>
  static typename VectorOf<float, kFloats * 4>::Type floats(const Bfloat16* from) {
    using Words = typename VectorOf<uint32_t, kFloats * 4>::Type;
    typename VectorOf<uint16_t, kFloats * 2>::Type x;
    __builtin_memcpy(&x, from, sizeof x);
    const Words words = __builtin_convertvector(x, Words) << 16;
    typename VectorOf<float, kFloats * 4>::Type values;
    __builtin_memcpy(&values, &words, sizeof values);
    return values;
  }
  static Vector load(const Bfloat16* from) { return floats<kBytes / 4>(from); }
  static Doubles load_doubles(const Bfloat16* from) {
    return __builtin_convertvector(floats<kDoubles>(from), Doubles);
  }
  static float value_of(Bfloat16 x) {
    const uint32_t bits = uint32_t{x.bits} << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }
};

template <typename Stored, int kBytes>
struct Sweep {
  using L = Lanes<Stored, kBytes>;
  using Scalar = typename L::Scalar;
  using Vector = typename L::Vector;
  using Doubles = typename L::Doubles;
  using Count = std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>;
  using Counts = typename VectorOf<Count, kBytes>::Type;
  static constexpr int kLanes = kBytes / sizeof(Scalar);
  static constexpr Scalar kFar = Scalar(__builtin_inf());

  template <typename V>
  static double total(V lanes) {
    double sum = 0;
    for (size_t k = 0; k < sizeof(V) / sizeof(lanes[0]); ++k) sum += double(lanes[k]);
    return sum;
  }

  // Adds powers to two sets of sums, so that an addition need not wait for the one before it.
  static void add_powers(const Stored* x, int64_t n, EntrySums& sums) {
    constexpr int kStep = 2 * L::kDoubles;
    Doubles sum[2] = {}, squares[2] = {}, cubes[2] = {}, fourths[2] = {};
    int64_t k = 0;
    for (; k + kStep <= n; k += kStep) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const Doubles value = L::load_doubles(x + k + half * L::kDoubles), square = value * value;
        sum[half] += value;
        squares[half] += square;
        cubes[half] += square * value;
        fourths[half] += square * square;
      }
    }
    sums.sum += total(sum[0] + sum[1]);
    sums.squares += total(squares[0] + squares[1]);
    sums.cubes += total(cubes[0] + cubes[1]);
    sums.fourths += total(fourths[0] + fourths[1]);
    for (; k < n; ++k) {
      const double value = L::value_of(x[k]), square = value * value;
      sums.sum += value;
      sums.squares += square;
      sums.cubes += square * value;
      sums.fourths += square * square;
    }
  }

  static void add_range(const Stored* x, int64_t n, Scalar tiny, Scalar huge, EntrySums& sums) {
    const Vector least = tiny - Vector{}, most = huge - Vector{}, far = kFar - Vector{};
    Counts finite{}, zeros{}, small{}, large{};
    Vector low = far, high = -far;
    int64_t k = 0;
    for (; k + kLanes <= n; k += kLanes) {
      const Vector value = L::load(x + k), size = value < 0 ? -value : value;
      const Counts is_finite = Counts(size < far);
      finite -= is_finite;
      zeros -= Counts(size == 0);
      small -= Counts(size < least);
      large -= Counts(size > most) & is_finite;
      const Vector lower = is_finite ? value : far, upper = is_finite ? value : -far;
      low = lower < low ? lower : low;
      high = upper > high ? upper : high;
    }
    const double zero = total(zeros);
    sums.not_finite += double(k) - total(finite);
    sums.zeros += zero;
    if (tiny > 0) sums.tiny += total(small) - zero;
    sums.huge += total(large);
    for (int lane = 0; lane < kLanes; ++lane) {
      sums.low = double(low[lane]) < sums.low ? double(low[lane]) : sums.low;
      sums.high = double(high[lane]) > sums.high ? double(high[lane]) : sums.high;
    }
    for (; k < n; ++k) {
      const Scalar value = L::value_of(x[k]), size = value < 0 ? -value : value;
      sums.zeros += size == 0;
      sums.tiny += size != 0 && size < tiny;
      if (!(size < kFar)) {
        ++sums.not_finite;
        continue;
      }
      sums.huge += size > huge;
      sums.low = double(value) < sums.low ? double(value) : sums.low;
      sums.high = double(value) > sums.high ? double(value) : sums.high;
    }
  }

  static void add(const Stored* x, int64_t n, double tiny, double huge, EntrySums& sums) {
    for (int64_t first = 0; first < n; first += kPiece) {
      const int64_t size = n - first < kPiece ? n - first : kPiece;
      add_powers(x + first, size, sums);
      add_range(x + first, size, Scalar(tiny), Scalar(huge), sums);
    }
  }
};

template <int kBytes>
constexpr EntrySumsVariant kEntrySums = {
    &Sweep<float, kBytes>::add, &Sweep<double, kBytes>::add, &Sweep<Bfloat16, kBytes>::add};

}  // namespace
}  // namespace flightdeck::kernels
