// SPDX-License-Identifier: MIT
// What the problems that classify have in common.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite {

/// Makes a problem with softmax cross-entropy of `classes` classes; random batches have inputs
/// drawn by `random_inputs` and uniform labels.
Problem classification(int64_t classes, std::function<Tensor(int64_t N)> random_inputs);

/// Makes one of 28 x 28 grey images with values in [0, 1]; 0 classes: the caller sets another loss.
Problem grey_images(int64_t classes);

/// Makes one of standardised 32 x 32 colour images.
Problem colour_images(int64_t classes);

/// Makes one of ImageNet: standardised 224 x 224 images, classes 1 to 1000 and a background that
/// never comes up.
Problem photographs();

/// Makes one that asks which character follows, at each of `length` places: inputs and targets [N,
/// length].
Problem next_characters(int64_t vocabulary, int64_t length);

}  // namespace flightdeck::suite
