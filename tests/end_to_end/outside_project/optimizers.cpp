// SPDX-License-Identifier: MIT
// Two optimizers of the suite in a program of somebody else: both have to lower a loss, and both
// are found by name.
#include <iostream>
#include <suite/optimizer.h>
#include <suite/optimizers/curvature/diag_ggn.h>
#include <suite/optimizers/radam.h>

#include <torch/torch.h>

#if __has_include(<record.h>) || __has_include(<settings.h>) || __has_include(<watch.h>)
#error "headers of the library are found without their folder, in the way of the program's own"
#endif

namespace {

torch::Tensor losses_of(torch::nn::Linear& model, const torch::Tensor& x) {
  const torch::Tensor targets = torch::zeros({x.size(0), 1});
  return torch::nn::functional::mse_loss(
             model(x), targets, torch::nn::functional::MSELossFuncOptions().reduction(torch::kNone))
      .sum(1);
}

bool lowers(const char* name, const std::function<double(torch::nn::Linear&, int)>& step) {
  torch::manual_seed(1);
  torch::nn::Linear model(3, 1);
  const double first = step(model, 0);
  double last = first;
  for (int k = 1; k < 100; ++k) last = step(model, k);
  std::cout << name << ": " << first << " -> " << last << "\n";
  return last < 0.5 * first;
}

}  // namespace

int main() {
  namespace suite = flightdeck::suite;
  const torch::Tensor x = torch::ones({8, 3});
  std::unique_ptr<suite::RAdam> radam;
  const bool first = lowers("radam", [&](torch::nn::Linear& model, int k) {
    suite::RAdamOptions options;
    options.learning_rate = 0.02;
    if (k == 0) radam = std::make_unique<suite::RAdam>(model->parameters(), options);
    radam->zero_grad();
    const torch::Tensor loss = losses_of(model, x).mean();
    loss.backward();
    radam->step();
    return loss.item<double>();
  });
  std::unique_ptr<suite::DiagGgn> diagonal;
  const bool second = lowers("diag_ggn", [&](torch::nn::Linear& model, int k) {
    suite::DiagGgnOptions options;
    options.learning_rate = 0.1;
    if (k == 0) diagonal = std::make_unique<suite::DiagGgn>(model->parameters(), options);
    diagonal->zero_grad();
    const torch::Tensor losses = losses_of(model, x);
    diagonal->observe(losses);
    const torch::Tensor loss = losses.mean();
    loss.backward();
    diagonal->step();
    return loss.item<double>();
  });
  const bool are_found = suite::find_optimizer("radam").name == "radam" &&
                         suite::find_optimizer("diag_ggn").name == "diag_ggn";
  return first && second && are_found ? 0 : 1;
}
