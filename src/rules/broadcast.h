// SPDX-License-Identifier: MIT
// Rows of an operand that was broadcast over the samples.
#pragma once

#include "graph/layout.h"
#include "rows/rows.h"

namespace flightdeck {

// Returns the rows of an operand of shape `input`, aligned on the right, that carries no samples.
// `contribution` has the output's shape and layout; row n is sample n's contribution summed to the
// operand's shape. `name` is the form shown in the coverage report: "sum" or "scale".
Rows broadcast_rows(const Tensor& contribution,
                    const Layout& layout,
                    const Shape& input,
                    const char* name);

// Returns the rows of an operand of shape [C] aligned with dimension 1, as channels are.
Rows channel_rows(const Tensor& contribution, const Layout& layout, const char* name);

}  // namespace flightdeck
