// SPDX-License-Identifier: MIT
// Watching the user's backward pass: gradients, graph lifetime and hooks are as without the watch.
#include "flightdeck/watch.h"

#include <map>
#include <memory>
#include <stdexcept>

#include "check_model.h"
#include "graph/torch_compat.h"
#include "passes/dropout_net.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class WatchedBackward : public DropoutNetTest {};

TEST_F(WatchedBackward, MatchesOracleWithDropoutActive) { check_model(losses(), parameters()); }

TEST_F(WatchedBackward, AddsToGradientsAlreadyThere) {
  const std::vector<Tensor> once = unwatched_gradients();
  losses().mean().backward();
  losses().mean().backward();
  const std::vector<Tensor> twice = gradients_of(parameters());
  clear_gradients(parameters());

  losses().mean().backward();
  const Tensor watched = losses();
  Watch watch(watched, parameters(), all_needs(), options_);
  watched.mean().backward();
  static_cast<void>(watch.finish());
  EXPECT_TRUE(identical(gradients_of(parameters()), twice));
}

TEST_F(WatchedBackward, ReleasesTheGraph) {
  compat::WeakNodePtr node{compat::NodePtr()};
  Gradients answers;
  {
    const Tensor watched = losses();
    node = compat::WeakNodePtr(watched.grad_fn());
    Watch watch(watched, parameters(), all_needs(), options_);
    watched.mean().backward();
    answers = watch.finish();
  }
  EXPECT_TRUE(node.expired());
}

TEST_F(WatchedBackward, ReleasesTheGraphWhenDestroyedUnfinished) {
  compat::WeakNodePtr node{compat::NodePtr()};
  {
    const Tensor watched = losses();
    node = compat::WeakNodePtr(watched.grad_fn());
    Watch watch(watched, parameters(), all_needs(), options_);
  }
  EXPECT_TRUE(node.expired());
}

TEST_F(WatchedBackward, FreesSavedActivationsAsEarlyAsWithoutWatch) {
  const auto survives_backward = [&](bool is_watched) {
    Tensor hidden = net_->first(random({5, 48})).tanh();
    const c10::weak_intrusive_ptr<at::TensorImpl> activation(
        c10::intrusive_ptr<at::TensorImpl>(hidden.getIntrusivePtr()));
    const Tensor watched = losses_of(net_->second(hidden));
    hidden = Tensor();
    EXPECT_FALSE(activation.expired());  // the graph keeps it
    std::unique_ptr<Watch> watch;
    if (is_watched) {
      watch = std::make_unique<Watch>(watched, parameters(), Need::kNorms | Need::kGram);
    }
    watched.mean().backward();
    return !activation.expired();
  };
  EXPECT_EQ(survives_backward(true), survives_backward(false));
}

TEST_F(WatchedBackward, LeavesTheGraphFreedAfterwards) {
  const Tensor watched = losses();
  Watch watch(watched, parameters(), all_needs(), options_);
  watched.mean().backward();
  static_cast<void>(watch.finish());
  EXPECT_ANY_THROW(watched.mean().backward());
}

TEST_F(WatchedBackward, CanBeRepeatedOnARetainedGraph) {
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  for (int repeat = 0; repeat < 2; ++repeat) {
    Watch watch(watched, parameters(), all_needs(), options_);
    watched.mean().backward({}, /*retain_graph=*/true);
    expect_matches_oracle(watch.finish(), oracle, all_needs(), directions_);
  }
}

TEST_F(WatchedBackward, IsNotSeenByAFinishedWatch) {
  const std::vector<Tensor> unwatched = unwatched_gradients();
  const Tensor watched = losses();
  Watch watch(watched, parameters(), all_needs(), options_);
  watched.mean().backward({}, /*retain_graph=*/true);
  static_cast<void>(watch.finish());
  clear_gradients(parameters());
  watched.mean().backward();
  EXPECT_TRUE(identical(gradients_of(parameters()), unwatched));
}

TEST_F(WatchedBackward, ServesTwoWatchesAtOnce) {
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  Watch norms(watched, parameters(), Need::kNorms);
  Watch moments(watched, parameters(), Need::kSecondMoment | Need::kMean);
  watched.sum().backward();
  expect_matches_oracle(norms.finish(), oracle, Need::kNorms, {});
  expect_matches_oracle(moments.finish(), oracle, Need::kSecondMoment | Need::kMean, {});
}

TEST_F(WatchedBackward, SurvivesMovingTheWatch) {
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  Watch first(watched, parameters(), Need::kNorms);
  Watch second(std::move(first));
  watched.mean().backward();
  expect_matches_oracle(second.finish(), oracle, Need::kNorms, {});
}

TEST_F(WatchedBackward, IsUntouchedByADestroyedWatch) {
  const std::vector<Tensor> unwatched = unwatched_gradients();
  const Tensor watched = losses();
  bool was_called = false;
  {
    GradientOptions options = options_;
    options.on_parameter = [&](ParameterGradients&) { was_called = true; };
    Watch watch(watched, parameters(), all_needs(), options);
  }
  watched.mean().backward();
  EXPECT_TRUE(identical(gradients_of(parameters()), unwatched));
  EXPECT_FALSE(was_called);
}

TEST_F(WatchedBackward, IsAskedForWhenFinishComesTooEarly) {
  const Tensor watched = losses();
  Watch watch(watched, parameters(), Need::kNorms);
  try {
    static_cast<void>(watch.finish());
    FAIL() << "finish without a backward pass did not throw";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("backward"), std::string::npos) << error.what();
  }
}

TEST_F(WatchedBackward, DoesNotSeeAThrowingCallback) {
  const std::vector<Tensor> unwatched = unwatched_gradients();
  const Tensor watched = losses();
  GradientOptions options;
  options.on_parameter = [](ParameterGradients&) { throw std::runtime_error("disk is full"); };
  Watch watch(watched, parameters(), Need::kNorms, options);
  EXPECT_NO_THROW(watched.mean().backward());
  EXPECT_TRUE(identical(gradients_of(parameters()), unwatched));
  try {
    static_cast<void>(watch.finish());
    FAIL() << "finish did not report the callback's failure";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("disk is full"), std::string::npos) << error.what();
  }
}

TEST_F(WatchedBackward, RunsUserHooksOnce) {
  const Tensor input = random({5, 48});
  Tensor hidden = net_->first(input);
  int calls = 0;
  hidden.register_hook([&](const Tensor&) { ++calls; });
  const Tensor watched = losses_of(net_->second(hidden.tanh()));
  Watch watch(watched, parameters(), all_needs(), options_);
  watched.mean().backward();
  static_cast<void>(watch.finish());
  EXPECT_EQ(calls, 1);
}

TEST_F(WatchedBackward, ReportsSamplesOfWeightZeroAndKeepsAllRowsRight) {
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  const Tensor weights = at::tensor({1.0, 0.0, 2.0, 1.0, 1.0}, at::kDouble).to(test_device());
  Watch watch(watched, parameters(), Need::kIndividual);
  (weights * watched).sum().backward();
  const Gradients answers = watch.finish();
  ASSERT_FALSE(answers.remarks.empty());
  EXPECT_NE(answers.remarks[0].find("1 of 5 samples have no weight"), std::string::npos);
  expect_matches_oracle(answers, oracle, Need::kIndividual, {});
}

TEST_F(WatchedBackward, GivesEqualGradientsToRoundingWhenTheyAreReused) {
  const std::vector<Tensor> unwatched = unwatched_gradients();
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  options_.reuse_gradients = true;
  Watch watch(watched, parameters(), all_needs(), options_);
  watched.mean().backward();
  expect_matches_oracle(watch.finish(), oracle, all_needs(), directions_);
  const std::vector<Tensor> reused = gradients_of(parameters());
  for (size_t i = 0; i < reused.size(); ++i) {
    expect_close(reused[i], unwatched[i], parameters()[i].name);
  }
}

TEST_F(WatchedBackward, AddsReusedGradientsToThosePresentAndKeepsPenalties) {
  const auto objective = [&](const Tensor& l) {
    return (l * 0.5).sum() + 0.1 * net_->first->weight.square().sum();
  };
  losses().mean().backward();
  objective(losses()).backward();
  const std::vector<Tensor> unwatched = gradients_of(parameters());
  clear_gradients(parameters());

  losses().mean().backward();
  options_.reuse_gradients = true;
  const Tensor watched = losses();
  Watch watch(watched, parameters(), all_needs(), options_);
  objective(watched).backward();
  static_cast<void>(watch.finish());
  const std::vector<Tensor> reused = gradients_of(parameters());
  for (size_t i = 0; i < reused.size(); ++i) {
    expect_close(reused[i], unwatched[i], parameters()[i].name);
  }
}

TEST_F(WatchedBackward, ReusesGradientsOfTiedAndUnusedParameters) {
  auto layer = on_device(nn::Linear(4, 4));
  auto idle = on_device(nn::Linear(2, 2));
  const Parameters parameters = ParameterList().add("layer", layer).add("idle", idle);
  const Tensor input = random({3, 4});
  const auto forward = [&] { return layer(layer(input).tanh()).square().sum(1); };
  forward().mean().backward();
  const std::vector<Tensor> unwatched = gradients_of(parameters);
  clear_gradients(parameters);

  options_.directions.clear();
  options_.reuse_gradients = true;
  const Tensor watched = forward();
  Watch watch(watched, parameters, Need::kNorms, options_);
  watched.mean().backward();
  static_cast<void>(watch.finish());
  const std::vector<Tensor> reused = gradients_of(parameters);
  expect_close(reused[0], unwatched[0], "layer.weight");
  expect_close(reused[1], unwatched[1], "layer.bias");
  EXPECT_FALSE(reused[2].defined());
}

TEST_F(WatchedBackward, StreamsTheSameAnswersAndKeepsNone) {
  const Tensor watched = losses();
  const Oracle oracle = differentiate(watched, parameters());
  std::map<std::string, ParameterGradients> streamed;
  options_.on_parameter = [&](ParameterGradients& answers) { streamed[answers.name] = answers; };
  Watch watch(watched, parameters(), all_needs(), options_);
  watched.mean().backward();
  Gradients rest = watch.finish();

  for (const ParameterGradients& answer : rest.parameters) {
    EXPECT_FALSE(answer.individual.defined()) << answer.name << " was kept";
    EXPECT_FALSE(answer.mean.defined()) << answer.name << " was kept";
    EXPECT_FALSE(answer.gram.defined()) << answer.name << " was kept";
  }
  ASSERT_EQ(streamed.size(), parameters().size());
  // Put the stream in order: together with the totals it must be the whole answer.
  rest.parameters.clear();
  for (const NamedParameter& parameter : parameters()) {
    rest.parameters.push_back(streamed.at(parameter.name));
  }
  expect_matches_oracle(rest, oracle, all_needs(), directions_);
}

}  // namespace
}  // namespace flightdeck::tests
