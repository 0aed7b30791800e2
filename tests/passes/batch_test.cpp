// SPDX-License-Identifier: MIT
// What surrounds a model: batch sizes, number types, frozen and unused parameters, penalties,
// micro-batches, and the shape of the answers.
#include "check_model.h"
#include "passes/layers.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

class BatchSize : public SeededTest {};
class NumberTypes : public SeededTest {};
class TakingPart : public SeededTest {};
class Penalties : public SeededTest {};
class MicroBatches : public SeededTest {};
class Answers : public SeededTest {};

TEST_F(BatchSize, MayBeOne) {
  auto convolution = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)));
  auto readout = linear(3, 2);
  const Tensor hidden = convolution(random({1, 2, 4, 4})).relu().mean({2, 3});
  check_model(losses_of(readout(hidden)),
              ParameterList().add("convolution", convolution).add("readout", readout));
}

TEST_F(BatchSize, MayBeOneForSequencesAndEmbeddings) {
  auto embedding = on_device(nn::Embedding(5, 3));
  auto norm = on_device(nn::LayerNorm(nn::LayerNormOptions({3})));
  auto readout = linear(3, 2);
  const Tensor hidden = norm(embedding(random_integers({1, 4}, 5)));
  check_model(
      losses_of(readout(hidden)),
      ParameterList().add("embedding", embedding).add("norm", norm).add("readout", readout));
}

// With one sample every axis of length one could be the sample axis.
TEST_F(BatchSize, MayBeOneForTimeMajorSequencesOfOneFeature) {
  auto embedding = on_device(nn::Embedding(6, 1));
  const Tensor positions = random_parameter({5, 1, 1});
  const Tensor scale = random_parameter({1});
  const Tensor hidden = (embedding(random_integers({5, 1}, 6)) + positions).tanh() * scale;
  check_model(
      losses_of(hidden.transpose(0, 1)),
      ParameterList().add("embedding", embedding).add("positions", positions).add("scale", scale),
      Path::kExact);
}

TEST_F(BatchSize, MayBeOneWhenTokensAreFlattened) {
  auto embedding = on_device(nn::Embedding(6, 1));
  const Tensor positions = random_parameter({5, 1, 1});
  const Tensor scale = random_parameter({1});
  const Tensor hidden = at::softplus(embedding(random_integers({5, 1}, 6)) + positions) * scale;
  const Tensor losses = F::cross_entropy(hidden.reshape({5, 1}),
                                         random_integers({5}, 1),
                                         F::CrossEntropyFuncOptions().reduction(torch::kNone));
  check_model(
      (losses + hidden.reshape({5}).square()).view({5, 1}).mean(0),
      ParameterList().add("embedding", embedding).add("positions", positions).add("scale", scale),
      Path::kExact);
}

TEST_F(BatchSize, MayExceedTheNumberOfParameterEntries) {
  auto layer = linear(2, 1);
  check_model(losses_of(layer(random({33, 2}))), layer->named_parameters());
}

TEST_F(BatchSize, MayBeOneForScalarLosses) {
  auto layer = linear(4, 3);
  const Tensor outputs = layer(random({1, 4}));
  const Tensor labels = random_integers({1}, 3);
  check_scalar_loss(
      F::cross_entropy(outputs, labels),
      Reduction::kMean,
      F::cross_entropy(outputs, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone)),
      layer->named_parameters());
}

TEST_F(NumberTypes, Float32MatchesOracleToItsPrecision) {
  auto convolution = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)), at::kFloat);
  auto norm = on_device(nn::GroupNorm(nn::GroupNormOptions(1, 3)), at::kFloat);
  auto readout = linear(48, 4, at::kFloat);
  const Tensor hidden = norm(convolution(random({4, 2, 4, 4}).to(at::kFloat))).relu();
  const Tensor losses = F::cross_entropy(readout(hidden.flatten(1)),
                                         random_integers({4}, 4),
                                         F::CrossEntropyFuncOptions().reduction(torch::kNone));
  check_model(
      losses,
      ParameterList().add("convolution", convolution).add("norm", norm).add("readout", readout));
}

TEST_F(NumberTypes, AnswersForFloat32AreFloat32OrBetter) {
  auto layer = linear(4, 3, at::kFloat);
  const Tensor losses = losses_of(layer(random({3, 4}).to(at::kFloat)));
  GradientOptions options;
  options.directions = random_directions(layer->named_parameters());
  const Gradients answers = gradients(losses, layer->named_parameters(), all_needs(), options);
  for (const ParameterGradients& answer : answers.parameters) {
    for (const Tensor& field : {answer.mean,
                                answer.individual,
                                answer.norms,
                                answer.second_moment,
                                answer.variance,
                                answer.gram,
                                answer.dots}) {
      EXPECT_GE(at::elementSize(field.scalar_type()), 4u) << answer.name;
    }
  }
}

// One computation in any type: weights are cast, the loss is taken in float32 or better.
Tensor mixed_precision_losses(const std::vector<Tensor>& weights,
                              const Tensor& input,
                              const Tensor& labels,
                              at::ScalarType activations,
                              at::ScalarType statistics) {
  const Tensor hidden = at::relu(
      at::linear(input.to(activations), weights[0].to(activations), weights[1].to(activations)));
  const Tensor outputs = at::linear(hidden, weights[2].to(activations)).to(statistics);
  return F::cross_entropy(outputs, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

TEST_F(NumberTypes, Bfloat16ActivationsOverFloat32ParametersMatchDoubleToTheirPrecision) {
  std::vector<Tensor> weights, exact_weights;
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{12, 8}, {12}, {4, 12}}) {
    exact_weights.push_back(random_parameter(shape));
    weights.push_back(exact_weights.back().detach().to(at::kFloat).requires_grad_(true));
  }
  const Tensor input = random({5, 8});
  const Tensor labels = random_integers({5}, 4);
  const Tensor losses = mixed_precision_losses(weights, input, labels, at::kBFloat16, at::kFloat);
  const Oracle oracle =
      differentiate(mixed_precision_losses(exact_weights, input, labels, at::kDouble, at::kDouble),
                    exact_weights);

  GradientOptions options;
  options.directions = random_directions(weights);
  const Gradients answers = gradients(losses, weights, all_needs(), options);
  expect_matches_oracle(answers, oracle, all_needs(), options.directions, kTolerances.bfloat16);
  for (const ParameterGradients& answer : answers.parameters) {
    EXPECT_GE(at::elementSize(answer.norms.scalar_type()), 4u) << answer.name;
    EXPECT_GE(at::elementSize(answer.individual.scalar_type()), 4u) << answer.name;
  }

  Watch watch(losses, weights, all_needs(), options);
  losses.mean().backward();
  expect_matches_oracle(
      watch.finish(), oracle, all_needs(), options.directions, kTolerances.bfloat16);
}

TEST_F(TakingPart, FrozenParametersMayLieInTheGraph) {
  auto frozen = linear(4, 5);
  auto trained = linear(5, 3);
  for (Tensor& parameter : frozen->parameters()) parameter.set_requires_grad(false);
  check_model(losses_of(trained(frozen(random({3, 4})).tanh())), trained->named_parameters());
}

TEST_F(TakingPart, FrozenParametersMayLieAboveTrainedOnes) {
  auto trained = linear(4, 5);
  auto frozen = linear(5, 3);
  for (Tensor& parameter : frozen->parameters()) parameter.set_requires_grad(false);
  check_model(losses_of(frozen(trained(random({3, 4})).tanh())), trained->named_parameters());
}

TEST_F(TakingPart, SomeParametersMayBeAskedAboutAlone) {
  auto first = linear(4, 5);
  auto second = linear(5, 3);
  const Tensor losses = losses_of(second(first(random({3, 4})).tanh()));
  check_model(losses, ParameterList().add("first", first));
  check_model(losses, std::vector<Tensor>{second->bias});
}

TEST_F(TakingPart, OrderOfAnswersIsTheOrderAskedFor) {
  auto first = linear(4, 5);
  auto second = linear(5, 3);
  const Tensor losses = losses_of(second(first(random({3, 4})).tanh()));
  check_model(losses,
              std::vector<Tensor>{second->bias, first->weight, second->weight, first->bias});
}

TEST_F(TakingPart, UnusedParametersHaveZeroRowsAndAreReported) {
  auto layer = linear(4, 3);
  auto idle = linear(2, 2);
  const Tensor losses = losses_of(layer(random({3, 4})));
  const Parameters parameters = ParameterList().add("idle", idle).add("layer", layer);
  check_model(losses, parameters);

  const Gradients answers = gradients(losses, parameters, Need::kNorms);
  EXPECT_EQ(answers.coverage.parameters[0].level, CoverageLevel::kUnused);
  EXPECT_EQ(answers.coverage.parameters[2].level, CoverageLevel::kExactFast);
  bool is_reported = false;
  for (const std::string& remark : answers.remarks) {
    is_reported = is_reported || remark.find("idle.weight") != std::string::npos;
  }
  EXPECT_TRUE(is_reported);
}

TEST_F(TakingPart, ParameterBehindDetachCountsAsUnused) {
  auto first = linear(4, 5);
  auto second = linear(5, 3);
  const Tensor losses = losses_of(second(first(random({3, 4})).tanh().detach()));
  const Parameters parameters = ParameterList().add("first", first).add("second", second);
  check_model(losses, parameters);
  EXPECT_EQ(coverage(losses, parameters, Need::kNorms).parameters[0].level, CoverageLevel::kUnused);
}

TEST_F(Penalties, AddedToIndividualLossesArePartOfTheRows) {
  auto first = linear(4, 5);
  auto second = linear(5, 3);
  const Tensor losses = losses_of(second(first(random({3, 4})).tanh()));
  const Tensor penalty = 0.1 * (first->weight.square().sum() + second->weight.abs().sum());
  check_model(losses + penalty, ParameterList().add("first", first).add("second", second));
}

TEST_F(Penalties, OnParametersOutsideTheModelGiveThemRows) {
  auto layer = linear(4, 3);
  const Tensor lonely = random_parameter({3});
  const Tensor losses = losses_of(layer(random({3, 4})));
  check_model(losses + lonely.square().sum(),
              ParameterList().add("layer", layer).add("lonely", lonely));
}

TEST_F(Penalties, OnActivationsArePartOfTheRows) {
  auto layer = linear(4, 3);
  const Tensor hidden = layer(random({3, 4}));
  check_model(losses_of(hidden.tanh()) + 0.1 * hidden.square().mean(1), layer->named_parameters());
}

TEST_F(MicroBatches, AccumulateTheSameGradientsAndGiveTheirOwnRows) {
  auto first = linear(4, 5);
  auto second = linear(5, 3);
  const Parameters parameters = ParameterList().add("first", first).add("second", second);
  const Tensor input = random({6, 4});
  const Tensor targets = random({6, 3});
  const auto losses = [&](int64_t begin, int64_t end) {
    const Tensor outputs = second(first(input.slice(0, begin, end)).tanh());
    return (outputs - targets.slice(0, begin, end)).square().sum(1);
  };
  const Oracle oracle = differentiate(losses(0, 6), parameters);

  for (int64_t begin = 0; begin < 6; begin += 2) (losses(begin, begin + 2).sum() / 6.0).backward();
  const std::vector<Tensor> unwatched = gradients_of(parameters);
  clear_gradients(parameters);

  for (int64_t begin = 0; begin < 6; begin += 2) {
    const Tensor part = losses(begin, begin + 2);
    Watch watch(part, parameters, Need::kIndividual | Need::kNorms);
    (part.sum() / 6.0).backward();
    expect_matches_oracle(
        watch.finish(), oracle.select({begin, begin + 1}), Need::kIndividual | Need::kNorms, {});
  }
  EXPECT_TRUE(identical(gradients_of(parameters), unwatched));
}

TEST_F(Answers, ConcatenateInTheOrderOfTheParameters) {
  auto layer = linear(4, 3);
  const Tensor losses = losses_of(layer(random({5, 4})));
  const Parameters parameters = layer->named_parameters();
  const Gradients answers = gradients(losses, parameters, Need::kMean | Need::kIndividual);
  const Oracle oracle = differentiate(losses, parameters);
  const Tensor rows =
      at::cat({oracle.individual[0].flatten(1), oracle.individual[1].flatten(1)}, 1);
  expect_close(answers.concatenated(&ParameterGradients::individual), rows, "individual");
  expect_close(answers.concatenated(&ParameterGradients::mean), rows.mean(0), "mean");
}

TEST_F(Answers, AreFoundByName) {
  auto layer = linear(4, 3);
  const Gradients answers =
      gradients(losses_of(layer(random({5, 4}))), layer->named_parameters(), Need::kNorms);
  EXPECT_EQ(answers.at("bias").name, "bias");
  EXPECT_TRUE(answers.at("weight").norms.defined());
  EXPECT_ANY_THROW(answers.at("wieght"));
}

TEST_F(Answers, RequireNoGradient) {
  auto layer = linear(4, 3);
  GradientOptions options;
  options.directions = random_directions(layer->named_parameters());
  const Gradients answers =
      gradients(losses_of(layer(random({5, 4}))), layer->named_parameters(), all_needs(), options);
  for (const ParameterGradients& answer : answers.parameters) {
    EXPECT_FALSE(answer.individual.requires_grad());
    EXPECT_FALSE(answer.mean.requires_grad());
    EXPECT_FALSE(answer.norms.requires_grad());
  }
}

TEST_F(Answers, CoverageReadsAsATable) {
  auto layer = linear(4, 3);
  const Coverage report =
      coverage(losses_of(layer(random({5, 4}))), layer->named_parameters(), Need::kNorms);
  const std::string text = report.text();
  for (const char* word : {"weight", "bias", "exact-fast", "outer", "sum", "AddmmBackward0"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
  }
}

}  // namespace
}  // namespace flightdeck::tests
