// SPDX-License-Identifier: MIT
// Takes the instruction set that the patch products take.
#include "kernels/patch_products/patch_products.h"
#include "kernels/sparse_columns/variants.h"

namespace flightdeck::kernels {
namespace {

const SparseKernels* chosen() {
  if (patch_products_isa() == "avx512") return avx512_sparse_kernels();
  return patch_products_isa() == "avx2" ? avx2_sparse_kernels() : nullptr;
}

}  // namespace

void sparse_squares(const SparseSquares<float>& work,
                    const ParallelFor& parallel_for,
                    int threads) {
  run_sparse_squares(work, chosen(), parallel_for, threads);
}

void sparse_squares(const SparseSquares<double>& work,
                    const ParallelFor& parallel_for,
                    int threads) {
  run_sparse_squares(work, chosen(), parallel_for, threads);
}

void sparse_inputs(const SparseInputs<float>& work, const ParallelFor& parallel_for) {
  run_sparse_inputs(work, chosen(), parallel_for);
}

void sparse_inputs(const SparseInputs<double>& work, const ParallelFor& parallel_for) {
  run_sparse_inputs(work, chosen(), parallel_for);
}

int64_t sparse_columns_lanes(bool is_double) {
  const SparseKernels* kernels = chosen();
  if (kernels == nullptr) return 1;
  return is_double ? kernels->f64.lanes : kernels->f32.lanes;
}

}  // namespace flightdeck::kernels
