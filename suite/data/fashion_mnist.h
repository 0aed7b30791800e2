// SPDX-License-Identifier: MIT
// Fashion-MNIST: 60 000 training and 10 000 test images of clothes, 28 x 28 grey, ten classes.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

struct Images {
  at::Tensor images;  ///< [N, 1, 28, 28], float in [0, 1]
  at::Tensor labels;  ///< [N], int64
};

struct FashionMnist {
  Images train;
  Images test;
};

/// Reads the four IDX files, plain or gzip-compressed, in `folder`. An empty name means the folder
/// in FLIGHTDECK_DATA, and where that is not set the one of Debian's package dataset-fashion-mnist.
/// Throws, saying where to get the files, if one is missing.
FashionMnist load_fashion_mnist(const std::string& folder = "");

}  // namespace flightdeck::suite
