// SPDX-License-Identifier: MIT
// Residual networks with the nonlinearity behind the sum: the small ones for 32 x 32 images and the
// one of fifty layers for photographs.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// What stands behind every convolution of `resnet50`. Batch norm couples the samples while
/// training; without it individual gradients need no policy.
enum class Normalisation { kBatchNorm, kNone };

/// Makes 6 n + 2 layers for 32 x 32 colour images, depth 20, 32, 44, 56, ...: three groups of n
/// units with 16, 32 and 64 channels. Shortcuts have no parameters: where a group halves the maps
/// they take every second pixel and pad the channels with zeros on both sides. Matrices start He
/// normal by their inputs.
Model small_resnet(int64_t depth, int64_t classes);

/// Makes fifty layers for 224 x 224 images: units of 1 x 1, 3 x 3 and 1 x 1 convolutions, of which
/// the 3 x 3 one halves the maps. Convolutions start He normal by their outputs, the dense layer as
/// LibTorch's.
Model resnet50(int64_t classes, Normalisation normalisation = Normalisation::kBatchNorm);

}  // namespace flightdeck::suite::nets
