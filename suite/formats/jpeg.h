// SPDX-License-Identifier: MIT
// Reads JPEG files.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// Returns false if this program was built without libjpeg.
bool has_jpeg();

/// Returns red, green and blue, [3, H, W] uint8; grey and CMYK images are converted. Throws, naming
/// the file, if it cannot be read, is no JPEG file or is truncated, or without libjpeg.
at::Tensor read_jpeg(const std::string& path);

}  // namespace flightdeck::suite
