// SPDX-License-Identifier: MIT
// Kronecker factors of one parameter from the rows that columns leave at it.
#pragma once

#include <vector>

#include "flightdeck/curvature.h"
#include "rows/rows.h"

namespace flightdeck {

// Tells how the rows of a parameter are products over positions.
struct KroneckerShape {
  enum class Kind {
    kNone,    // not at all
    kVector,  // a vector: the whole block takes the place of the output factor
    kMatrix,  // positions with inputs and output gradients
  };
  Kind kind = Kind::kNone;
  bool is_flipped = false;  // the parameter is [output, input] rather than [input, output]
};
KroneckerShape kronecker_shape(const Rows& rows);

// Returns the factor of the inputs, (1/N) sum over samples.
Tensor input_factor(const Rows& rows, WeightSharing sharing, int64_t scratch_bytes);

// Returns the factor of the output gradients of all columns (1/N), or the block of a vector.
Tensor output_factor(const std::vector<Rows>& columns,
                     const KroneckerShape& shape,
                     WeightSharing sharing);

// Returns EKFAC's (1/N) sum of squared rows in the bases of the factors, [first, second dimension].
Tensor corrected_eigenvalues(const std::vector<Rows>& columns,
                             const KroneckerShape& shape,
                             const KroneckerFactors& factors,
                             int64_t scratch_bytes);

}  // namespace flightdeck
