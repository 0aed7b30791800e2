// SPDX-License-Identifier: MIT
// One small training, healthy or with a fault that somebody might make, and everything that can be
// tracked of it. The pictures of docs/quantities.md are drawn from its records:
//   faults FAULT FOLDER [STEPS]
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <flightdeck/flightdeck.h>

namespace {

namespace F = torch::nn::functional;

constexpr int64_t kSamples = 20000;

// What the healthy training has, and a fault changes.
struct Training {
  double learning_rate = 0.2;
  int64_t batch_size = 64;
  // Points of ten clouds in twenty dimensions that overlap.
  torch::Tensor inputs, labels;
  torch::Tensor weights = torch::ones(kSamples);  // of the losses
  torch::nn::Sequential model{torch::nn::Linear(20, 64),
                              torch::nn::ReLU(),
                              torch::nn::Linear(64, 32),
                              torch::nn::Tanh(),
                              torch::nn::Linear(32, 10)};

  Training() {
    const torch::Tensor centres = 0.6 * torch::randn({10, 20});
    labels = torch::randint(10, {kSamples}, torch::kLong);
    inputs = centres.index_select(0, labels) + torch::randn({kSamples, 20});
  }
};

using Fault = std::function<void(Training&)>;

const std::map<std::string, Fault>& faults() {
  static const std::map<std::string, Fault> all = {
      {"none", [](Training&) {}},
      {"large_rate", [](Training& training) { training.learning_rate = 4; }},
      {"small_rate", [](Training& training) { training.learning_rate = 0.002; }},
      {"small_batch", [](Training& training) { training.batch_size = 8; }},
      {"unscaled_inputs", [](Training& training) { training.inputs *= 30; }},
      // One sample in a hundred counts as twenty.
      {"heavy_samples",
       [](Training& training) { training.weights.narrow(0, 0, kSamples / 100).fill_(20); }},
      {"offset_inputs", [](Training& training) { training.inputs += 3; }},
      {"random_labels",
       [](Training& training) { training.labels = torch::randint(10, {kSamples}, torch::kLong); }},
      {"large_weights",
       [](Training& training) {
         const torch::NoGradGuard no_grad;
         for (torch::Tensor& parameter : training.model->parameters()) parameter *= 6;
       }},
      {"dead_layer",
       [](Training& training) {
         const torch::NoGradGuard no_grad;
         training.model->named_parameters()["0.bias"] -= 2;
       }},
  };
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || faults().count(arguments[1]) == 0) {
    std::fprintf(stderr, "usage: faults FAULT FOLDER [STEPS], with FAULT one of");
    for (const auto& [name, fault] : faults()) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const int64_t steps = count > 3 ? std::atoll(arguments[3]) : 300;
  torch::manual_seed(1);
  Training training;
  faults().at(arguments[1])(training);
  torch::optim::SGD optimizer(training.model->parameters(), training.learning_rate);

  std::vector<flightdeck::Quantity> everything;
  for (const flightdeck::Quantity& quantity : flightdeck::all_quantities()) {
    everything.push_back(flightdeck::Quantity(quantity).every(5));
  }
  flightdeck::Cockpit cockpit(training.model->named_parameters(), everything);
  cockpit.record_to(arguments[2]);
  for (int64_t step = 0; step < steps; ++step) {
    const torch::Tensor chosen = torch::randint(kSamples, {training.batch_size}, torch::kLong);
    optimizer.zero_grad();
    const torch::Tensor losses =
        training.weights.index_select(0, chosen) *
        F::cross_entropy(training.model->forward(training.inputs.index_select(0, chosen)),
                         training.labels.index_select(0, chosen),
                         F::CrossEntropyFuncOptions().reduction(torch::kNone));  // [N]
    flightdeck::StepOptions told;
    told.optimizer = &optimizer;  // for cabs, which reads the learning rate
    {
      const auto watch = cockpit.watch(step, losses, told);
      losses.mean().backward();
    }
    optimizer.step();
  }
}
