// SPDX-License-Identifier: MIT
// Training is bit-identical with and without the engine.
#include <memory>

#include "passes/dropout_net.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

class ObservedTraining : public SeededTest {};

struct TrainingResult {
  std::vector<Tensor> parameters;
  std::vector<Tensor> gradients;
  Tensor generator;
  Tensor cpu_generator;
};

enum class Looking { kNot, kWatch, kGradients };

template <typename Optimizer, typename Options>
TrainingResult train(const Options& optimizer_options, Looking looking) {
  torch::manual_seed(3);
  DropoutNet net = on_device(DropoutNet(), at::kFloat);  // as in practice
  Optimizer optimizer(net->parameters(), optimizer_options);
  const Parameters parameters = net->named_parameters();
  GradientOptions options;
  options.directions = random_directions(parameters);
  for (int step = 0; step < 20; ++step) {
    const Tensor images = random({6, 1, 8, 8}).to(at::kFloat);
    const Tensor labels = random_integers({6}, 4);
    optimizer.zero_grad();
    const Tensor losses =
        F::cross_entropy(net(images), labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    if (looking == Looking::kGradients)
      static_cast<void>(gradients(losses, parameters, all_needs(), options));
    std::unique_ptr<Watch> watch;
    if (looking == Looking::kWatch) {
      watch = std::make_unique<Watch>(losses, parameters, all_needs(), options);
    }
    losses.mean().backward();
    if (watch) static_cast<void>(watch->finish());
    optimizer.step();
  }
  TrainingResult result;
  for (const NamedParameter& parameter : parameters) {
    result.parameters.push_back(parameter.tensor.detach().clone());
  }
  result.gradients = gradients_of(parameters);
  result.generator = generator_state();
  result.cpu_generator = at::globalContext().defaultGenerator(at::kCPU).get_state();
  return result;
}

template <typename Optimizer, typename Options>
void expect_training_unchanged(const Options& options) {
  const TrainingResult alone = train<Optimizer>(options, Looking::kNot);
  const TrainingResult again = train<Optimizer>(options, Looking::kNot);
  if (!identical(alone.parameters, again.parameters)) {
    GTEST_SKIP() << "training on this device does not repeat itself, so bits cannot be compared";
  }
  for (Looking looking : {Looking::kWatch, Looking::kGradients}) {
    SCOPED_TRACE(looking == Looking::kWatch ? "watch" : "gradients");
    const TrainingResult observed = train<Optimizer>(options, looking);
    EXPECT_TRUE(identical(observed.parameters, alone.parameters)) << "parameters differ";
    EXPECT_TRUE(identical(observed.gradients, alone.gradients)) << ".grad differs";
    EXPECT_TRUE(at::equal(observed.generator, alone.generator)) << "the RNG moved";
    EXPECT_TRUE(at::equal(observed.cpu_generator, alone.cpu_generator)) << "the CPU RNG moved";
  }
}

TEST_F(ObservedTraining, IsBitIdenticalForSgdWithMomentum) {
  expect_training_unchanged<torch::optim::SGD>(torch::optim::SGDOptions(0.05).momentum(0.9));
}

TEST_F(ObservedTraining, IsBitIdenticalForAdam) {
  expect_training_unchanged<torch::optim::Adam>(torch::optim::AdamOptions(1e-2));
}

}  // namespace
}  // namespace flightdeck::tests
