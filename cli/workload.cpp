// SPDX-License-Identifier: MIT
#include "cli/workload.h"

#include <torch/torch.h>

namespace flightdeck::cli {
namespace {

suite::Model build(const suite::Net& net, const at::Device& device) {
  torch::manual_seed(0);
  suite::Model model = net.build();
  model.module->to(device);
  return model;
}

}  // namespace

Workload::Workload(const suite::Net& net, int64_t batch_size, const at::Device& device)
    : net_(net),
      batch_size_(batch_size),
      device_(device),
      model_(build(net, device)),
      parameters_(model_.module->named_parameters()) {
  draw_batch();
  first_inputs_ = inputs_;
  first_labels_ = labels_;
  for (const NamedParameter& parameter : parameters_) {
    first_parameters_.push_back(parameter.tensor.detach().clone());
  }
}

Tensor Workload::losses() { return suite::individual_losses(model_.forward(inputs_), labels_); }

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
  inputs_ = first_inputs_;
  labels_ = first_labels_;
}

void Workload::draw_batch() {
  inputs_ = net_.random_inputs(batch_size_).to(device_);
  labels_ = suite::random_labels(net_, batch_size_).to(device_);
}

}  // namespace flightdeck::cli
