// SPDX-License-Identifier: MIT
// Random changes of colour images while training, in the way of DeepOBS's TensorFlow version as
// they were meant.
#pragma once

#include "suite/data_set.h"

namespace flightdeck::suite {

/// Returns a crop of the image with `padding` zeros on each side, and with `flip` half of the
/// images mirrored left to right. [N, C, H, W] of any type.
Tensor crop_and_flip(const Tensor& images, int64_t padding, bool flip, Generator& generator);

/// Brightness, saturation and contrast of float images [N, 3, H, W] in [0, 255], drawn per image
/// and applied in this order without clipping:
/// - brightness adds U(-63, 63). The published code adds a 255th of that, which does nothing.
/// - saturation multiplies S of hue, saturation and value by U(0.5, 1.5) and keeps S <= 1.
/// - contrast moves each channel's distance from its own mean by U(0.2, 1.8).
Tensor jitter_colours(const Tensor& images, Generator& generator);

/// Returns per image (x - mean) / max(deviation, 1 / sqrt(entries)), over all its entries; same
/// shape.
Tensor standardise(const Tensor& images);

}  // namespace flightdeck::suite
