// SPDX-License-Identifier: MIT
// AVX-512: 32 registers of 16 floats or 8 doubles. Cost model in simd.h.
#include <immintrin.h>

#include "kernels/patch_products/simd.h"
#include "kernels/patch_products/x86.h"

namespace flightdeck::kernels {
namespace {

struct Avx512 {
  static constexpr int kMaxVectors = 4;
  static constexpr int kAccumulators = 24;
};

struct Floats : Avx512 {
  using Scalar = float;
  using Vector = __m512;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector x) { _mm512_storeu_ps(to, x); }
  static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_ps(x, y, z); }
  static Mask first(int64_t count) { return Mask((1u << count) - 1); }
  static Vector keep(Mask mask, Vector x) { return _mm512_maskz_mov_ps(mask, x); }
  static void store(float* to, Mask mask, Vector x) { _mm512_mask_storeu_ps(to, mask, x); }
};

struct Doubles : Avx512 {
  using Scalar = double;
  using Vector = __m512d;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;

  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static void store(double* to, Vector x) { _mm512_storeu_pd(to, x); }
  static Vector broadcast(double x) { return _mm512_set1_pd(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_pd(x, y, z); }
  static Mask first(int64_t count) { return Mask((1u << count) - 1); }
  static Vector keep(Mask mask, Vector x) { return _mm512_maskz_mov_pd(mask, x); }
  static void store(double* to, Mask mask, Vector x) { _mm512_mask_storeu_pd(to, mask, x); }
};

}  // namespace

const BlockKernels kAvx512Kernels = {block_kernel<Floats>(), block_kernel<Doubles>()};

}  // namespace flightdeck::kernels
