// SPDX-License-Identifier: MIT
#include "curvature/eigh.h"

#include <limits>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A sum is finite only if all summands are (or overflows, which is no better).
bool is_finite(const Tensor& matrix) { return matrix.sum().isfinite().item<bool>(); }

// LAPACK gives up on some finite matrices, in single precision more than in double, and not on the
// same ones from both triangles.
std::pair<Tensor, Tensor> by_other_means(const Tensor& matrix) {
  const Tensor precise = matrix.to(at::kDouble);
  for (const char* triangle : {"L", "U"}) {
    try {
      auto [values, vectors] = at::linalg_eigh(precise, triangle);
      return {values.to(matrix.scalar_type()), vectors.to(matrix.scalar_type())};
    } catch (const c10::Error&) {
      if (*triangle == 'U') throw;
    }
  }
  return {};
}

}  // namespace

std::pair<Tensor, Tensor> eigh(const Tensor& matrix) {
  if (matrix.numel() == 0) return {matrix.sum(-1), matrix.clone()};  // LAPACK has no such case
  if (!is_finite(matrix)) {
    return {at::full_like(matrix.select(-1, 0), kNaN), at::full_like(matrix, kNaN)};
  }
  try {
    auto [values, vectors] = at::linalg_eigh(matrix);
    return {values, vectors};
  } catch (const c10::Error&) {
    return by_other_means(matrix);
  }
}

Tensor eigenvalues_of(const Tensor& matrix) {
  if (matrix.numel() == 0) return matrix.sum(-1);
  if (!is_finite(matrix)) return at::full_like(matrix.select(-1, 0), kNaN);
  try {
    return at::linalg_eigvalsh(matrix);
  } catch (const c10::Error&) {
    return by_other_means(matrix).first;
  }
}

}  // namespace flightdeck
