// SPDX-License-Identifier: MIT
// Products with many vectors, and the random range of A that trace and diagonal are exact on.
#pragma once

#include <cstdint>

#include "spectra/products.h"

namespace flightdeck {

// Calls product() for `block` lines at a time: what an operator needs per line is then bounded.
Tensor product_in_blocks(const LinearOperator& op, const Tensor& vectors, int64_t block);

// Returns the diagonal [D] by D products with unit vectors.
Tensor diagonal_by_units(const LinearOperator& op, int64_t block);

// Holds an orthonormal basis of A times random vectors, and what it is without any one of them.
struct Sketch {
  Tensor probes;  // [m, D]
  Tensor lines;   // Q [q, D], q <= m
  // These are float64 on the CPU, with A probe_i = Q' range_i. The span of all products but the
  // i-th is that of Q less the unit direction Q' left_out_i; left_out is zero if q < m, as any
  // m - 1 products then span the same.
  Tensor range;     // [q, m]
  Tensor left_out;  // [q, m]
  int64_t products = 0;
  bool is_finite = true;  // false leaves the rest undefined
};

Sketch sketch_range(const LinearOperator& op, const Tensor& probes, int64_t block);

}  // namespace flightdeck
