// SPDX-License-Identifier: MIT
// A small training loop under a cockpit.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "tensors.h"

namespace flightdeck::tests {

// 6-5-3 tanh net in double with its loss, data and plain SGD.
class Loop {
 public:
  Loop()
      : net(on_device(torch::nn::Sequential(
            torch::nn::Linear(6, 5), torch::nn::Tanh(), torch::nn::Linear(5, 3)))),
        optimizer(net->parameters(), 0.1) {}

  Parameters parameters() const { return net->named_parameters(); }

  Tensor losses(int64_t N = 4) {
    namespace F = torch::nn::functional;
    const Tensor outputs = net->forward(random({N, 6}));
    return F::cross_entropy(
        outputs, random_integers({N}, 3), F::CrossEntropyFuncOptions().reduction(torch::kNone));
  }

  // One watched step; returns the losses.
  Tensor step(Cockpit& cockpit, int64_t number, const StepOptions& options = {}, int64_t N = 4) {
    optimizer.zero_grad();
    const Tensor losses = this->losses(N);
    {
      const StepWatch watch = cockpit.watch(number, losses, options);
      losses.mean().backward();
    }
    optimizer.step();
    return losses.detach();
  }

  torch::nn::Sequential net;
  torch::optim::SGD optimizer;
};

// A cockpit with a memory of what it says.
struct Listened {
  Listened(const Parameters& parameters, std::vector<Quantity> quantities, bool strict = false)
      : memory(std::make_shared<MemorySink>()) {
    CockpitOptions options;
    options.strict = strict;
    options.waits_for_values = true;  // tests look at a step when it has ended
    options.on_warning = [this](const std::string& text) { warnings.push_back(text); };
    cockpit = std::make_unique<Cockpit>(parameters, std::move(quantities), options);
    cockpit->add_sink(memory);
  }

  std::vector<std::string> warnings;
  std::shared_ptr<MemorySink> memory;
  std::unique_ptr<Cockpit> cockpit;
};

}  // namespace flightdeck::tests
