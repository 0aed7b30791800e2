// SPDX-License-Identifier: MIT
// Training is bit-identical with and without a cockpit.
#include "cockpit/loop.h"
#include "passes/dropout_net.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

class CockpitTraining : public SeededTest {};

struct Trained {
  std::vector<Tensor> parameters, gradients;
  Tensor generator, cpu_generator;
};

std::vector<Quantity> everything() {
  std::vector<Quantity> quantities = all_quantities();
  for (Quantity& quantity : quantities) quantity.every(2);
  return quantities;
}

template <typename Optimizer, typename Options>
Trained train(const Options& optimizer_options, bool is_watched) {
  torch::manual_seed(3);
  DropoutNet net = on_device(DropoutNet(), at::kFloat);  // as in practice
  Optimizer optimizer(net->parameters(), optimizer_options);
  const Parameters parameters = net->named_parameters();
  std::unique_ptr<Listened> run;
  if (is_watched) run = std::make_unique<Listened>(parameters, everything(), /*strict=*/true);
  StepOptions told;
  told.optimizer = &optimizer;
  for (int64_t step = 0; step < 8; ++step) {
    const Tensor images = random({6, 1, 8, 8}).to(at::kFloat);
    const Tensor labels = random_integers({6}, 4);
    optimizer.zero_grad();
    const Tensor losses =
        F::cross_entropy(net(images), labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    if (run) {
      const StepWatch watch = run->cockpit->watch(step, losses, told);
      losses.mean().backward();
    } else {
      losses.mean().backward();
    }
    optimizer.step();
  }
  Trained trained;
  for (const NamedParameter& parameter : parameters) {
    trained.parameters.push_back(parameter.tensor.detach().clone());
  }
  trained.gradients = gradients_of(parameters);
  trained.generator = generator_state();
  trained.cpu_generator = at::globalContext().defaultGenerator(at::kCPU).get_state();
  return trained;
}

template <typename Optimizer, typename Options>
void expect_unchanged(const Options& options) {
  const Trained alone = train<Optimizer>(options, false);
  if (!identical(alone.parameters, train<Optimizer>(options, false).parameters)) {
    GTEST_SKIP() << "training on this device does not repeat itself, so bits cannot be compared";
  }
  const Trained watched = train<Optimizer>(options, true);
  EXPECT_TRUE(identical(watched.parameters, alone.parameters)) << "parameters differ";
  EXPECT_TRUE(identical(watched.gradients, alone.gradients)) << ".grad differs";
  EXPECT_TRUE(at::equal(watched.generator, alone.generator)) << "the RNG moved";
  EXPECT_TRUE(at::equal(watched.cpu_generator, alone.cpu_generator)) << "the CPU RNG moved";
}

TEST_F(CockpitTraining, IsBitIdenticalUnderEveryQuantityForSgdWithMomentum) {
  expect_unchanged<torch::optim::SGD>(torch::optim::SGDOptions(0.05).momentum(0.9));
}

TEST_F(CockpitTraining, IsBitIdenticalUnderEveryQuantityForAdam) {
  expect_unchanged<torch::optim::Adam>(torch::optim::AdamOptions(1e-2));
}

}  // namespace
}  // namespace flightdeck::tests
