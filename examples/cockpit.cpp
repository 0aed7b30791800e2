// SPDX-License-Identifier: MIT
// A training loop with a cockpit. Look at its record with: flightdeck show runs/first
#include <torch/torch.h>

#include <flightdeck/flightdeck.h>

namespace {

// Five clouds of points in twenty dimensions.
std::pair<torch::Tensor, torch::Tensor> next_batch(const torch::Tensor& centres) {
  const torch::Tensor labels = torch::randint(5, {128}, torch::kLong);
  return {centres.index_select(0, labels) + torch::randn({128, 20}), labels};
}

torch::Tensor individual_losses(const torch::Tensor& logits, const torch::Tensor& labels) {
  namespace F = torch::nn::functional;
  return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

}  // namespace

int main() {
  torch::manual_seed(0);
  const torch::Tensor centres = torch::randn({5, 20});
  torch::nn::Sequential model(
      torch::nn::Linear(20, 64), torch::nn::ReLU(), torch::nn::Linear(64, 5));
  torch::optim::SGD optimizer(model->parameters(), 0.1);

  flightdeck::Cockpit cockpit(model->named_parameters(), "business");
  cockpit.record_to("runs/first");
  for (int64_t step = 0; step < 200; ++step) {
    const auto [inputs, labels] = next_batch(centres);
    optimizer.zero_grad();
    const torch::Tensor losses = individual_losses(model->forward(inputs), labels);  // [N]
    {
      const auto watch = cockpit.watch(step, losses);
      losses.mean().backward();
    }
    optimizer.step();
  }
}
