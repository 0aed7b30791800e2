// SPDX-License-Identifier: MIT
// Reads arrays of bytes from MATLAB files of level 5, as SVHN is published in.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// Returns the array called `variable`, whose elements have to be stored as unsigned bytes. MATLAB
/// stores the first index fastest, so the sizes come in reverse order: [32, 32, 3, n] is read as
/// [n, 3, 32, 32] with the rows of an image last. Throws if the file cannot be read, is of another
/// format, ends early, or has no such array of bytes.
at::Tensor read_mat5(const std::string& path, const std::string& variable);

}  // namespace flightdeck::suite
