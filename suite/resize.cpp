// SPDX-License-Identifier: MIT
#include "suite/resize.h"

#include <ATen/ATen.h>

namespace flightdeck::suite {

at::Tensor resize(const at::Tensor& images, int64_t height, int64_t width) {
  if (images.size(2) == height && images.size(3) == width) return images;
  return at::upsample_bilinear2d(images, {height, width}, /*align_corners=*/false);
}

}  // namespace flightdeck::suite
