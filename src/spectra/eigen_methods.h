// SPDX-License-Identifier: MIT
// The methods behind eigenpairs(), for options that were checked and completed.
#pragma once

#include "flightdeck/spectra.h"

namespace flightdeck {

// `options.block` and `options.max_basis` are set, `options.start` is [V, D] (V may be 0), its
// lines of length one.
Eigenpairs lanczos(const LinearOperator& op, const EigenOptions& options);

// Lines that lobpcg() keeps of the operator's eigenvectors: those wanted and one more per end.
int64_t lobpcg_block(const EigenOptions& options);

// Needs D of at least three times lobpcg_block(), and as many products as that. Sets neither errors
// nor flags.
Eigenpairs lobpcg(const LinearOperator& op, const EigenOptions& options);

}  // namespace flightdeck
