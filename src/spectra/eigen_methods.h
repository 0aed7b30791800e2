// SPDX-License-Identifier: MIT
// The methods behind eigenpairs(), for options that were checked and completed.
#pragma once

#include "flightdeck/spectra.h"

namespace flightdeck {

// Needs `options.block` and `options.max_basis`. `options.start` is [V, D] (V may be 0), its lines
// of length one.
Eigenpairs lanczos(const LinearOperator& op, const EigenOptions& options);

// Returns how many lines lobpcg() keeps: the eigenvectors wanted and one more per end.
int64_t lobpcg_block(const EigenOptions& options);

// Needs a D of at least three times lobpcg_block(), and as many products as lobpcg_block(). Sets
// neither errors nor flags.
Eigenpairs lobpcg(const LinearOperator& op, const EigenOptions& options);

}  // namespace flightdeck
