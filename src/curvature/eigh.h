// SPDX-License-Identifier: MIT
// Symmetric eigenproblems in which non-finite numbers are values, not exceptions.
#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

// Return eigenvalues and eigenvectors of [..., m, m], all NaN if an entry is not finite.
std::pair<Tensor, Tensor> eigh(const Tensor& matrix);
Tensor eigenvalues_of(const Tensor& matrix);

}  // namespace flightdeck
