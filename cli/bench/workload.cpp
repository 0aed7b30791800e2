// SPDX-License-Identifier: MIT
#include "cli/bench/workload.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

namespace flightdeck::cli {
namespace {

suite::Model build(const suite::Problem& problem, const at::Device& device) {
  at::manual_seed(0);
  suite::Model model = problem.build();
  model.module->to(device);
  return model;
}

}  // namespace

Workload::Workload(const suite::Problem& problem, int64_t batch_size, const at::Device& device)
    : problem_(problem),
      batch_size_(batch_size),
      device_(device),
      model_(build(problem, device)),
      parameters_(model_.module->named_parameters()) {
  draw_batch();
  first_batch_ = batch_;
  for (const NamedParameter& parameter : parameters_) {
    first_parameters_.push_back(parameter.tensor.detach().clone());
  }
}

Tensor Workload::losses() { return problem_.losses(model_.forward(batch_.inputs), batch_.targets); }

void Workload::plain_step() { losses().mean().backward(); }

void Workload::drop_gradients() {
  for (const NamedParameter& parameter : parameters_) {
    parameter.tensor.mutable_grad() = Tensor();
  }
}

void Workload::move_on(double learning_rate) {
  drop_gradients();
  plain_step();
  const at::NoGradGuard no_grad;
  for (const NamedParameter& parameter : parameters_) {
    Tensor values = parameter.tensor;
    if (values.grad().defined()) values.sub_(values.grad(), learning_rate);
  }
  drop_gradients();
  draw_batch();
}

void Workload::restore() {
  const at::NoGradGuard no_grad;
  for (size_t index = 0; index < parameters_.size(); ++index) {
    Tensor values = parameters_[index].tensor;
    values.copy_(first_parameters_[index]);
  }
  drop_gradients();
  batch_ = first_batch_;
}

void Workload::draw_batch() {
  batch_ = problem_.random_batch(batch_size_);
  batch_.inputs = batch_.inputs.to(device_);
  batch_.targets = batch_.targets.to(device_);
}

}  // namespace flightdeck::cli
