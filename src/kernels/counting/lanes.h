// SPDX-License-Identifier: MIT
// Vectors of a given number of bytes in the compiler's own notation. A comparison gives words of
// ones (-1) and zeros; how to read them as bits depends on the instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

namespace flightdeck::kernels {
namespace {

template <typename Scalar_, int kBytes>
struct PlainLanes {
  using Scalar = Scalar_;
  using Count = std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>;
  typedef Scalar Vector __attribute__((vector_size(kBytes)));
  typedef Count Counts __attribute__((vector_size(kBytes)));
  using Mask = Counts;
  static constexpr int kLanes = kBytes / sizeof(Scalar);

  static Vector load(const Scalar* from) {
    Vector x;
    __builtin_memcpy(&x, from, kBytes);
    return x;
  }
  static Counts load(const Count* from) {
    Counts x;
    __builtin_memcpy(&x, from, kBytes);
    return x;
  }
  static void store(Count* to, Counts x) { __builtin_memcpy(to, &x, kBytes); }
  static Vector broadcast(Scalar x) { return x - Vector{}; }
  static Mask at_least(Vector x, Vector y) { return Mask(x >= y); }
  static Mask below(Vector x, Vector y) { return Mask(x < y); }
  static Mask equal(Vector x, Vector y) { return Mask(x == y); }
  static Mask outside(Vector x, Vector low, Vector high) {
    return ~(Mask(x >= low) & Mask(x < high));
  }
  static Vector smaller(Vector x, Vector y) { return x < y ? x : y; }
  static Vector larger(Vector x, Vector y) { return x > y ? x : y; }
  static Counts add_one(Counts counts, Mask mask) { return counts - mask; }
  static uint32_t bits(Mask mask) {
    uint32_t bits = 0;
    for (int k = 0; k < kLanes; ++k) bits |= uint32_t(mask[k] & 1) << k;
    return bits;
  }
  // Writes the chosen lanes one after the other; returns their number.
  static int compress(Scalar* to, uint32_t bits, Vector x) {
    int size = 0;
    for (; bits != 0; bits &= bits - 1) to[size++] = x[__builtin_ctz(bits)];
    return size;
  }
  // Writes base plus the numbers of the chosen lanes.
  static void positions(int32_t* to, uint32_t bits, int32_t base) {
    for (; bits != 0; bits &= bits - 1) *to++ = base + __builtin_ctz(bits);
  }
};

}  // namespace
}  // namespace flightdeck::kernels
