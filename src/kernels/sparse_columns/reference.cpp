// SPDX-License-Identifier: MIT
// Plain loops: the definition of correct for these kernels.
#include <algorithm>

#include "kernels/sparse_columns/variants.h"

namespace flightdeck::kernels {
namespace {

// Returns entry i of the row that one channel b [T] of sample n makes.
template <typename Work, typename Scalar>
Scalar entry_of_row(const Work& work, const Scalar* b, int64_t n, int64_t i) {
  const Scalar* a = work.a + n * work.a_sample + work.base[i / work.run] + i % work.run;
  Scalar sum = 0;
  for (int64_t t = 0; t < work.T; ++t) {
    if (b[t] != 0) sum += b[t] * a[work.step[t]];
  }
  return sum;
}

template <typename Scalar>
Scalar entry_of_input(
    const SparseInputs<Scalar>& work, int64_t k, int64_t n, int64_t c, int64_t p) {
  const Scalar* b = work.b + (k * work.N + n) * work.J * work.T;
  Scalar sum = 0;
  for (int64_t r = work.first[p]; r < work.first[p + 1]; ++r) {
    const auto [t, o] = work.pairs[r];
    for (int64_t j = 0; j < work.J; ++j) {
      const Scalar value = b[j * work.T + t];
      if (value != 0) sum += value * work.w[(j * work.offsets + o) * work.C + c];
    }
  }
  return sum;
}

}  // namespace

template <typename Scalar>
void run_reference(const SparseSquares<Scalar>& work) {
  const int64_t I = work.runs * work.run;
  std::fill(work.squares, work.squares + work.J * I, Scalar(0));
  for (int64_t k = 0; k < work.K; ++k)
    for (int64_t n = 0; n < work.N; ++n)
      for (int64_t j = 0; j < work.J; ++j)
        for (int64_t i = 0; i < I; ++i) {
          const Scalar g = entry_of_row(work, work.b[k] + (n * work.J + j) * work.T, n, i);
          work.squares[j * I + i] += g * g;
        }
}

template <typename Scalar>
void run_reference(const SparseInputs<Scalar>& work) {
  Scalar* x = work.x;
  for (int64_t k = 0; k < work.K; ++k)
    for (int64_t n = 0; n < work.N; ++n)
      for (int64_t c = 0; c < work.C; ++c)
        for (int64_t p = 0; p < work.P; ++p) *x++ = entry_of_input(work, k, n, c, p);
}

template void run_reference(const SparseSquares<float>&);
template void run_reference(const SparseSquares<double>&);
template void run_reference(const SparseInputs<float>&);
template void run_reference(const SparseInputs<double>&);

}  // namespace flightdeck::kernels
