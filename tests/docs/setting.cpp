// SPDX-License-Identifier: MIT
// The setting of the snippets, and the program that runs those of one page: docs_snippets PAGE.
#include "docs/setting.h"

#include <exception>

#include <ATen/CPUGeneratorImpl.h>

namespace docs {

Setting::Setting()
    : centres((torch::manual_seed(0), torch::randn({5, 20}))),
      model(torch::nn::Linear(20, 64), torch::nn::ReLU(), torch::nn::Linear(64, 5)),
      optimizer(model->parameters(), 0.1) {
  // From a generator of its own: the loops of the pages draw what examples/cockpit.cpp draws.
  at::Generator generator = at::detail::createCPUGenerator(1);
  labels = torch::randint(5, {128}, generator, torch::kLong);
  inputs = centres.index_select(0, labels) + torch::randn({128, 20}, generator);
  outputs = model->forward(inputs);
  losses = individual_losses(outputs, labels);
}

std::pair<Tensor, Tensor> Setting::next_batch() const {
  const Tensor chosen = torch::randint(5, {128}, torch::kLong);
  return {centres.index_select(0, chosen) + torch::randn({128, 20}), chosen};
}

std::vector<std::pair<Tensor, Tensor>> Setting::batches(int64_t count) const {
  std::vector<std::pair<Tensor, Tensor>> all;
  for (int64_t k = 0; k < count; ++k) all.push_back(next_batch());
  return all;
}

Tensor Setting::individual_losses(const Tensor& logits, const Tensor& labels) {
  return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

}  // namespace docs

int main(int count, char** arguments) {
  if (count != 2 || docs::pages().count(arguments[1]) == 0) {
    std::cerr << "usage: docs_snippets PAGE, one of:";
    for (const auto& [name, run] : docs::pages()) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  try {
    docs::pages().at(arguments[1])();
  } catch (const std::exception& error) {
    std::cerr << "docs_snippets: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
