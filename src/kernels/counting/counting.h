// SPDX-License-Identifier: MIT
// Counting numbers, and products of numbers, that lie at or above thresholds. Histograms of
// gradients are made of these loops: bins of equal width are a monotone function of the value, so
// each begins at a threshold, and nearly all entries lie in the two bins around one threshold near
// zero.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace flightdeck::kernels {

// Kernels write whole vectors: a buffer for n selected numbers has n + kSlack elements.
constexpr int64_t kSlack = 16;

// Holds two neighbouring bins: [low, middle) and [middle, high).
template <typename Scalar>
struct Window {
  Scalar low, middle, high;
};

// Holds what the bin of a value depends on: trunc((x - low) * scale), in the precision of Scalar.
template <typename Scalar>
struct EqualBins {
  Scalar low, high, scale;
  int32_t count;
};

template <typename Scalar>
struct Extremes {
  Scalar smallest, largest;
  double sum;
};

struct SignCounts {
  int64_t positive, negative, zero;
};

template <typename Scalar>
struct CountingKernels {
  using Count = std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>;

  // Writes an index per value: 0 below, 1 + bin, count + 1 above, count + 2 for NaN.
  void (*index)(const Scalar* x, int64_t n, const EqualBins<Scalar>& bins, int32_t* index);

  // Writes the index of values clamped into the range, which is never below or above.
  void (*clamped_index)(const Scalar* x, int64_t n, const EqualBins<Scalar>& bins, int32_t* index);

  // Returns how many x lie in [middle, high). Those outside the window, and NaN, go to `others`.
  int64_t (*in_window)(const Scalar* x,
                       int64_t n,
                       const Window<Scalar>& window,
                       Scalar* others,
                       int64_t* num_others);

  // Adds 1 to upper[j] where factor * x[j] >= middle. Products outside the window, and NaN, go to
  // `others`, their j to `positions`; returns their number.
  int64_t (*window_by_column)(const Scalar* x,
                              int64_t n,
                              Scalar factor,
                              const Window<Scalar>& window,
                              Count* upper,
                              Scalar* others,
                              int32_t* positions);

  // Adds to upper[j] the number of s with factors[s] * b[lines[s] * stride + j] >= middle.
  void (*products_by_column)(const Scalar* b,
                             int64_t stride,
                             int64_t columns,
                             const int32_t* lines,
                             const Scalar* factors,
                             int64_t num_lines,
                             Scalar middle,
                             Count* upper);

  // Returns the number of pairs with u[i] * v[j] >= least > 0; v is followed by kSlack zeros.
  int64_t (*pairs_at_least)(
      const Scalar* u, int64_t num_u, const Scalar* v, int64_t num_v, Scalar least);

  // Copies the x with factor * x >= bound (at_least) or < bound to `selected`; returns their
  // number.
  int64_t (*select)(
      const Scalar* x, int64_t n, Scalar factor, Scalar bound, bool at_least, Scalar* selected);

  // Writes the magnitudes of the positive and of the negative numbers, in order, and
  // returns how many there are. What is left over is NaN.
  SignCounts (*split_by_sign)(const Scalar* x, int64_t n, Scalar* positive, Scalar* negative);

  Extremes<Scalar> (*extremes)(const Scalar* x, int64_t n);  // n > 0, no NaN
};

// Returns the kernels of an instruction set: "avx512", "avx2", "baseline" (vectors of 16 bytes,
// which every 64-bit processor has) or "reference" (plain loops); null where there are none.
template <typename Scalar>
const CountingKernels<Scalar>* counting_kernels(std::string_view isa);

// Returns the kernels of the instruction set chosen at start-up.
template <typename Scalar>
const CountingKernels<Scalar>& counting_kernels();

// Returns the name of that instruction set: the best that the processor has, or FLIGHTDECK_ISA if
// that is set; see patch_products_isa.
std::string_view counting_isa();

}  // namespace flightdeck::kernels
