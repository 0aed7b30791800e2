// SPDX-License-Identifier: MIT
// Samples that nearly agree, in float32, against the same net in double: what is left of their
// differences is right to 1 %, or said to be limited by rounding. Where neither holds, autograd's
// own rows have lost the digits: saturated units, sums that cancel.
#include <cmath>
#include <memory>
#include <sstream>

#include <torch/torch.h>

#include "conformance/adverse_checks.h"
#include "flightdeck/cockpit.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

constexpr double kLimit = 0.01;

// A chain of tanh layers. Its losses do not subtract: digits that a loss loses before its slope is
// stored are gone from `.grad` as well, and nobody can tell.
struct Net {
  std::vector<NamedParameter> parameters;
  Tensor inputs, targets;

  Tensor losses() const {
    Tensor x = inputs;
    for (size_t i = 0; i + 1 < parameters.size(); i += 2) {
      x = at::linear(x, parameters[i].tensor, parameters[i + 1].tensor);
      if (i + 2 < parameters.size()) x = x.tanh();
    }
    return (x * targets).sum(1);
  }
  // The same numbers in another type.
  Net in(at::ScalarType type) const {
    Net other;
    for (const NamedParameter& parameter : parameters) {
      const Tensor leaf = parameter.tensor.detach().to(type).requires_grad_(true);
      other.parameters.push_back({parameter.name, leaf});
    }
    other.inputs = inputs.to(type);
    other.targets = targets.to(type);
    return other;
  }
};

Net random_net(Sketch& sketch) {
  const int64_t N = sketch.integer(2, 8);
  int64_t width = sketch.integer(1, 8);
  // Relative differences between samples, down to the last digit of float32.
  const double spread = std::pow(10.0, -static_cast<double>(sketch.integer(1, 7)));
  Net net;
  net.inputs = random({1, width}) + random({N, width}) * spread;
  const int64_t depth = sketch.integer(1, 3);
  for (int64_t layer = 0; layer < depth; ++layer) {
    const int64_t next = sketch.integer(1, 6);
    const std::string name = std::to_string(layer);
    const double deviation = 1.0 / std::sqrt(static_cast<double>(width));
    net.parameters.push_back({name + ".weight", random_parameter({next, width}, deviation)});
    net.parameters.push_back({name + ".bias", random_parameter({next})});
    width = next;
  }
  net.targets = random({1, width}) + random({N, width}) * spread;
  return net.in(at::kFloat);
}

// What is compared: each quantity's number from the rows [N, D] in double.
double expected_value(const std::string& name, const Tensor& rows) {
  const auto N = static_cast<double>(rows.size(0));
  const Tensor mean = rows.mean(0);
  const Tensor centred = rows - mean;
  const double square = number(mean.square().sum());
  const double scatter = number(centred.square().sum());
  if (name == "norm_test") return std::sqrt(scatter / (N * (N - 1) * square));
  if (name == "mean_gsnr") {
    return number((mean.square() / (centred.square().mean(0) + 1e-5)).mean());
  }
  if (name == "early_stopping") {
    return 1 - N * number((mean.square() / (centred.square().sum(0) / (N - 1) + 1e-5)).mean());
  }
  const double noise = scatter / (N - 1);
  return noise / (square - noise / N);
}

bool is_within(double actual, double expected) {
  return std::abs(actual - expected) <= kLimit * std::abs(expected);
}

Tensor joined(const Oracle& oracle) {  // [N, D]
  std::vector<Tensor> parts;
  for (const Tensor& rows : oracle.individual) parts.push_back(rows.reshape({rows.size(0), -1}));
  return at::cat(parts, 1);
}

double scatter_of(const Tensor& rows) { return number((rows - rows.mean(0)).square().sum()); }

// `as_stored` are the rows that autograd gives in float32.
Answer check_variance(const Gradients& answers, const Oracle& oracle, const Oracle& as_stored) {
  Answer answer;
  bool all_limited = true, all_inherited = true;
  for (size_t i = 0; i < oracle.individual.size(); ++i) {
    const Tensor rows = oracle.individual[i];
    const double expected = scatter_of(rows);
    const double actual = number(answers.parameters[i].variance.to(at::kDouble).sum()) *
                          static_cast<double>(rows.size(0));
    if (is_within(actual, expected)) continue;
    const bool is_limited = number(answers.rounding_share(answers.parameters[i])) > kRoundingLimit;
    all_limited = all_limited && is_limited;
    const double inherited = scatter_of(as_stored.individual[i].to(at::kDouble));
    all_inherited = all_inherited && (is_limited || is_within(actual, inherited));
    std::ostringstream text;
    text << oracle.names[i] << ".variance sums up to " << actual << " instead of " << expected
         << ", rounding_share " << number(answers.rounding_share(answers.parameters[i]));
    answer.differences.push_back(text.str());
  }
  answer.is_remarked = all_limited;
  answer.is_inherited = all_inherited;
  return answer;
}

Answer check_reading(const MemorySink& sink, const std::string& name, const Tensor& rows) {
  Answer answer;
  const Reading* reading = sink.find(0, name);
  TORCH_CHECK(reading != nullptr, name, " is missing");
  const double expected = expected_value(name, rows);
  if (is_within(reading->number, expected)) return answer;
  answer.differences.push_back(std::to_string(reading->number) + " instead of " +
                               std::to_string(expected));
  answer.is_remarked = sink.find(0, name, "", "limited_by_rounding") != nullptr;
  return answer;
}

}  // namespace

void ask_nearly_equal(uint64_t seed, Verdicts& verdicts) {
  torch::manual_seed(seed);
  Sketch sketch(seed);
  const Net net = random_net(sketch);
  const Net exact = net.in(at::kDouble);
  const Oracle oracle = differentiate(exact.losses(), exact.parameters);
  const Tensor losses = net.losses();
  verdicts.ask("variance of nearly equal samples", [&] {
    const Oracle as_stored = differentiate(net.losses(), net.parameters);
    return check_variance(gradients(losses, net.parameters, Need::kVariance), oracle, as_stored);
  });

  const std::vector<std::string> names = {
      "norm_test", "grad_noise_scale", "mean_gsnr", "early_stopping"};
  std::vector<Quantity> quantities;
  for (const std::string& name : names) quantities.push_back(quantity(name));
  CockpitOptions options;
  options.strict = true;
  options.on_warning = [](const std::string&) {};
  Cockpit cockpit(net.parameters, quantities, options);
  const auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  {
    const StepWatch watch = cockpit.watch(0, losses);
    losses.mean().backward();
  }
  cockpit.finish();
  for (const std::string& name : names) {
    verdicts.ask(name + " of nearly equal samples",
                 [&] { return check_reading(*sink, name, joined(oracle)); });
  }
}

}  // namespace flightdeck::tests
