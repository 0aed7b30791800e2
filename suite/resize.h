// SPDX-License-Identifier: MIT
// Enlarges and shrinks images.
#pragma once

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// Returns float images [N, C, H, W] at height x width: bilinear between the centres of pixels,
/// without smoothing beforehand. The same tensor if it has the size already.
at::Tensor resize(const at::Tensor& images, int64_t height, int64_t width);

}  // namespace flightdeck::suite
