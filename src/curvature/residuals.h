// SPDX-License-Identifier: MIT
// What the exact Hessian diagonal has beyond that of the GGN: the second derivatives of the ops
// between parameters and loss.
#pragma once

#include <vector>

#include "curvature/column_budget.h"
#include "curvature/context.h"
#include "curvature/diagonals.h"
#include "flightdeck/coverage.h"

namespace flightdeck {

struct ResidualOptions {
  DiagonalNeeds needs;
  int64_t max_slow_entries = 0;
  ColumnBudget* budget = nullptr;  // may be null
  Coverage* coverage = nullptr;
  bool is_rehearsal = false;  // takes two columns of each op, for its remarks alone
};

// Turns the GGN's diagonals, one entry per parameter, into the Hessian's.
void add_hessian_residuals(CurvatureContext& context,
                           const ResidualOptions& options,
                           std::vector<Diagonal>& diagonals);

}  // namespace flightdeck
