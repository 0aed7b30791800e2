// SPDX-License-Identifier: MIT
// AVX-512: 32 registers of 16 floats or 8 doubles, comparisons into mask registers. Cost model in
// simd.h.
#include <immintrin.h>

#include "kernels/counting/simd.h"
#include "kernels/counting/variants.h"

namespace flightdeck::kernels {
namespace {

// Both types share this, as they have at most 16 lanes.
struct Positions {
  static void positions(int32_t* to, uint32_t bits, int32_t base) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(base));
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(__mmask16(bits), numbers));
  }
};

struct Floats : Positions {
  using Scalar = float;
  using Count = int32_t;
  using Vector = __m512;
  using Counts = __m512i;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;
  static constexpr int kTile = 8;

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Counts load(const Count* from) { return _mm512_loadu_si512(from); }
  static void store(Count* to, Counts x) { _mm512_storeu_si512(to, x); }
  static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  static Mask at_least(Vector x, Vector y) { return _mm512_cmp_ps_mask(x, y, _CMP_GE_OQ); }
  static Mask below(Vector x, Vector y) { return _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ); }
  static Mask equal(Vector x, Vector y) { return _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ); }
  static Mask outside(Vector x, Vector low, Vector high) {
    return Mask(_mm512_cmp_ps_mask(x, low, _CMP_NGE_UQ) | _mm512_cmp_ps_mask(x, high, _CMP_NLT_UQ));
  }
  // A mask is given because GCC 12 warns about what the plain ones leave undefined.
  static Vector smaller(Vector x, Vector y) { return _mm512_maskz_min_ps(Mask(-1), x, y); }
  static Vector larger(Vector x, Vector y) { return _mm512_maskz_max_ps(Mask(-1), x, y); }
  static Counts add_one(Counts counts, Mask mask) {
    return _mm512_mask_sub_epi32(counts, mask, counts, _mm512_set1_epi32(-1));
  }
  static uint32_t bits(Mask mask) { return mask; }
  // Compresses in registers first: straight to memory it is microcode on some processors.
  static int compress(float* to, uint32_t bits, Vector x) {
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(Mask(bits), x));
    return __builtin_popcount(bits);
  }
};

struct Doubles : Positions {
  using Scalar = double;
  using Count = int64_t;
  using Vector = __m512d;
  using Counts = __m512i;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  static constexpr int kTile = 8;

  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static Counts load(const Count* from) { return _mm512_loadu_si512(from); }
  static void store(Count* to, Counts x) { _mm512_storeu_si512(to, x); }
  static Vector broadcast(double x) { return _mm512_set1_pd(x); }
  static Mask at_least(Vector x, Vector y) { return _mm512_cmp_pd_mask(x, y, _CMP_GE_OQ); }
  static Mask below(Vector x, Vector y) { return _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ); }
  static Mask equal(Vector x, Vector y) { return _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ); }
  static Mask outside(Vector x, Vector low, Vector high) {
    return Mask(_mm512_cmp_pd_mask(x, low, _CMP_NGE_UQ) | _mm512_cmp_pd_mask(x, high, _CMP_NLT_UQ));
  }
  static Vector smaller(Vector x, Vector y) { return _mm512_maskz_min_pd(Mask(-1), x, y); }
  static Vector larger(Vector x, Vector y) { return _mm512_maskz_max_pd(Mask(-1), x, y); }
  static Counts add_one(Counts counts, Mask mask) {
    return _mm512_mask_sub_epi64(counts, mask, counts, _mm512_set1_epi64(-1));
  }
  static uint32_t bits(Mask mask) { return mask; }
  static int compress(double* to, uint32_t bits, Vector x) {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(Mask(bits), x));
    return __builtin_popcount(bits);
  }
};

}  // namespace

const CountingVariant kAvx512Counting = {&kCounting<Floats>, &kCounting<Doubles>};

}  // namespace flightdeck::kernels
