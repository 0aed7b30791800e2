// SPDX-License-Identifier: MIT
// Rows of an operand that was broadcast over the samples.
#pragma once

#include "graph/layout.h"
#include "rows/rows.h"

namespace flightdeck {

// `contribution` has the output's shape and layout; the operand of shape `input`, aligned on the
// right, carries no samples. Row n is sample n's contribution summed to the operand's shape.
// `name` is the form shown in the coverage report: "sum" or "scale".
Rows broadcast_rows(const Tensor& contribution,
                    const Layout& layout,
                    const Shape& input,
                    const char* name);

// The same for an operand of shape [C] aligned with dimension 1, as channels are.
Rows channel_rows(const Tensor& contribution, const Layout& layout, const char* name);

}  // namespace flightdeck
