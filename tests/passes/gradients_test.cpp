// SPDX-License-Identifier: MIT
// The engine's own backward pass leaves the user's gradients, generator, hooks and graph alone.
#include "flightdeck/gradients.h"

#include <map>
#include <memory>
#include <stdexcept>

#include "graph/torch_compat.h"
#include "passes/dropout_net.h"

namespace flightdeck::tests {
namespace {

class OwnBackward : public DropoutNetTest {};

TEST_F(OwnBackward, StreamsTheSameAnswersAndKeepsNone) {
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  std::map<std::string, ParameterGradients> streamed;
  options_.on_parameter = [&](ParameterGradients& answers) { streamed[answers.name] = answers; };
  Gradients rest = gradients(watched, parameters(), all_needs(), options_);
  for (const ParameterGradients& answer : rest.parameters) {
    EXPECT_FALSE(answer.individual.defined()) << answer.name << " was kept";
  }
  rest.parameters.clear();
  for (const NamedParameter& parameter : parameters()) {
    rest.parameters.push_back(streamed.at(parameter.name));
  }
  expect_matches_oracle(rest, oracle, all_needs(), directions_);
}

TEST_F(OwnBackward, PassesOnAThrowingCallback) {
  const Tensor watched = losses();
  GradientOptions options;
  options.on_parameter = [](ParameterGradients&) { throw std::runtime_error("disk is full"); };
  EXPECT_ANY_THROW(static_cast<void>(gradients(watched, parameters(), Need::kNorms, options)));
  EXPECT_NO_THROW(watched.mean().backward());
}

TEST_F(OwnBackward, LeavesGradientsGeneratorAndGraphAlone) {
  const std::vector<Tensor> unwatched = unwatched_gradients();
  losses().mean().backward();
  const std::vector<Tensor> before = gradients_of(parameters());
  const Tensor asked = losses();
  const Tensor generator = generator_state();
  static_cast<void>(gradients(asked, parameters(), all_needs(), options_));
  EXPECT_TRUE(identical(gradients_of(parameters()), before));
  EXPECT_TRUE(at::equal(generator_state(), generator));

  clear_gradients(parameters());
  asked.mean().backward();
  EXPECT_TRUE(identical(gradients_of(parameters()), unwatched));
}

TEST_F(OwnBackward, DoesNotRunUserHooks) {
  const Tensor input = random({5, 48});
  Tensor hidden = net_->first(input);
  int calls = 0;
  hidden.register_hook([&](const Tensor&) { ++calls; });
  const Tensor asked = losses_of(net_->second(hidden.tanh()));
  static_cast<void>(gradients(asked, parameters(), all_needs(), options_));
  EXPECT_EQ(calls, 0);
  asked.mean().backward();
  EXPECT_EQ(calls, 1);
}

TEST_F(OwnBackward, ReleasesTheGraph) {
  compat::WeakNodePtr node{compat::NodePtr()};
  Gradients answers;
  {
    const Tensor asked = losses();
    node = compat::WeakNodePtr(asked.grad_fn());
    answers = gradients(asked, parameters(), all_needs(), options_);
  }
  EXPECT_TRUE(node.expired());
}

}  // namespace
}  // namespace flightdeck::tests
