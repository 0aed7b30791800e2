// SPDX-License-Identifier: MIT
#include "suite/problem.h"

#include <algorithm>
#include <string_view>

#include <torch/torch.h>

#include "suite/find_entry.h"
#include "suite/problems/classification.h"
#include "suite/problems/plane.h"

namespace flightdeck::suite {
namespace problems {

#define FLIGHTDECK_ENTRY(name) Problem name();
#include "flightdeck/problems.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace problems

bool Problem::penalises(const std::string& parameter, const Tensor& tensor) const {
  constexpr std::string_view kWord = "weight";
  const bool is_weight =
      parameter.size() >= kWord.size() &&
      parameter.compare(parameter.size() - kWord.size(), kWord.size(), kWord) == 0;
  return l2 != 0.0 && is_weight && tensor.dim() >= (l2_spares_dense ? 4 : 2);
}

Tensor Problem::penalty(const torch::nn::Module& module) const {
  Tensor sum;
  if (l2 == 0.0) return sum;
  for (const auto& item : module.named_parameters()) {
    if (!penalises(item.key(), item.value())) continue;
    const Tensor squares = item.value().square().sum();
    sum = sum.defined() ? sum + squares : squares;
  }
  return 0.5 * l2 * sum;
}

Tensor Problem::accuracy(const Tensor& outputs, const Tensor& targets) const {
  const Tensor scores = class_scores ? class_scores(outputs) : outputs;
  return (scores.argmax(1) == targets).to(at::kFloat).mean();
}

const std::vector<Problem>& all_problems() {
  static const std::vector<Problem> table = {
#define FLIGHTDECK_ENTRY(name) problems::name(),
#include "flightdeck/problems.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

const Problem& find_problem(const std::string& name) {
  return find_entry(all_problems(), name, "problem");
}

Tensor cross_entropies(const Tensor& logits, const Tensor& labels) {
  namespace F = torch::nn::functional;
  const Tensor losses =
      F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
  return losses.dim() == 1 ? losses : losses.flatten(1).mean(1);
}

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

Problem noisy_plane(const nets::PlaneFunction& f, double u, double v) {
  Problem problem;
  problem.data_set = "two_d";
  problem.parameters = 2;
  problem.has_published_budget = false;
  problem.build = [f, u, v] { return nets::plane(f, u, v); };
  problem.losses = [](const Tensor& outputs, const Tensor&) { return outputs; };
  problem.random_batch = [](int64_t N) {
    Batch batch;
    batch.inputs = torch::randn({N, 2});
    batch.targets = torch::zeros({N});
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
