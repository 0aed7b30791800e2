// SPDX-License-Identifier: MIT
// Columns at a convolution that are zero at most positions, as max-pooling and relu leave them:
// what dense products take most of their time for is left out. On the CPU, without groups.
#pragma once

#include <vector>

#include "rows/convolution.h"

namespace flightdeck {

// Sums the squares of the rows that columns of output gradients, [N, J, *output space] each, make
// with `input` [N, C, *space]. Returns [*weight_shape], or an undefined tensor where dense products
// are cheaper.
Tensor sparse_squares(const Tensor& input,
                      const std::vector<Tensor>& columns,
                      const Shape& weight_shape,
                      const ConvolutionGeometry& geometry);

// Sends a stack [K, N, J, *output space] back to the input: [K, *input_shape], or an undefined
// tensor where dense products are cheaper.
Tensor sparse_inputs(const Tensor& stack,
                     const Tensor& weight,
                     const Shape& input_shape,
                     const ConvolutionGeometry& geometry);

}  // namespace flightdeck
