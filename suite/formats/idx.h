// SPDX-License-Identifier: MIT
// Reads the IDX files of the MNIST family, plain or gzip-compressed.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// Returns the file's array of unsigned bytes with the shape its header states. Throws if the file
/// cannot be read, is not an IDX file of unsigned bytes in so many dimensions, or is shorter or
/// longer than its header says.
at::Tensor read_idx(const std::string& path, int dimensions);

}  // namespace flightdeck::suite
