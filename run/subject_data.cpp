// SPDX-License-Identifier: MIT
#include "run/subject_data.h"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

namespace flightdeck::run {
namespace {

constexpr int64_t kHeldSamples = 500;

// Draws what a part of a picture looks like: draws [4, C, 1, 1], x [1, 1, S], y [1, S, 1] -> [C, S,
// S].
Tensor one_pattern(Pattern pattern, const Tensor& draws, const Tensor& x, const Tensor& y) {
  if (pattern == Pattern::kWaves) {
    const Tensor fx = (draws[0] * 3).round(), fy = (draws[1] * 3).round();
    return torch::sin(2 * M_PI * (fx * x + fy * y + draws[2]));
  }
  if (pattern == Pattern::kEdges) {
    const Tensor angle = 2 * M_PI * draws[2];
    return torch::tanh(8 *
                       (torch::cos(angle) * (x - draws[0]) + torch::sin(angle) * (y - draws[1])));
  }
  const Tensor distance = (x - draws[0]).pow(2) + (y - draws[1]).pow(2);
  return (draws[2] * 2 - 0.7) * torch::exp(-distance * 20);
}

Tensor prototypes(const Images& images, at::Generator random) {
  const int64_t C = images.classes, S = images.side;
  const Tensor place = torch::arange(S, torch::kFloat) / static_cast<double>(S);
  const Tensor x = place.view({1, 1, S}), y = place.view({1, S, 1});
  Tensor sum = torch::zeros({C, S, S});
  for (int64_t k = 0; k < 3; ++k) {
    const Tensor draws = torch::rand({4, C, 1, 1}, random, torch::kFloat);
    sum = sum + one_pattern(images.pattern, draws, x, y);
  }
  sum = sum - sum.mean({1, 2}, /*keepdim=*/true);
  return sum / sum.pow(2).mean({1, 2}, /*keepdim=*/true).sqrt();
}

// Makes a second generator, so that held-out samples leave the draws of the others as they are.
at::Generator held_random(const FaultyTraining& training) {
  return at::make_generator<at::CPUGeneratorImpl>(training.random.current_seed() + 1);
}

// Makes noisy pictures: patterns [C, S, S], targets [n] -> [n, S, S].
Tensor pictures_of(const Tensor& patterns,
                   const Tensor& targets,
                   double noise,
                   at::Generator random) {
  const int64_t n = targets.size(0), S = patterns.size(1);
  const Tensor scale = 0.6 + 0.8 * torch::rand({n, 1, 1}, random, torch::kFloat);
  const Tensor scatter = noise * torch::randn({n, S, S}, random, torch::kFloat);
  return patterns.index_select(0, targets) * scale + scatter;
}

// Draws texts: odds [V, V] -> letters [n, T + 1].
Tensor chains(const Tensor& odds, int64_t n, int64_t T, at::Generator random) {
  Tensor letters = torch::empty({n, T + 1}, torch::kLong);
  letters.select(1, 0).copy_(torch::randint(0, odds.size(0), {n}, random, torch::kLong));
  for (int64_t t = 0; t < T; ++t) {
    const Tensor rows = odds.index_select(0, letters.select(1, t));
    letters.select(1, t + 1).copy_(
        torch::multinomial(rows, 1, /*replacement=*/true, random).squeeze(1));
  }
  return letters;
}

}  // namespace

void fill_images(FaultyTraining& training, const Images& images) {
  const Tensor patterns = prototypes(images, training.random);
  training.classes = images.classes;
  const auto draw = [&](int64_t n, at::Generator random) {
    return torch::randint(0, images.classes, {n}, random, torch::kLong);
  };
  training.targets = draw(images.count, training.random);
  const Tensor pictures = pictures_of(patterns, training.targets, images.noise, training.random);
  const Tensor mean = pictures.mean(), deviation = pictures.std();
  training.inputs = ((pictures - mean) / deviation).unsqueeze(1);  // [n, 1, S, S]
  const at::Generator random = held_random(training);
  training.held_targets = draw(kHeldSamples, random);
  const Tensor held = pictures_of(patterns, training.held_targets, images.noise, random);
  training.held_inputs = ((held - mean) / deviation).unsqueeze(1);
}

void fill_text(FaultyTraining& training, const Text& text) {
  const int64_t T = text.length, V = text.letters;
  const Tensor odds =
      torch::softmax(text.sharpness * torch::randn({V, V}, training.random, torch::kFloat), 1);
  const Tensor letters = chains(odds, text.count, T, training.random);
  training.classes = V;
  training.is_text = true;
  training.inputs = letters.slice(1, 0, T).contiguous();
  training.targets = letters.slice(1, 1).contiguous();
  const Tensor held = chains(odds, kHeldSamples, T, held_random(training));
  training.held_inputs = held.slice(1, 0, T).contiguous();
  training.held_targets = held.slice(1, 1).contiguous();
}

}  // namespace flightdeck::run
