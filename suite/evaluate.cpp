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

// Keeps labels, predictions and losses of each sample on the device until the end.
class Judged {
 public:
  void add(const Batch& batch, const Tensor& losses, const Tensor& predictions) {
    if (!predictions.defined()) return;
    ids_.push_back(batch.ids);
    labels_.push_back(batch.targets);
    losses_.push_back(losses.to(at::kDouble));
    predictions_.push_back(predictions);
  }
  bool is_empty() const { return ids_.empty(); }

  Mistakes mistakes(int64_t classes) const {
    const Tensor ids = at::cat(ids_).cpu(), labels = at::cat(labels_).cpu();
    const Tensor losses = at::cat(losses_).cpu(), predictions = at::cat(predictions_).cpu();
    const Tensor wrong = (labels != predictions).nonzero().flatten();
    Mistakes found;
    found.count = wrong.numel();
    // A NaN sorts as the largest loss.
    const Tensor order = losses.index_select(0, wrong).argsort(/*dim=*/0, /*descending=*/true);
    for (int64_t k = 0; k < std::min(found.count, Mistakes::kMostNamed); ++k) {
      const auto place = wrong[order[k].item<int64_t>()].item<int64_t>();
      found.worst.push_back({ids[place].item<int64_t>(),
                             labels[place].item<int64_t>(),
                             predictions[place].item<int64_t>(),
                             losses[place].item<double>()});
    }
    if (classes <= Mistakes::kMostClasses) {
      const Tensor cells = (labels * classes + predictions).bincount({}, classes * classes);
      found.confusion.assign(cells.data_ptr<int64_t>(), cells.data_ptr<int64_t>() + cells.numel());
    }
    return found;
  }

 private:
  std::vector<Tensor> ids_, labels_, losses_, predictions_;
};

}  // namespace

Score evaluate(const Problem& problem,
               const Model& model,
               const DataSet& data,
               Part part,
               int64_t batch_size,
               const std::function<bool()>& go_on,
               std::optional<Mistakes>* mistakes) {
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
  // Sums stay on the device, so that it is waited for only once, at the end.
  Tensor losses, hits;
  int64_t count = 0;
  Judged judged;
  for (; count < batches.per_epoch() && (!go_on || go_on()); ++count) {
    const Batch batch = batches.next();
    const Tensor outputs = model.forward(batch.inputs);
    const Tensor each = problem.losses(outputs, batch.targets);
    if (mistakes != nullptr) judged.add(batch, each, problem.predictions(outputs, batch.targets));
    const Tensor loss = each.mean().to(at::kDouble);
    losses = losses.defined() ? losses + loss : loss;
    if (!problem.has_accuracy()) continue;
    const Tensor share = problem.accuracy(outputs, batch.targets).to(at::kDouble);
    hits = hits.defined() ? hits + share : share;
  }
  score.samples = count * options.batch_size;
  if (mistakes != nullptr && !judged.is_empty()) *mistakes = judged.mistakes(problem.classes);
  if (count == 0) return score;
  score.loss = losses.item<double>() / static_cast<double>(count) + score.penalty;
  if (hits.defined()) score.accuracy = hits.item<double>() / static_cast<double>(count);
  return score;
}

}  // namespace flightdeck::suite
