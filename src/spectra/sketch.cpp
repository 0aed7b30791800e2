// SPDX-License-Identifier: MIT
#include "spectra/sketch.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "spectra/basis.h"

namespace flightdeck {
namespace {

// Products that differ from a combination of others by fewer units of rounding count as dependent.
constexpr double kSketchNoise = 100;

// Returns unit directions [q, m] orthogonal to all columns of a regular triangular matrix but one.
Tensor directions_without_one(const Tensor& range) {
  const Tensor dual =
      at::linalg_solve_triangular(range.t(), at::eye(range.size(0), at::kDouble), /*upper=*/false);
  return dual / dual.norm(2, 0, /*keepdim=*/true);
}

}  // namespace

Tensor product_in_blocks(const LinearOperator& op, const Tensor& vectors, int64_t block) {
  if (vectors.size(0) <= block) return product(op, vectors);
  std::vector<Tensor> pieces;
  for (int64_t first = 0; first < vectors.size(0); first += block) {
    const int64_t last = std::min(first + block, vectors.size(0));
    pieces.push_back(product(op, vectors.slice(0, first, last)));
  }
  return at::cat(pieces);
}

Tensor diagonal_by_units(const LinearOperator& op, int64_t block) {
  std::vector<Tensor> pieces;
  for (int64_t first = 0; first < op.dim(); first += block) {
    const int64_t count = std::min(block, op.dim() - first);
    Tensor units = at::zeros({count, op.dim()}, op.options());
    units.slice(1, first, first + count).diagonal().fill_(1);
    pieces.push_back(product(op, units).slice(1, first, first + count).diagonal().clone());
  }
  return at::cat(pieces);
}

Sketch sketch_range(const LinearOperator& op, const Tensor& probes, int64_t block) {
  Sketch sketch;
  const int64_t m = probes.size(0);
  const Tensor images = product_in_blocks(op, probes, block);
  sketch.products = m;
  const Tensor norms = norms_of(images);
  sketch.is_finite = all_finite(norms);
  if (!sketch.is_finite) return sketch;

  const double precision = precision_of(images.scalar_type());
  const double negligible = kSketchNoise * precision * norms.max().item<double>();
  Basis basis(op.dim(), op.options());
  Tensor range = at::zeros({m, m}, at::kDouble);
  for (int64_t i = 0; i < m; ++i) {
    const Tensor coefficients = basis.append(images[i], negligible).coefficients;
    range.select(1, i).slice(0, 0, coefficients.size(0)).copy_(coefficients);
  }
  sketch.probes = probes;
  sketch.lines = basis.lines();
  sketch.range = range.slice(0, 0, basis.size());
  sketch.left_out =
      basis.size() == m ? directions_without_one(range) : at::zeros({basis.size(), m}, at::kDouble);
  return sketch;
}

}  // namespace flightdeck
