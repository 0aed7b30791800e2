// SPDX-License-Identifier: MIT
// A first look: the norm of every sample's gradient, and the sample that stands out.
#include <cstdio>

#include <torch/torch.h>

#include <flightdeck/flightdeck.h>

int main() {
  torch::manual_seed(0);
  torch::nn::Sequential model(
      torch::nn::Linear(20, 64), torch::nn::ReLU(), torch::nn::Linear(64, 5));
  torch::Tensor inputs = torch::randn({32, 20});
  inputs[7] *= 50;  // one sample was not normalised
  const torch::Tensor labels = torch::randint(5, {32}, torch::kLong);

  const torch::Tensor losses = torch::nn::functional::cross_entropy(
      model->forward(inputs),
      labels,
      torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));  // [N]
  flightdeck::Watch watch(losses, model->named_parameters(), flightdeck::Need::kNorms);
  losses.mean().backward();  // the training loop's own line
  const flightdeck::Gradients gradients = watch.finish();

  std::printf("%-10s %12s %12s %8s\n", "parameter", "median norm", "largest norm", "sample");
  for (const flightdeck::ParameterGradients& parameter : gradients.parameters) {
    std::printf("%-10s %12.3f %12.3f %8d\n",
                parameter.name.c_str(),
                parameter.norms.median().item<float>(),
                parameter.norms.max().item<float>(),
                parameter.norms.argmax().item<int>());
  }
}
