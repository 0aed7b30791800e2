// SPDX-License-Identifier: MIT
// VGG with 16 or 19 layers on images that are enlarged to 224 x 224.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// `layers` is 16 or 19: convolutions and dense layers together.
Model vgg(int64_t layers, int64_t classes);

}  // namespace flightdeck::suite::nets
