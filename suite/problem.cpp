// SPDX-License-Identifier: MIT
#include "suite/problem.h"

#include <torch/torch.h>

#include "suite/find_entry.h"
#include "suite/penalised.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite {
namespace problems {

#define FLIGHTDECK_ENTRY(name) Problem name();
#include "flightdeck/problems.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace problems

bool is_penalised(const std::string& name, const Tensor& parameter) {
  const std::string end = "weight";
  const bool is_weight =
      name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  return is_weight && parameter.dim() >= 2;
}

Tensor Problem::penalty(const torch::nn::Module& module) const {
  Tensor sum;
  if (l2 == 0.0) return sum;
  for (const auto& item : module.named_parameters()) {
    if (!is_penalised(item.key(), item.value())) continue;
    const Tensor squares = item.value().square().sum();
    sum = sum.defined() ? sum + squares : squares;
  }
  return 0.5 * l2 * sum;
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
  return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

Problem classification(int64_t classes, std::function<Tensor(int64_t N)> random_inputs) {
  Problem problem;
  problem.classes = classes;
  problem.losses = &cross_entropies;
  problem.random_batch = [classes, random_inputs = std::move(random_inputs)](int64_t N) {
    Batch batch;
    batch.inputs = random_inputs(N);
    batch.targets = torch::randint(classes, {N}, torch::kLong);
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

}  // namespace flightdeck::suite
