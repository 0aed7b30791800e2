// SPDX-License-Identifier: MIT
// The networks of the suite: architecture, initialisation and the shape of what they read, apart
// from data and training settings. Entries live in nets/, one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace flightdeck::suite {

using at::Tensor;

/// A freshly initialised network on the CPU; draws from LibTorch's default generator.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  std::function<Tensor(const Tensor&)> forward;  ///< inputs [N, ...] -> logits [N, C]
};

struct Net {
  std::string name;
  std::string summary;
  int64_t classes = 0;     ///< C
  int64_t batch_size = 0;  ///< customary N
  std::function<Model()> build;
  std::function<Tensor(int64_t N)> random_inputs;  ///< shape and scale of the real data
};

/// All entries, by name.
const std::vector<Net>& all_nets();

/// The entry with this name; throws, listing the names, if there is none.
const Net& find_net(const std::string& name);

/// Uniform labels in [0, C), shape [N].
Tensor random_labels(const Net& net, int64_t N);

/// Softmax cross-entropy of each sample, [N].
Tensor individual_losses(const Tensor& logits, const Tensor& labels);

}  // namespace flightdeck::suite
