// SPDX-License-Identifier: MIT
// A small net with dropout and the fixture around it, for tests of what the engine must not change.
#pragma once

#include <vector>

#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {

struct DropoutNetImpl : torch::nn::Module {
  DropoutNetImpl() {
    convolution = register_module("convolution",
                                  torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 3, 3).padding(1)));
    norm = register_module("norm", torch::nn::GroupNorm(torch::nn::GroupNormOptions(1, 3)));
    first = register_module("first", torch::nn::Linear(48, 10));
    second = register_module("second", torch::nn::Linear(10, 4));
  }
  Tensor forward(const Tensor& images) {
    Tensor hidden = at::max_pool2d(norm(convolution(images)).relu(), 2).flatten(1);
    hidden = torch::nn::functional::dropout(
        hidden, torch::nn::functional::DropoutFuncOptions().p(0.3).training(is_training()));
    hidden = first(hidden).tanh();
    hidden = torch::nn::functional::dropout(
        hidden, torch::nn::functional::DropoutFuncOptions().p(0.5).training(is_training()));
    return second(hidden);
  }
  torch::nn::Conv2d convolution = nullptr;
  torch::nn::GroupNorm norm = nullptr;
  torch::nn::Linear first = nullptr;
  torch::nn::Linear second = nullptr;
};
TORCH_MODULE(DropoutNet);

// Losses of one batch; every call builds a new graph with the same dropout masks.
class DropoutNetTest : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    net_ = on_device(DropoutNet());
    images_ = random({5, 1, 8, 8});
    labels_ = random_integers({5}, 4);
    directions_ = random_directions(net_->named_parameters());
    options_.directions = directions_;
  }

  Parameters parameters() const { return net_->named_parameters(); }

  Tensor losses() {
    torch::manual_seed(7);
    return torch::nn::functional::cross_entropy(
        net_(images_),
        labels_,
        torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
  }

  // `.grad` of the mean loss without any watch.
  std::vector<Tensor> unwatched_gradients() {
    clear_gradients(parameters());
    losses().mean().backward();
    std::vector<Tensor> gradients = gradients_of(parameters());
    clear_gradients(parameters());
    return gradients;
  }

  DropoutNet net_ = nullptr;
  Tensor images_;
  Tensor labels_;
  std::vector<Tensor> directions_;
  GradientOptions options_;
};

}  // namespace flightdeck::tests
