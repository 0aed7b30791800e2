// SPDX-License-Identifier: MIT
#include "run/faulty_run.h"

#include <algorithm>
#include <cmath>

#include <torch/torch.h>

#include "base/order_statistics.h"

namespace flightdeck::run {
namespace {

// Makes the quantities due; the cheap ones at every step, as presets have it.
std::vector<Quantity> quantities_named(const std::vector<std::string>& names, const DueSteps& due) {
  std::vector<Quantity> quantities;
  for (const std::string& name : names) {
    quantities.push_back(quantity(name));
    if (!quantities.back().is_light()) quantities.back().on(due);
  }
  return quantities;
}

std::shared_ptr<torch::optim::Optimizer> make_optimizer(const FaultyTraining& training) {
  std::vector<Tensor> optimized;
  for (const auto& item : training.model.module->named_parameters()) {
    if (training.not_optimized.count(item.key()) == 0) optimized.push_back(item.value());
  }
  return suite::find_optimizer(training.optimizer).make(optimized, training.hyperparameters);
}

}  // namespace

FaultyRun::FaultyRun(FaultyTraining training,
                     const std::string& folder,
                     const std::vector<std::string>& quantities,
                     const DueSteps& due)
    : training_(std::move(training)),
      parameters_(training_.model.module->named_parameters()),
      optimizer_(make_optimizer(training_)) {
  if (folder.empty()) return;
  CockpitOptions options;
  options.on_warning = [](const std::string&) {};
  cockpit_ = std::make_unique<Cockpit>(parameters_, quantities_named(quantities, due), options);
  cockpit_->describe("problem", training_.subject);
  cockpit_->describe("optimizer", training_.optimizer);
  cockpit_->describe("steps", std::to_string(training_.steps));
  cockpit_->record_to(folder);
}

FaultyRun::~FaultyRun() = default;

void FaultyRun::go_on(int64_t steps) {
  while (!is_done() && step_ < steps) {
    try {
      take_step();
    } catch (const std::exception&) {
      has_failed_ = true;
    }
  }
  if (cockpit_) cockpit_->flush();
}

suite::Batch FaultyRun::next_batch() {
  const int64_t n = training_.targets.size(0), N = std::min(training_.batch_size, n);
  if (!order_.defined() || position_ + N > n) {
    order_ =
        training_.shuffles ? torch::randperm(n, training_.random, torch::kLong) : torch::arange(n);
    position_ = 0;
  }
  const Tensor chosen = order_.slice(0, position_, position_ + N);
  position_ += N;
  suite::Batch batch{training_.inputs.index_select(0, chosen),
                     training_.targets.index_select(0, chosen)};
  if (training_.prepare) batch.inputs = training_.prepare(batch.inputs);
  if (training_.on_batch) training_.on_batch(step_, batch);
  return batch;
}

std::pair<Tensor, Tensor> FaultyRun::objective(const suite::Batch& batch, Tensor& outputs) {
  outputs = training_.model.forward(batch.inputs);
  const Tensor losses = training_.losses(outputs, batch.targets);
  Tensor total = training_.reduce(losses);
  if (training_.penalty > 0) {
    for (const NamedParameter& parameter : parameters_) {
      total = total + training_.penalty / 2 * parameter.tensor.pow(2).sum();
    }
  }
  if (training_.passes > 1 && training_.averages_passes) {
    total = total / static_cast<double>(training_.passes);
  }
  if (training_.loss_scale != 1) total = total * training_.loss_scale;
  return {total, losses};
}

void FaultyRun::unscale() const {
  for (const NamedParameter& parameter : parameters_) {
    Tensor gradient = parameter.tensor.grad();
    if (gradient.defined()) gradient.div_(training_.loss_scale);
  }
}

void FaultyRun::clip() const {
  std::vector<Tensor> tensors;
  for (const NamedParameter& parameter : parameters_) tensors.push_back(parameter.tensor);
  torch::nn::utils::clip_grad_norm_(tensors, training_.clip);
}

void FaultyRun::decay() const {
  const torch::NoGradGuard no_grad;
  for (const NamedParameter& parameter : parameters_) {
    Tensor tensor = parameter.tensor;
    tensor.mul_(1 - training_.decay);
  }
}

void FaultyRun::take_step() {
  if (step_ == training_.forgets_train_at && training_.parts)
    training_.parts->is_left_in_evaluation = true;
  if (training_.clears_gradients) {
    for (const NamedParameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  }
  Tensor outputs;
  for (int64_t pass = 1; pass < training_.passes; ++pass) {
    objective(next_batch(), outputs).first.backward();
  }
  const suite::Batch batch = next_batch();
  const auto [total, losses] = objective(batch, outputs);
  if (cockpit_) {
    StepOptions told;
    told.optimizer = optimizer_.get();
    told.inputs = batch.inputs;
    if (batch.targets.dim() == 1) {
      told.labels = batch.targets;
      told.predictions = outputs.detach().argmax(1);
    }
    const StepWatch watch = cockpit_->watch(step_, losses, told);
    total.backward();
  } else {
    total.backward();
  }
  if (training_.loss_scale != 1) unscale();
  if (training_.clip > 0) clip();
  optimizer_->step();
  if (training_.decay > 0) decay();
  losses_.push_back(losses.detach().mean().item<double>());
  broken_ = std::isfinite(losses_.back()) ? 0 : broken_ + 1;
  ++step_;
}

std::pair<double, double> FaultyRun::losses() const {
  const size_t tenth = std::max<size_t>(1, losses_.size() / 10);
  if (losses_.empty()) return {std::nan(""), std::nan("")};
  return {median({losses_.begin(), losses_.begin() + static_cast<int64_t>(tenth)}),
          median({losses_.end() - static_cast<int64_t>(tenth), losses_.end()})};
}

double FaultyRun::accuracy() {
  if (!training_.held_inputs.defined() || has_failed_) return 0;
  const torch::NoGradGuard no_grad;
  if (training_.parts) training_.parts->is_training = false;
  const Tensor inputs =
      training_.prepare ? training_.prepare(training_.held_inputs) : training_.held_inputs;
  const Tensor outputs = training_.model.forward(inputs);
  if (training_.parts) training_.parts->is_training = true;
  // The scores of a network that broke are all NaN, and argmax would then take the first class.
  const Tensor is_right =
      outputs.argmax(1).eq(training_.held_targets).logical_and(outputs.isfinite().all(/*dim=*/1));
  return is_right.to(torch::kDouble).mean().item<double>();
}

void FaultyRun::end() {
  if (!cockpit_) return;
  const Ending ending = has_failed_   ? Ending::kFailed
                        : broken_ > 0 ? Ending::kDiverged
                                      : Ending::kFinished;
  if (broken_ > 0) cockpit_->describe("diverged_at", std::to_string(step_ - broken_));
  cockpit_->finish(ending);
}

}  // namespace flightdeck::run
