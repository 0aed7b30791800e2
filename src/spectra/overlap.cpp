// SPDX-License-Identifier: MIT
// The overlap of two subspaces: with orthonormal lines U and V, Tr(P_U P_V) = ||U V'||².
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "flightdeck/spectra.h"
#include "spectra/basis.h"
#include "spectra/products.h"

namespace flightdeck {
namespace {

constexpr double kOverlapNoise = 100;

Basis span_of(const Tensor& lines) {
  Basis basis(lines.size(1), lines.options());
  const Tensor norms = norms_of(lines);
  for (int64_t i = 0; i < lines.size(0); ++i) {
    const double norm = norms[i].item<double>();
    if (norm > 0) basis.append(lines[i] / norm, kOverlapNoise * precision_of(lines.scalar_type()));
  }
  return basis;
}

// Adds up the squares of all products of a line of `u` with one of `v`.
double sum_products(const Basis& u, const Basis& v) {
  return small(u.lines().mm(v.lines().t())).square().sum().item<double>();
}

}  // namespace

double subspace_overlap(const Tensor& u, const Tensor& v) {
  const ArithmeticGuard guard;
  TORCH_CHECK_VALUE(u.dim() == 2 && v.dim() == 2 && u.size(1) == v.size(1),
                    "subspace overlap: the lines have shapes ",
                    u.sizes(),
                    " and ",
                    v.sizes(),
                    "; pass [k, D] and [l, D] with one D");
  const bool is_double = u.scalar_type() == at::kDouble || v.scalar_type() == at::kDouble;
  const at::ScalarType type = is_double ? at::kDouble : at::kFloat;
  const Tensor first = u.detach().to(type), second = v.detach().to(first.options());
  if (first.size(0) == 0 || second.size(0) == 0 || !all_finite(first) || !all_finite(second)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const Basis a = span_of(first), b = span_of(second);
  if (a.size() == 0 || b.size() == 0) return std::numeric_limits<double>::quiet_NaN();
  // The root is that of the dimensions, but for rounding, which the products above have, too: with
  // it equal spans of many lines do not overlap by more than 1.
  return sum_products(a, b) / std::sqrt(sum_products(a, a) * sum_products(b, b));
}

}  // namespace flightdeck
