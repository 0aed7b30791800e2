// SPDX-License-Identifier: MIT
// Plain loops: the definition of correct for this kernel, and the fallback on processors without
// vector code.
//
// Cost: 2 N T I J flops. b is read once per row i, so the loops run at the speed of the cache that
// holds one sample of b.
#include <algorithm>
#include <vector>

#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {
namespace {

template <typename Scalar>
void multiply_row(const PatchProducts<Scalar>& work, int64_t n, int64_t i, Scalar* row) {
  const Scalar* a = work.a_of(n) + work.base[i];
  const Scalar* b = work.b + n * work.b_sample;
  std::fill(row, row + work.J, Scalar(0));
  for (int64_t t = 0; t < work.T; ++t) {
    const Scalar factor = a[work.step[t]];
    for (int64_t j = 0; j < work.J; ++j) row[j] += factor * b[t * work.b_t + j * work.b_j];
  }
}

template <typename Scalar>
double consume_row(const PatchProducts<Scalar>& work, int64_t n, int64_t i, const Scalar* row) {
  double squared_norm = 0;
  for (int64_t j = 0; j < work.J; ++j) {
    const int64_t element = i * work.J + j;
    if (work.sum) work.sum[element] += row[j];
    if (work.second) work.second[element] += row[j] * row[j];
    if (work.rows) work.rows[n * work.rows_sample + element] = row[j];
    squared_norm += double(row[j]) * double(row[j]);
  }
  return squared_norm;
}

}  // namespace

template <typename Scalar>
void run_reference(const PatchProducts<Scalar>& work,
                   const ParallelFor& parallel_for,
                   int threads) {
  if (work.sum) std::fill(work.sum, work.sum + work.I * work.J, Scalar(0));
  if (work.second) std::fill(work.second, work.second + work.I * work.J, Scalar(0));

  const int64_t tasks = std::min<int64_t>(work.I, std::max(threads, 1));
  std::vector<double> squared_norms(size_t(tasks * work.N), 0.0);
  const auto run_task = [&](int64_t task) {
    std::vector<Scalar> row(size_t(work.J));
    for (int64_t i = task * work.I / tasks; i < (task + 1) * work.I / tasks; ++i) {
      for (int64_t n = 0; n < work.N; ++n) {
        multiply_row(work, n, i, row.data());
        squared_norms[size_t(task * work.N + n)] += consume_row(work, n, i, row.data());
      }
    }
  };
  if (tasks > 0) parallel_for(tasks, run_task);

  if (!work.squared_norms) return;
  for (int64_t n = 0; n < work.N; ++n) {
    work.squared_norms[n] = 0;
    for (int64_t task = 0; task < tasks; ++task)
      work.squared_norms[n] += squared_norms[size_t(task * work.N + n)];
  }
}

template void run_reference(const PatchProducts<float>&, const ParallelFor&, int);
template void run_reference(const PatchProducts<double>&, const ParallelFor&, int);

}  // namespace flightdeck::kernels
