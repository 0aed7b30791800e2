// SPDX-License-Identifier: MIT
#include "suite/problems/classification.h"

#include <algorithm>

#include <torch/torch.h>

namespace flightdeck::suite {

Problem classification(int64_t classes, std::function<Tensor(int64_t N)> random_inputs) {
  Problem problem;
  problem.classes = classes;
  problem.losses = &cross_entropies;
  problem.random_batch = [classes, random_inputs = std::move(random_inputs)](int64_t N) {
    Batch batch;
    batch.inputs = random_inputs(N);
    batch.targets = torch::randint(std::max<int64_t>(classes, 1), {N}, torch::kLong);
    return batch;
  };
  return problem;
}

Problem grey_images(int64_t classes) {
  return classification(classes, [](int64_t N) { return torch::rand({N, 1, 28, 28}); });
}

Problem colour_images(int64_t classes) {
  return classification(classes, [](int64_t N) { return torch::randn({N, 3, 32, 32}); });
}

Problem photographs() {
  Problem problem = classification(1001, [](int64_t N) { return torch::randn({N, 3, 224, 224}); });
  problem.data_set = "imagenet";
  problem.batch_size = 32;
  problem.has_published_budget = false;
  return problem;
}

Problem next_characters(int64_t vocabulary, int64_t length) {
  Problem problem;
  problem.classes = vocabulary;
  problem.data_set = "tolstoi";
  problem.losses = &cross_entropies;
  problem.random_batch = [vocabulary, length](int64_t N) {
    const Tensor text = torch::randint(vocabulary, {N, length + 1}, torch::kLong);
    Batch batch;
    batch.inputs = text.slice(1, 0, length);
    batch.targets = text.slice(1, 1);
    return batch;
  };
  return problem;
}

}  // namespace flightdeck::suite
