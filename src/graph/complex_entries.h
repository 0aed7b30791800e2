// SPDX-License-Identifier: MIT
// Complex tensors as what they are to a derivative: two real numbers per entry. PyTorch's gradient
// of a real loss holds d/dx + i d/dy at the place of x + i y; so do columns and tangents here.
#pragma once

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

bool is_complex(const at::TensorOptions& options);

// Returns the same options for the real numbers that entries consist of.
at::TensorOptions real_options(const at::TensorOptions& options);

// Returns the real part of a complex tensor; a real tensor as it is.
Tensor real_part(const Tensor& tensor);

// Returns the real numbers of a complex tensor in one more dimension, [..., 2]; a real tensor as it
// is.
Tensor real_entries(const Tensor& tensor);

// Inverts real_entries: returns [..., 2] as a complex tensor if `is_complex`, else as it is.
// Copies, since a view needs even offsets and strides.
Tensor from_real_entries(const Tensor& entries, bool is_complex);

}  // namespace flightdeck
