// SPDX-License-Identifier: MIT
#include "curvature/eigh.h"

#include <limits>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A sum is finite only if all summands are (or overflows, which is no better).
bool is_finite(const Tensor& matrix) { return matrix.sum().isfinite().item<bool>(); }

}  // namespace

std::pair<Tensor, Tensor> eigh(const Tensor& matrix) {
  if (!is_finite(matrix)) {
    return {at::full_like(matrix.select(-1, 0), kNaN), at::full_like(matrix, kNaN)};
  }
  auto [values, vectors] = at::linalg_eigh(matrix);
  return {values, vectors};
}

Tensor eigenvalues_of(const Tensor& matrix) {
  if (!is_finite(matrix)) return at::full_like(matrix.select(-1, 0), kNaN);
  return at::linalg_eigvalsh(matrix);
}

}  // namespace flightdeck
