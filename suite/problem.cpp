// SPDX-License-Identifier: MIT
#include "suite/problem.h"

#include <string_view>

#include <torch/torch.h>

#include "suite/entry_registry.h"

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

Tensor Problem::predictions(const Tensor& outputs, const Tensor& targets) const {
  if (!has_accuracy() || targets.dim() != 1) return {};
  const Tensor scores = class_scores ? class_scores(outputs) : outputs;
  return scores.dim() == 2 ? scores.argmax(1) : Tensor();
}

namespace {

Registry<Problem>& problem_registry() {
  static auto* registry = new Registry<Problem>({
#define FLIGHTDECK_ENTRY(name) problems::name(),
#include "flightdeck/problems.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

}  // namespace

std::vector<Problem> all_problems() { return problem_registry().all(); }

const Problem& find_problem(const std::string& name) {
  return find_entry(problem_registry(), name, "problem");
}

bool register_problem(Problem problem) {
  const char* missing = !problem.build          ? "build"
                        : !problem.losses       ? "losses"
                        : !problem.random_batch ? "random_batch"
                                                : nullptr;
  TORCH_CHECK_VALUE(!missing,
                    "register_problem: the problem '",
                    problem.name,
                    "' has no function ",
                    missing,
                    "; set it");
  return add_entry(problem_registry(), std::move(problem), "register_problem", "problem");
}

Tensor cross_entropies(const Tensor& logits, const Tensor& labels) {
  namespace F = torch::nn::functional;
  const Tensor losses =
      F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
  return losses.dim() == 1 ? losses : losses.flatten(1).mean(1);
}

}  // namespace flightdeck::suite
