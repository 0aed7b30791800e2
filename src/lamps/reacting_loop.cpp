// SPDX-License-Identifier: MIT
// What reactions touch of a loop that trains a module with an optimizer of torch::optim.
#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

#include "flightdeck/reactions.h"

namespace flightdeck {
namespace {

using at::Tensor;
using torch::optim::Optimizer;

std::map<std::string, Tensor> tensors_of(const torch::nn::Module& model) {
  std::map<std::string, Tensor> tensors;
  for (const auto& item : model.named_parameters()) {
    tensors["parameter/" + item.key()] = item.value().detach();
  }
  for (const auto& item : model.named_buffers()) tensors["buffer/" + item.key()] = item.value();
  return tensors;
}

std::vector<double> rates_of(Optimizer& optimizer) {
  std::vector<double> rates;
  for (auto& group : optimizer.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

void set_rates(Optimizer& optimizer, const std::vector<double>& rates) {
  auto& groups = optimizer.param_groups();
  for (size_t g = 0; g < groups.size(); ++g) groups[g].options().set_lr(rates[g]);
}

std::string saved_state(const Optimizer& optimizer) {
  torch::serialize::OutputArchive archive;
  optimizer.save(archive);
  std::string bytes;
  archive.save_to([&bytes](const void* data, size_t count) {
    bytes.append(static_cast<const char*>(data), count);
    return count;
  });
  return bytes;
}

void restore_state(Optimizer& optimizer, const std::string& bytes) {
  const std::vector<double> rates = rates_of(optimizer);
  torch::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  optimizer.load(archive);
  set_rates(optimizer, rates);
}

}  // namespace

ReactingLoop loop_of(torch::nn::Module& model, Optimizer& optimizer) {
  ReactingLoop loop;
  loop.parameters = model.named_parameters();
  loop.learning_rate = [&optimizer] { return rates_of(optimizer).at(0); };
  const auto factor = std::make_shared<double>(1);
  loop.rate_factor = [factor] { return *factor; };
  loop.set_rate_factor = [factor, &optimizer](double wanted) {
    std::vector<double> rates = rates_of(optimizer);
    for (double& rate : rates) rate *= wanted / *factor;
    set_rates(optimizer, rates);
    *factor = wanted;
  };
  loop.save_model = [&model] { return tensors_of(model); };
  loop.save_optimizer = [&optimizer] { return saved_state(optimizer); };
  loop.restore = [&model, &optimizer](const std::map<std::string, Tensor>& saved,
                                      const std::string& state) {
    const at::NoGradGuard no_grad;
    for (auto& [name, tensor] : tensors_of(model)) Tensor(tensor).copy_(saved.at(name));
    restore_state(optimizer, state);
  };
  return loop;
}

}  // namespace flightdeck
