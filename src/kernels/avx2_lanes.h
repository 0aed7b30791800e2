// SPDX-License-Identifier: MIT
// AVX2 and FMA: 16 registers of 8 floats or 4 doubles. All of it has internal linkage: only files
// that are compiled for this instruction set include it.
#pragma once

#include <cstdint>

#include <immintrin.h>

namespace flightdeck::kernels {
namespace {

// A load at kFirst + 8 - k gives k words of ones followed by zeros.
constexpr int32_t kFirst[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

struct Avx2Floats {
  using Scalar = float;
  using Vector = __m256;
  using Mask = __m256i;
  static constexpr int kLanes = 8;

  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vector x) { _mm256_storeu_ps(to, x); }
  static Vector broadcast(float x) { return _mm256_set1_ps(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_ps(x, y, z); }
  static Mask first(int64_t count) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFirst + 8 - count));
  }
  static Vector keep(Mask mask, Vector x) { return _mm256_and_ps(_mm256_castsi256_ps(mask), x); }
  static void store(float* to, Mask mask, Vector x) { _mm256_maskstore_ps(to, mask, x); }
  // Returns one bit per lane; NaN is not zero.
  static unsigned not_zero(Vector x) {
    return unsigned(_mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_UQ)));
  }
};

struct Avx2Doubles {
  using Scalar = double;
  using Vector = __m256d;
  using Mask = __m256i;
  static constexpr int kLanes = 4;

  static Vector load(const double* from) { return _mm256_loadu_pd(from); }
  static void store(double* to, Vector x) { _mm256_storeu_pd(to, x); }
  static Vector broadcast(double x) { return _mm256_set1_pd(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_pd(x, y, z); }
  static Mask first(int64_t count) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFirst + 8 - 2 * count));
  }
  static Vector keep(Mask mask, Vector x) { return _mm256_and_pd(_mm256_castsi256_pd(mask), x); }
  static void store(double* to, Mask mask, Vector x) { _mm256_maskstore_pd(to, mask, x); }
  static unsigned not_zero(Vector x) {
    return unsigned(_mm256_movemask_pd(_mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_NEQ_UQ)));
  }
};

}  // namespace
}  // namespace flightdeck::kernels
