// SPDX-License-Identifier: MIT
#include "suite/evaluate.h"

#include <algorithm>

#include <torch/torch.h>

#include "suite/batches.h"

namespace flightdeck::suite {
namespace {

class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& module)
      : module_(module), was_training_(module.is_training()) {
    module_.eval();
  }
  ~EvaluationMode() { module_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& module_;
  bool was_training_;
};

}  // namespace

Score evaluate(const Problem& problem,
               const Model& model,
               const DataSet& data,
               Part part,
               int64_t batch_size,
               const std::function<bool()>& go_on) {
  const torch::NoGradGuard no_grad;
  const EvaluationMode mode(*model.module);
  BatchOptions options;
  options.batch_size = std::min(batch_size, data.part(part).size());
  options.shuffle = false;
  options.streams = problem.carries_state;
  Batches batches(data, part, options);

  if (model.start_pass) model.start_pass();

  Score score;
  const Tensor penalty = problem.penalty(*model.module);
  if (penalty.defined()) score.penalty = penalty.item<double>();
  // Sums stay on the device: one synchronisation at the end.
  Tensor losses, hits;
  int64_t count = 0;
  for (; count < batches.per_epoch() && (!go_on || go_on()); ++count) {
    const Batch batch = batches.next();
    const Tensor outputs = model.forward(batch.inputs);
    const Tensor loss = problem.losses(outputs, batch.targets).mean().to(at::kDouble);
    losses = losses.defined() ? losses + loss : loss;
    if (!problem.has_accuracy()) continue;
    const Tensor share = problem.accuracy(outputs, batch.targets).to(at::kDouble);
    hits = hits.defined() ? hits + share : share;
  }
  score.samples = count * options.batch_size;
  if (count == 0) return score;
  score.loss = losses.item<double>() / static_cast<double>(count) + score.penalty;
  if (hits.defined()) score.accuracy = hits.item<double>() / static_cast<double>(count);
  return score;
}

}  // namespace flightdeck::suite
