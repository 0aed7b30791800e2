// SPDX-License-Identifier: MIT
// AVX-512: 32 registers of 16 floats or 8 doubles. All of it has internal linkage: only files that
// are compiled for this instruction set include it.
#pragma once

#include <cstdint>

#include <immintrin.h>

namespace flightdeck::kernels {
namespace {

struct Avx512Floats {
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
  // Returns one bit per lane; NaN is not zero.
  static unsigned not_zero(Vector x) {
    return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  }
};

struct Avx512Doubles {
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
  static unsigned not_zero(Vector x) {
    return _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_NEQ_UQ);
  }
};

}  // namespace
}  // namespace flightdeck::kernels
