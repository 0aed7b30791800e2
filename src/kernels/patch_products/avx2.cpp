// SPDX-License-Identifier: MIT
// AVX2 and FMA: 16 registers of 8 floats or 4 doubles. Cost model in simd.h.
#include <immintrin.h>

#include "kernels/patch_products/simd.h"
#include "kernels/patch_products/x86.h"

namespace flightdeck::kernels {
namespace {

// A load at kFirst + 8 - k gives k words of ones followed by zeros.
constexpr int32_t kFirst[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

struct Avx2 {
  static constexpr int kMaxVectors = 2;
  static constexpr int kAccumulators = 12;
};

struct Floats : Avx2 {
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
};

struct Doubles : Avx2 {
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
};

}  // namespace

const BlockKernels kAvx2Kernels = {block_kernel<Floats>(), block_kernel<Doubles>()};

}  // namespace flightdeck::kernels
