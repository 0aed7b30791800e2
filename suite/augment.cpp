// SPDX-License-Identifier: MIT
#include "suite/augment.h"

#include <cmath>

#include <torch/torch.h>

#include "suite/random.h"

namespace flightdeck::suite {
namespace {

Tensor per_image(Generator& generator, const Tensor& images, double low, double high) {
  return uniforms(generator, images.size(0), low, high).to(images.device()).view({-1, 1, 1, 1});
}

}  // namespace

Tensor crop_and_flip(const Tensor& images, int64_t padding, bool flip, Generator& generator) {
  const int64_t N = images.size(0), H = images.size(2), W = images.size(3);
  Tensor rows = torch::empty({N, 1, H, 1}, torch::kLong);
  Tensor columns = torch::empty({N, 1, 1, W}, torch::kLong);
  for (int64_t n = 0; n < N; ++n) {
    const int64_t top = uniform_integer(generator, 2 * padding + 1);
    const int64_t left = uniform_integer(generator, 2 * padding + 1);
    const bool is_mirrored = flip && uniform_integer(generator, 2) == 1;
    int64_t* row = rows.data_ptr<int64_t>() + n * H;
    int64_t* column = columns.data_ptr<int64_t>() + n * W;
    for (int64_t i = 0; i < H; ++i) row[i] = top + i;
    for (int64_t i = 0; i < W; ++i) column[i] = left + (is_mirrored ? W - 1 - i : i);
  }
  const Tensor padded = torch::constant_pad_nd(images, {padding, padding, padding, padding}, 0);
  const auto of_size = [&](const Tensor& indices, int64_t dimension) {
    std::vector<int64_t> shape(4, 1);
    shape[static_cast<size_t>(dimension)] = -1;
    return indices.view(shape).to(images.device());
  };
  const Tensor samples = of_size(torch::arange(N), 0);
  const Tensor channels = of_size(torch::arange(images.size(1)), 1);
  return torch::index(padded,
                      {samples, channels, rows.to(images.device()), columns.to(images.device())});
}

Tensor jitter_colours(const Tensor& images, Generator& generator) {
  const Tensor bright = images + per_image(generator, images, -63.0, 63.0);

  // With value V and hue kept, each channel moves along V - x in proportion to the saturation,
  // which is S = (V - least) / V.
  const Tensor value = bright.amax(1, /*keepdim=*/true);
  const Tensor range = value - bright.amin(1, /*keepdim=*/true);
  const Tensor factor = per_image(generator, images, 0.5, 1.5);
  const Tensor ratio = torch::minimum(factor, value / range).masked_fill_(value <= 0, 0.0);
  const Tensor saturated = value - (value - bright) * ratio;

  const Tensor mean = saturated.mean(at::IntArrayRef({2, 3}), /*keepdim=*/true);
  return (saturated - mean) * per_image(generator, images, 0.2, 1.8) + mean;
}

Tensor standardise(const Tensor& images) {
  const Tensor rows = images.to(torch::kFloat).flatten(1);
  const Tensor centred = rows - rows.mean(1, /*keepdim=*/true);
  const double floor = 1.0 / std::sqrt(static_cast<double>(rows.size(1)));
  const Tensor deviation = centred.square().mean(1, /*keepdim=*/true).sqrt_().clamp_min_(floor);
  return centred.div(deviation).view(images.sizes());
}

}  // namespace flightdeck::suite
