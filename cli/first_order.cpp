// SPDX-License-Identifier: MIT
#include "cli/first_order.h"

#include <algorithm>
#include <chrono>

#include <torch/torch.h>

#include "cli/peak_memory.h"

namespace flightdeck::cli {
namespace {

double median(std::vector<double> values) {
  const size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

suite::Model build(const suite::Net& net, const at::Device& device) {
  torch::manual_seed(0);
  suite::Model model = net.build();
  model.module->to(device);
  return model;
}

}  // namespace

const std::vector<FirstOrderQuantity>& first_order_quantities() {
  static const std::vector<FirstOrderQuantity> quantities = {
      {"individual_gradients", Need::kIndividual},
      {"row_norms", Need::kNorms},
      {"second_moment", Need::kSecondMoment},
      {"variance", Need::kVariance},
      {"gram", Need::kGram},
      {"dot", Need::kDots},
  };
  return quantities;
}

FirstOrderBench::FirstOrderBench(const suite::Net& net,
                                 int64_t batch_size,
                                 const at::Device& device,
                                 FirstOrderPath path)
    : name_(net.name),
      device_(device),
      path_(path),
      model_(build(net, device)),
      parameters_(model_.module->named_parameters()),
      inputs_(net.random_inputs(batch_size).to(device)),
      labels_(suite::random_labels(net, batch_size).to(device)) {
  for (const NamedParameter& parameter : parameters_) {
    directions_.push_back(torch::randn_like(parameter.tensor).unsqueeze(0));
  }
}

FirstOrderResult FirstOrderBench::measure(const FirstOrderQuantity& quantity,
                                          int warm_up_rounds,
                                          int rounds,
                                          const std::function<void(int round)>& on_round) {
  check(quantity);

  std::vector<double> plains, candidates, ratios;
  for (int round = -warm_up_rounds; round < rounds; ++round) {
    // They take turns in going first, so that neither always finds the other's caches.
    double plain = 0;
    if (round % 2 == 0) plain = plain_ms();
    const double candidate = candidate_ms(quantity);
    if (round % 2 != 0) plain = plain_ms();
    if (round >= 0) {
      plains.push_back(plain);
      candidates.push_back(candidate);
      ratios.push_back(candidate / plain);
    }
    on_round(round);
  }

  FirstOrderResult result;
  result.plain_ms = median(plains);
  result.ms = median(candidates);
  result.ratio = median(ratios);

  drop_gradients();
  const auto plain_peak = peak_bytes(device_, [&] { plain_step(); });
  drop_gradients();
  const auto peak = peak_bytes(device_, [&] { candidate_step(quantity); });
  drop_gradients();
  if (plain_peak && peak) result.peak_mb = static_cast<double>(*peak - *plain_peak) / 1e6;
  return result;
}

double FirstOrderBench::plain_ms() {
  drop_gradients();
  return milliseconds([&] { plain_step(); });
}

double FirstOrderBench::candidate_ms(const FirstOrderQuantity& quantity) {
  drop_gradients();
  Gradients answers;  // freed after the clock has stopped, as `.grad` is
  return milliseconds([&] { answers = candidate_step(quantity); });
}

Tensor FirstOrderBench::losses() {
  return suite::individual_losses(model_.forward(inputs_), labels_);
}

void FirstOrderBench::plain_step() { losses().mean().backward(); }

Gradients FirstOrderBench::candidate_step(const FirstOrderQuantity& quantity) {
  GradientOptions options;
  if (quantity.need == Need::kDots) options.directions = directions_;
  options.reuse_gradients = path_ == FirstOrderPath::kWatchReuse;

  const Tensor individual = losses();
  if (path_ == FirstOrderPath::kGradients) {
    return gradients(individual, parameters_, quantity.need | Need::kMean, options);
  }
  Watch watch(individual, parameters_, quantity.need, options);
  individual.mean().backward();
  return watch.finish();
}

void FirstOrderBench::check(const FirstOrderQuantity& quantity) {
  // Both forward passes draw the same dropout masks.
  drop_gradients();
  torch::manual_seed(1);
  plain_step();
  std::vector<Tensor> expected;
  for (const NamedParameter& parameter : parameters_) expected.push_back(parameter.tensor.grad());

  drop_gradients();
  torch::manual_seed(1);
  const Gradients answers = candidate_step(quantity);
  for (size_t index = 0; index < parameters_.size(); ++index) {
    const Tensor mean = path_ == FirstOrderPath::kGradients ? answers.parameters[index].mean
                                                            : parameters_[index].tensor.grad();
    const double error = (mean - expected[index]).norm().item<double>();
    const double scale = expected[index].norm().item<double>();
    // Two float summations over batch and positions in different order.
    TORCH_CHECK(error <= 1e-3 * scale + 1e-7,
                "bench: ",
                name_,
                ", ",
                quantity.name,
                ": the mean gradient of ",
                parameters_[index].name,
                " is off by ",
                error,
                " where the plain gradient has norm ",
                scale,
                "; please report this with the output of flightdeck doctor");
  }
}

void FirstOrderBench::drop_gradients() {
  for (const NamedParameter& parameter : parameters_) {
    parameter.tensor.mutable_grad() = Tensor();
  }
}

double FirstOrderBench::milliseconds(const std::function<void()>& step) {
  const auto wait = [&] {
    if (device_.is_cuda()) torch::cuda::synchronize(device_.index());
  };
  wait();
  const auto start = std::chrono::steady_clock::now();
  step();
  wait();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace flightdeck::cli
