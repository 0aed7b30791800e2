// SPDX-License-Identifier: MIT
#include "suite/augment.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace flightdeck::suite {
namespace {

Tensor images(int64_t n) {
  torch::manual_seed(0);
  return torch::randint(256, {n, 3, 32, 32}).to(torch::kByte);
}

// Whether `crop` is a window of the padded image, mirrored or not as asked.
bool is_window(const Tensor& image, const Tensor& crop, bool is_mirrored) {
  const Tensor padded = torch::constant_pad_nd(image, {2, 2, 2, 2}, 0);
  const Tensor wanted = is_mirrored ? crop.flip({2}) : crop;
  for (int64_t top = 0; top <= 4; ++top) {
    for (int64_t left = 0; left <= 4; ++left) {
      const Tensor window = padded.slice(1, top, top + 32).slice(2, left, left + 32);
      if (torch::equal(window, wanted)) return true;
    }
  }
  return false;
}

TEST(CropAndFlip, GivesWindowsOfThePaddedImage) {
  const Tensor before = images(64);
  for (const bool flip : {false, true}) {
    Generator generator(3);
    const Tensor after = crop_and_flip(before, 2, flip, generator);
    ASSERT_EQ(after.sizes(), before.sizes());
    ASSERT_EQ(after.scalar_type(), torch::kByte);
    int mirrored = 0;
    for (int64_t n = 0; n < 64; ++n) {
      const bool is_plain = is_window(before[n], after[n], false);
      EXPECT_TRUE(is_plain || is_window(before[n], after[n], true)) << n;
      if (!is_plain) ++mirrored;
    }
    if (flip) {
      EXPECT_GT(mirrored, 16);
      EXPECT_LT(mirrored, 48);
    } else {
      EXPECT_EQ(mirrored, 0);
    }
  }
}

// Hue, saturation and value of one pixel, by the textbook; hue in sixths of the circle.
struct Hsv {
  double hue, saturation, value;
};
Hsv to_hsv(double red, double green, double blue) {
  const double value = std::max({red, green, blue});
  const double range = value - std::min({red, green, blue});
  double hue = 0.0;
  if (range > 0) {
    if (value == red) hue = std::fmod((green - blue) / range + 6.0, 6.0);
    if (value == green) hue = (blue - red) / range + 2.0;
    if (value == blue) hue = (red - green) / range + 4.0;
  }
  return {hue, value > 0 ? range / value : 0.0, value};
}

// Draws the same factors again, undoes contrast, which keeps the channel means, and compares.
TEST(JitterColours, KeepsHueAndScalesSaturation) {
  torch::manual_seed(0);
  // Colours far from grey, black and full saturation, in which nothing is cut off.
  const Tensor before = torch::rand({16, 3, 4, 4}, torch::kDouble) * 60 + 100;
  Generator generator(5);
  Generator same(5);
  const Tensor after = jitter_colours(before, generator);
  const auto factors = [&same](double low, double high) {
    std::vector<double> drawn;
    for (int n = 0; n < 16; ++n) drawn.push_back(low + (high - low) * uniform(same));
    return drawn;
  };
  const std::vector<double> shift = factors(-63.0, 63.0);
  const std::vector<double> saturation = factors(0.5, 1.5);
  const std::vector<double> contrast = factors(0.2, 1.8);
  for (int64_t n = 0; n < 16; ++n) {
    const auto place = static_cast<size_t>(n);
    const Tensor mean = after[n].mean(at::IntArrayRef({1, 2}), true);
    const Tensor saturated = (after[n] - mean) / contrast[place] + mean;
    const auto pixel = [&](const Tensor& image, int64_t i, double offset) {
      const Tensor flat = image.flatten(1).select(1, i) + offset;
      return to_hsv(flat[0].item<double>(), flat[1].item<double>(), flat[2].item<double>());
    };
    for (int64_t i = 0; i < 16; ++i) {
      const Hsv from = pixel(before[n], i, shift[place]);
      const Hsv to = pixel(saturated, i, 0.0);
      EXPECT_NEAR(to.value, from.value, 1e-3);
      EXPECT_NEAR(to.hue, from.hue, 1e-3);
      EXPECT_NEAR(to.saturation, std::min(1.0, saturation[place] * from.saturation), 1e-5);
    }
  }
}

TEST(JitterColours, LeavesGreyAndBlackFinite) {
  Generator generator(5);
  Tensor grey = torch::zeros({4, 3, 8, 8});
  grey[0].fill_(120.0);
  grey[1].index_put_({0}, 255.0);
  EXPECT_TRUE(jitter_colours(grey, generator).isfinite().all().item<bool>());
}

TEST(Standardise, GivesMeanZeroAndDeviationOne) {
  const Tensor rows = standardise(images(8)).flatten(1).to(torch::kDouble);
  EXPECT_TRUE(torch::allclose(rows.mean(1), torch::zeros({8}, torch::kDouble), 0, 1e-5));
  EXPECT_TRUE(
      torch::allclose(rows.var(1, /*unbiased=*/false), torch::ones({8}, torch::kDouble), 1e-4));
}

TEST(Standardise, LeavesAnEvenImageAtZero) {
  const Tensor even = torch::full({1, 3, 32, 32}, 7, torch::kByte);
  EXPECT_EQ(standardise(even).abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace flightdeck::suite
