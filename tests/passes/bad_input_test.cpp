// SPDX-License-Identifier: MIT
// Bad input gets an error that names the thing and the remedy and leaves the user's graph intact.
#include <cmath>
#include <limits>

#include "check_model.h"
#include "errors.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

class BadLosses : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    layer_ = on_device(nn::Linear(4, 3));
    outputs_ = layer_(random({6, 4}));
  }

  Parameters parameters() const { return layer_->named_parameters(); }

  // The graph must still serve the user after an error, and `.grad` must be untouched by it.
  void expect_graph_intact(const Tensor& loss) {
    for (const Tensor& gradient : gradients_of(parameters())) EXPECT_FALSE(gradient.defined());
    EXPECT_NO_THROW(loss.sum().backward());
    EXPECT_TRUE(layer_->weight.grad().defined());
  }

  nn::Linear layer_ = nullptr;
  Tensor outputs_;  // [6, 3]
};
class BadOptions : public BadLosses {};
class TrainingModeBatchNorm : public SeededTest {};
class NonFiniteLosses : public SeededTest {};

TEST_F(BadLosses, WithTwoDimensionsAreRefused) {
  const Tensor losses = outputs_.square();
  const std::vector<std::string> words = {"losses", "6, 3", "2", "mean|sum|reduce"};
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kNorms); }), words);
  expect_mentions(error_of([&] { Watch watch(losses, parameters(), Need::kNorms); }), words);
  expect_graph_intact(losses);
}

TEST_F(BadLosses, ThatAreOneScalarOfTwoSizesAskForTheBatchSize) {
  const Tensor loss = outputs_.square().mean() + outputs_.slice(0, 0, 1).square().sum();
  expect_mentions(error_of([&] { return gradients(loss, parameters(), Need::kNorms); }),
                  {"loss", "batch_size"});
  expect_graph_intact(loss);
}

TEST_F(BadLosses, WithoutGraphAreRefused) {
  const Tensor losses = outputs_.square().sum(1).detach();
  const std::vector<std::string> words = {"losses", "graph|grad", "NoGrad|no_grad|detach|requires"};
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kNorms); }), words);
  expect_mentions(error_of([&] { Watch watch(losses, parameters(), Need::kNorms); }), words);
}

TEST_F(BadLosses, WhoseGraphWasFreedAreRefused) {
  const Tensor losses = outputs_.square().sum(1);
  losses.mean().backward();
  const std::vector<Tensor> before = gradients_of(parameters());
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kNorms); }),
                  {"freed", "retain_graph|before"});
  EXPECT_TRUE(identical(gradients_of(parameters()), before));
}

TEST_F(BadLosses, WithBatchSizeThatDoesNotDivideAreRefused) {
  const Tensor loss = F::cross_entropy(outputs_, random_integers({6}, 3));
  BatchOptions options;
  options.batch_size = 4;
  const Batch batch(loss, parameters(), options);
  expect_mentions(error_of([&] { return gradients(batch, Need::kNorms); }),
                  {"batch_size", "4", "6"});
  expect_graph_intact(loss);
}

TEST_F(BadLosses, WithBatchSizeThatContradictsTheirLengthAreRefused) {
  const Tensor losses = outputs_.square().sum(1);
  BatchOptions options;
  options.batch_size = 4;
  const Batch batch(losses, parameters(), options);
  expect_mentions(error_of([&] { return gradients(batch, Need::kNorms); }),
                  {"batch_size", "4", "6"});
  expect_graph_intact(losses);
}

TEST_F(BadLosses, WhoseSavedTensorWasModifiedInPlaceAreRefused) {
  Tensor hidden = random({6, 4}).tanh();
  const Tensor losses = layer_(hidden).square().sum(1);
  hidden.add_(1.0);
  const std::string message =
      error_of([&] { return gradients(losses, parameters(), Need::kNorms); });
  expect_mentions(message,
                  {"modified|in-place|inplace", "AddmmBackward0|weight", "clone|out-of-place"});
  for (const Tensor& gradient : gradients_of(parameters())) EXPECT_FALSE(gradient.defined());
}

TEST_F(BadLosses, WhoseActivationWasModifiedInPlaceAreRefused) {
  auto above = on_device(nn::Linear(3, 2));
  Tensor hidden = outputs_.sigmoid();
  const Tensor losses = above(hidden * 2.0).square().sum(1);
  hidden.mul_(0.5);
  const Parameters all = ParameterList().add("below", layer_).add("above", above);
  const std::string message = error_of([&] { return gradients(losses, all, Need::kNorms); });
  expect_mentions(message, {"modified|in-place|inplace", "SigmoidBackward0", "clone|out-of-place"});
  for (const Tensor& gradient : gradients_of(all)) EXPECT_FALSE(gradient.defined());
}

TEST_F(BadOptions, EmptyParameterListIsRefused) {
  const Tensor losses = outputs_.square().sum(1);
  expect_mentions(
      error_of([&] { return gradients(losses, std::vector<NamedParameter>{}, Need::kNorms); }),
      {"parameter", "empty|no parameters|pass"});
  expect_graph_intact(losses);
}

TEST_F(BadOptions, ParameterWithoutGradientHasZeroRowsAndIsReported) {
  const Tensor losses = outputs_.square().sum(1);
  const Parameters asked = ParameterList().add("layer", layer_).add("constant", random({3}));
  const Gradients result = gradients(losses, asked, Need::kNorms);
  EXPECT_EQ(result.at("constant").norms.abs().max().item<double>(), 0);
  const ParameterCoverage& covered = result.coverage.parameters.back();
  EXPECT_EQ(covered.level, CoverageLevel::kUnused);
  EXPECT_NE(covered.reason.find("does not require a gradient"), std::string::npos);
  expect_graph_intact(losses);
}

TEST_F(BadOptions, MissingDirectionsAreRefused) {
  const Tensor losses = outputs_.square().sum(1);
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kDots); }),
                  {"directions", "0", "2"});
  expect_graph_intact(losses);
}

TEST_F(BadOptions, TooFewDirectionsAreRefused) {
  const Tensor losses = outputs_.square().sum(1);
  GradientOptions options;
  options.directions = {random({2, 3, 4})};
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kDots, options); }),
                  {"directions", "1", "2"});
  expect_graph_intact(losses);
}

TEST_F(BadOptions, DirectionsOfWrongShapeAreRefusedByName) {
  const Tensor losses = outputs_.square().sum(1);
  GradientOptions options;
  options.directions = {random({2, 4, 3}), random({2, 3})};
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kDots, options); }),
                  {"direction", "weight", "2, 4, 3", "3, 4"});
  expect_graph_intact(losses);
}

TEST_F(BadOptions, DirectionsOfUnequalCountAreRefused) {
  const Tensor losses = outputs_.square().sum(1);
  GradientOptions options;
  options.directions = {random({2, 3, 4}), random({5, 3})};
  expect_mentions(error_of([&] { return gradients(losses, parameters(), Need::kDots, options); }),
                  {"direction", "2", "5"});
  expect_graph_intact(losses);
}

TEST_F(BadOptions, SamplesOutOfRangeAreRefused) {
  const Tensor losses = outputs_.square().sum(1);
  for (int64_t sample : {int64_t{6}, int64_t{-1}}) {
    const Batch batch = Batch(losses, parameters()).of({0, sample});
    expect_mentions(error_of([&] { return gradients(batch, Need::kNorms); }),
                    {"sample", std::to_string(sample), "6"});
  }
  expect_graph_intact(losses);
}

// Linear, batch norm, linear, in training mode, with the statistics held constant or not.
struct NormalizedNet {
  NormalizedNet() {
    torch::NoGradGuard guard;
    norm->weight.normal_();
    norm->bias.normal_();
  }

  Tensor losses(const Tensor& input, bool has_constant_statistics) {
    const Tensor hidden = first(input);
    if (!has_constant_statistics) return head(norm(hidden));
    const Tensor mean = hidden.detach().mean(0);
    const Tensor deviation = (hidden.detach().var(0, /*unbiased=*/false) + 1e-5).sqrt();
    return head((hidden - mean) / deviation * norm->weight + norm->bias);
  }

  Tensor head(const Tensor& normalised) {
    const Tensor outputs = second(normalised.tanh());
    return (outputs * outputs).sum(1) + outputs.sin().sum(1);
  }

  Parameters parameters() const {
    return ParameterList().add("first", first).add("norm", norm).add("second", second);
  }

  nn::Linear first = on_device(nn::Linear(4, 5));
  nn::BatchNorm1d norm = on_device(nn::BatchNorm1d(5));
  nn::Linear second = on_device(nn::Linear(5, 3));
};

TEST_F(TrainingModeBatchNorm, IsRefusedByNameWithBothPolicies) {
  NormalizedNet net;
  const Tensor losses = net.losses(random({6, 4}), false);
  const std::vector<std::string> words = {"norm.weight", "kConstantStatistics", "kSplitGradient"};
  expect_mentions(error_of([&] { return gradients(losses, net.parameters(), Need::kNorms); }),
                  words);
  EXPECT_NO_THROW(losses.mean().backward());
}

TEST_F(TrainingModeBatchNorm, RefusedUnderWatchLeavesTheBackwardAlone) {
  NormalizedNet net;
  const Tensor losses = net.losses(random({6, 4}), false);
  losses.mean().backward({}, /*retain_graph=*/true);
  const std::vector<Tensor> unwatched = gradients_of(net.parameters());
  clear_gradients(net.parameters());
  const std::string message = error_of([&] {
    Watch watch(losses, net.parameters(), Need::kNorms);
    losses.mean().backward({}, /*retain_graph=*/true);
    static_cast<void>(watch.finish());
  });
  expect_mentions(message, {"norm.weight", "kConstantStatistics", "kSplitGradient"});
  clear_gradients(net.parameters());
  losses.mean().backward();
  EXPECT_TRUE(identical(gradients_of(net.parameters()), unwatched));
}

TEST_F(TrainingModeBatchNorm, InTwoDimensionsIsRefusedToo) {
  auto norm = on_device(nn::BatchNorm2d(2));
  const Tensor losses = losses_of(norm(random({4, 2, 3, 3})));
  expect_mentions(
      error_of([&] { return gradients(losses, ParameterList().add("norm", norm), Need::kNorms); }),
      {"norm.weight", "kConstantStatistics", "kSplitGradient"});
}

TEST_F(TrainingModeBatchNorm, WithSplitGradientHasRowsThatSumToTheGradient) {
  NormalizedNet net;
  const Tensor losses = net.losses(random({6, 4}), false);
  losses.mean().backward({}, /*retain_graph=*/true);
  const std::vector<Tensor> expected = gradients_of(net.parameters());
  clear_gradients(net.parameters());

  BatchOptions options;
  options.batch_norm = BatchNormPolicy::kSplitGradient;
  const Gradients answers =
      gradients(Batch(losses, net.parameters(), options), Need::kIndividual | Need::kMean);
  // The bias before a normalisation has no gradient; its rounding is measured by its neighbour's.
  const double scale = expected[0].abs().max().item<double>();
  for (size_t i = 0; i < expected.size(); ++i) {
    const ParameterGradients& answer = answers.parameters[i];
    EXPECT_LE((answer.individual.mean(0) - expected[i]).abs().max().item<double>(),
              kTolerances.float64 * std::max(scale, expected[i].abs().max().item<double>()))
        << answer.name;
    EXPECT_LE((answer.mean - expected[i]).abs().max().item<double>(),
              kTolerances.float64 * std::max(scale, expected[i].abs().max().item<double>()))
        << answer.name;
  }
}

TEST_F(TrainingModeBatchNorm, WithSplitGradientIsTheOracleAboveTheNormalization) {
  NormalizedNet net;
  const Tensor losses = net.losses(random({6, 4}), false);
  const Parameters above = ParameterList().add("second", net.second);
  BatchOptions options;
  options.batch_norm = BatchNormPolicy::kSplitGradient;
  const Batch batch(losses, above, options);
  expect_matches_oracle(gradients(batch, Need::kIndividual | Need::kNorms),
                        differentiate(losses, above),
                        Need::kIndividual | Need::kNorms,
                        {});
}

TEST_F(TrainingModeBatchNorm, WithConstantStatisticsIsTheOracleOfDetachedStatistics) {
  NormalizedNet net;
  const Tensor input = random({6, 4});
  const Tensor losses = net.losses(input, false);
  const Oracle oracle = differentiate(net.losses(input, true), net.parameters());
  BatchOptions held;
  held.batch_norm = BatchNormPolicy::kConstantStatistics;
  const Batch batch(losses, net.parameters(), held);
  GradientOptions options;
  options.directions = random_directions(net.parameters());
  expect_matches_oracle(
      gradients(batch, all_needs(), options), oracle, all_needs(), options.directions);

  losses.mean().backward({}, /*retain_graph=*/true);
  const std::vector<Tensor> unwatched = gradients_of(net.parameters());
  clear_gradients(net.parameters());
  Watch watch(batch, all_needs(), options);
  losses.mean().backward();
  EXPECT_TRUE(identical(gradients_of(net.parameters()), unwatched));
  expect_matches_oracle(watch.finish(), oracle, all_needs(), options.directions);
}

TEST_F(TrainingModeBatchNorm, WithConstantStatisticsWorksForImages) {
  auto first = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)));
  auto norm = on_device(nn::BatchNorm2d(3));
  const Tensor input = random({4, 2, 4, 4});
  const Tensor weights = random({4, 3, 4, 4});
  const auto head = [&](const Tensor& x) { return (x.tanh() * weights).flatten(1).sum(1); };
  const Tensor hidden = first(input);
  const Tensor losses = head(norm(hidden));
  const Tensor fixed = hidden.detach();
  const Tensor mean = fixed.mean({0, 2, 3}, /*keepdim=*/true);
  const Tensor variance = (fixed - mean).square().mean({0, 2, 3}, /*keepdim=*/true);
  const Tensor normalised = (hidden - mean) / (variance + 1e-5).sqrt();
  const Tensor oracle_losses =
      head(normalised * norm->weight.view({3, 1, 1}) + norm->bias.view({3, 1, 1}));
  const Parameters parameters = ParameterList().add("first", first).add("norm", norm);
  BatchOptions held;
  held.batch_norm = BatchNormPolicy::kConstantStatistics;
  GradientOptions options;
  options.directions = random_directions(parameters);
  expect_matches_oracle(gradients(Batch(losses, parameters, held), all_needs(), options),
                        differentiate(oracle_losses, parameters),
                        all_needs(),
                        options.directions);
}

// A linear net in which the inputs of one sample are `bad`.
void expect_reported_and_contained(double bad, const std::string& word) {
  auto first = on_device(nn::Linear(4, 5));
  auto second = on_device(nn::Linear(5, 3));
  const Parameters parameters = ParameterList().add("first", first).add("second", second);
  Tensor input = random({4, 4});
  input[2].fill_(bad);
  const auto forward = [&](const Tensor& x) { return second(first(x)).square().sum(1); };
  const Tensor losses = forward(input);
  const Gradients answers = gradients(losses, parameters, Need::kIndividual | Need::kNorms);

  bool is_reported = false;
  for (const std::string& remark : answers.remarks) {
    is_reported = is_reported || remark.find(word) != std::string::npos;
  }
  EXPECT_TRUE(is_reported) << "no remark mentions " << word;
  // The other samples' rows are those of a batch without the bad sample.
  const Tensor others = at::tensor({0, 1, 3}, at::kLong).to(test_device());
  const Oracle oracle = differentiate(forward(input.index_select(0, others)), parameters);
  for (size_t i = 0; i < parameters.size(); ++i) {
    expect_close(answers.parameters[i].individual.index_select(0, others),
                 oracle.individual[i],
                 parameters[i].name);
    expect_close(answers.parameters[i].norms.index_select(0, others),
                 oracle.individual[i].flatten(1).norm(2, 1),
                 parameters[i].name);
    EXPECT_FALSE(std::isfinite(answers.parameters[i].norms[2].item<double>()));
  }

  Watch watch(losses, parameters, Need::kNorms);
  EXPECT_NO_THROW(losses.mean().backward());
  EXPECT_FALSE(watch.finish().remarks.empty());
}

TEST_F(NonFiniteLosses, NanIsReportedAndKeptToItsSample) {
  expect_reported_and_contained(std::numeric_limits<double>::quiet_NaN(), "finite");
}

TEST_F(NonFiniteLosses, InfinityIsReportedAndKeptToItsSample) {
  expect_reported_and_contained(std::numeric_limits<double>::infinity(), "finite");
}

}  // namespace
}  // namespace flightdeck::tests
