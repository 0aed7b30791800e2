// SPDX-License-Identifier: MIT
#include <suite/problem.h>

#include "my_op.h"

namespace {

namespace suite = flightdeck::suite;

struct MyNet : torch::nn::Module {
  torch::Tensor first = register_parameter("first", torch::randn({2, 32}));
  torch::Tensor bias = register_parameter("bias", torch::randn({32}));
  torch::Tensor second = register_parameter("second", torch::randn({32, 2}));

  torch::Tensor forward(const torch::Tensor& inputs) {
    return ScaledProduct::apply((ScaledProduct::apply(inputs, first) + bias).tanh(), second);
  }
};

suite::Problem my_problem() {
  suite::Problem problem;
  problem.name = "my_problem";
  problem.summary = "two layers of the op of one's own, inside or outside of a ring";
  problem.data_set = "my_data";
  problem.batch_size = 20;
  problem.epochs = 2;
  problem.has_published_budget = false;
  problem.parameters = 2 * 32 + 32 + 32 * 2;
  problem.classes = 2;
  problem.build = [] {
    auto net = std::make_shared<MyNet>();
    return suite::Model{net, [net](const torch::Tensor& inputs) { return net->forward(inputs); }};
  };
  problem.losses = &suite::cross_entropies;
  problem.random_batch = [](int64_t N) {
    return suite::Batch{torch::randn({N, 2}), torch::randint(2, {N}, torch::kLong), {}};
  };
  return problem;
}

const bool kHasMyProblem = suite::register_problem(my_problem());

}  // namespace
