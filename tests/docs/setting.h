// SPDX-License-Identifier: MIT
// What the C++ snippets of the pages take as given (docs/index.md says so to their readers): a
// small classifier in the middle of its training. A snippet is part of a member function of
// Setting, so that it may declare names of its own that are the same.
#pragma once

#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <flightdeck/flightdeck.h>

namespace docs {

namespace F = torch::nn::functional;
using torch::Tensor;

struct Setting {
  Setting();

  // 128 points of five clouds in twenty dimensions, and which cloud each is of.
  std::pair<Tensor, Tensor> next_batch() const;
  std::vector<std::pair<Tensor, Tensor>> batches(int64_t count) const;
  static Tensor individual_losses(const Tensor& logits, const Tensor& labels);  // [N]
  template <typename... T>
  static void print(const T&... values) {
    ((std::cout << values << ' '), ...) << '\n';
  }

  int64_t step = 0, steps = 20;
  Tensor centres;  // [5, 20]
  torch::nn::Sequential model;
  torch::optim::SGD optimizer;
  Tensor inputs, labels, outputs;
  Tensor losses;  // [N], with the graph behind it
};

// The program of every page that has one, by name.
const std::map<std::string, void (*)()>& pages();

}  // namespace docs

using docs::Tensor;
namespace F = docs::F;
