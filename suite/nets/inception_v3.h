// SPDX-License-Identifier: MIT
// Inception-v3 with its auxiliary head, on 224 x 224 images enlarged to 299 x 299.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

constexpr int64_t kInceptionClasses = 1001;

/// Outputs are logits [N, 1001]; while training those of the auxiliary head follow, [N, 2002].
Model inception_v3();

/// Returns the cross-entropy with targets smoothed by 0.1, [N]; while training plus 0.4 times the
/// auxiliary head's.
Tensor inception_losses(const Tensor& outputs, const Tensor& labels);

}  // namespace flightdeck::suite::nets
