// SPDX-License-Identifier: MIT
// Diagonals and traces from the rows that columns leave at a parameter.
#pragma once

#include <vector>

#include "rows/rows.h"

namespace flightdeck {

// Holds what is gathered for one parameter over all columns of one curvature matrix.
struct Diagonal {
  Tensor diagonal;    // [*shape]
  Tensor per_sample;  // [N, *shape]
  Tensor trace;       // scalar
};

struct DiagonalNeeds {
  bool diagonal = false, per_sample = false, trace = false;
  bool any() const { return diagonal || per_sample || trace; }
};

// Adds sign/N times the squared columns.
void add_columns(Diagonal& total,
                 const std::vector<Rows>& columns,
                 const DiagonalNeeds& needs,
                 double sign,
                 int64_t scratch_bytes);

// Adds another one; undefined fields count as zero.
void add(Diagonal& total, const Diagonal& other);

}  // namespace flightdeck
