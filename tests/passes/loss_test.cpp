// SPDX-License-Identifier: MIT
// Loss functions: individual losses [N], and scalar losses that only PyTorch has reduced.
#include "check_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

class IndividualLosses : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    first_ = on_device(nn::Linear(4, 5));
    second_ = on_device(nn::Linear(5, 3));
    hidden_ = first_(random({4, 4})).tanh();
    outputs_ = second_(hidden_);
    labels_ = random_integers({4}, 3);
    targets_ = random({4, 3});
    parameters_ = ParameterList().add("first", first_).add("second", second_);
  }

  nn::Linear first_ = nullptr;
  nn::Linear second_ = nullptr;
  Tensor hidden_;   // [N, 5]
  Tensor outputs_;  // [N, C]
  Tensor labels_;   // [N]
  Tensor targets_;  // [N, C]
  Parameters parameters_{std::vector<NamedParameter>{}};
};

class ScalarLoss : public IndividualLosses {};

Tensor cross_entropies(const Tensor& outputs, const Tensor& labels) {
  return F::cross_entropy(outputs, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

Tensor squared_errors(const Tensor& outputs, const Tensor& targets) {
  return F::mse_loss(outputs, targets, F::MSELossFuncOptions().reduction(torch::kNone));
}

Tensor binary_cross_entropies(const Tensor& outputs, const Tensor& targets) {
  return F::binary_cross_entropy_with_logits(
      outputs, targets, F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone));
}

TEST_F(IndividualLosses, MatchOracleForCrossEntropy) {
  check_model(cross_entropies(outputs_, labels_), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForWeightedCrossEntropyWithIgnoredLabel) {
  labels_ = at::tensor({0, 1, 2, 1}, at::kLong).to(test_device());
  const Tensor weight = at::tensor({0.5, 1.0, 3.0}, at::kDouble).to(test_device());
  const Tensor losses = F::cross_entropy(
      outputs_,
      labels_,
      F::CrossEntropyFuncOptions().weight(weight).ignore_index(2).reduction(torch::kNone));
  check_model(losses, parameters_);
}

TEST_F(IndividualLosses, MatchOracleForCrossEntropyWithLabelSmoothing) {
  const Tensor losses = F::cross_entropy(
      outputs_, labels_, F::CrossEntropyFuncOptions().label_smoothing(0.1).reduction(torch::kNone));
  check_model(losses, parameters_);
}

TEST_F(IndividualLosses, MatchOracleForCrossEntropyWithProbabilities) {
  check_model(cross_entropies(outputs_, targets_.softmax(1)), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForNegativeLogLikelihood) {
  const Tensor losses = F::nll_loss(
      outputs_.log_softmax(1), labels_, F::NLLLossFuncOptions().reduction(torch::kNone));
  check_model(losses, parameters_);
}

TEST_F(IndividualLosses, MatchOracleForGatheredLogProbabilities) {
  check_model(-outputs_.log_softmax(1).gather(1, labels_.unsqueeze(1)).squeeze(1), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForMeanSquaredErrorPerSample) {
  check_model(squared_errors(outputs_, targets_).mean(1), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForSummedSquaredErrorPerSample) {
  check_model(squared_errors(outputs_, targets_).sum(1), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForBinaryCrossEntropy) {
  check_model(binary_cross_entropies(outputs_, targets_.sigmoid()).mean(1), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForBinaryCrossEntropyWithPositiveWeight) {
  const Tensor weight = at::tensor({0.5, 1.0, 3.0}, at::kDouble).to(test_device());
  const Tensor losses = F::binary_cross_entropy_with_logits(
      outputs_,
      (targets_ > 0.0).to(at::kDouble),
      F::BinaryCrossEntropyWithLogitsFuncOptions().pos_weight(weight).reduction(torch::kNone));
  check_model(losses.sum(1), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForSmoothL1) {
  const Tensor losses =
      F::smooth_l1_loss(outputs_, targets_, F::SmoothL1LossFuncOptions(torch::kNone));
  check_model(losses.sum(1), parameters_);
}

TEST_F(IndividualLosses, MatchOracleForHuberL1AndDivergence) {
  const Tensor huber =
      F::huber_loss(outputs_, targets_, F::HuberLossFuncOptions().reduction(torch::kNone));
  const Tensor absolute =
      F::l1_loss(outputs_, targets_, F::L1LossFuncOptions().reduction(torch::kNone));
  const Tensor divergence = F::kl_div(
      outputs_.log_softmax(1), targets_.softmax(1), F::KLDivFuncOptions().reduction(torch::kNone));
  check_model((huber + absolute + divergence).sum(1), parameters_, Path::kExact);
}

TEST_F(IndividualLosses, MatchOracleForTokenLossesAveragedPerSequence) {
  auto layer = on_device(nn::Linear(4, 5));
  const Tensor logits = layer(random({3, 6, 4}));
  const Tensor losses =
      cross_entropies(logits.view({18, 5}), random_integers({18}, 5)).view({3, 6}).mean(1);
  check_model(losses, layer->named_parameters());
}

TEST_F(IndividualLosses, MatchOracleForTimeMajorTokenLossesAveragedPerSequence) {
  auto layer = on_device(nn::Linear(4, 5));
  const Tensor logits = layer(random({6, 3, 4}));  // [T, N, C]
  const Tensor losses =
      cross_entropies(logits.view({18, 5}), random_integers({18}, 5)).view({6, 3}).mean(0);
  check_model(losses, layer->named_parameters());
}

TEST_F(IndividualLosses, MatchOracleForTokenLossesWithPaddingLeftOut) {
  auto layer = on_device(nn::Linear(4, 5));
  const Tensor logits = layer(random({3, 4, 4}));
  const Tensor mask = at::tensor({1., 1., 1., 1., 1., 1., 0., 0., 1., 0., 0., 0.}, at::kDouble)
                          .view({3, 4})
                          .to(test_device());
  const Tensor tokens =
      cross_entropies(logits.view({12, 5}), random_integers({12}, 5)).view({3, 4});
  check_model((tokens * mask).sum(1) / mask.sum(1), layer->named_parameters());
}

TEST_F(IndividualLosses, MatchOracleForCrossEntropyPerPixel) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)));
  const Tensor logits = layer(random({3, 2, 4, 5}));
  check_model(cross_entropies(logits, random_integers({3, 4, 5}, 3)).mean({1, 2}),
              layer->named_parameters());
}

TEST_F(IndividualLosses, MatchOracleForSeveralTermsPerSample) {
  auto head = on_device(nn::Linear(5, 2));
  const Tensor losses = cross_entropies(outputs_, labels_) +
                        0.3 * squared_errors(head(hidden_), random({4, 2})).mean(1) +
                        0.01 * hidden_.abs().sum(1);
  check_model(losses,
              ParameterList().add("first", first_).add("second", second_).add("head", head));
}

TEST_F(IndividualLosses, MatchOracleWhenWeightedPerSampleInsideTheLoss) {
  const Tensor weights = at::tensor({0.1, 2.0, 1.0, 0.5}, at::kDouble).to(test_device());
  check_model(cross_entropies(outputs_, labels_) * weights, parameters_);
}

TEST_F(IndividualLosses, MatchOracleWhenSomeSamplesAreMaskedOut) {
  const Tensor mask = at::tensor({1.0, 0.0, 1.0, 0.0}, at::kDouble).to(test_device());
  check_model(cross_entropies(outputs_, labels_) * mask, parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForMeanCrossEntropy) {
  check_scalar_loss(F::cross_entropy(outputs_, labels_),
                    Reduction::kMean,
                    cross_entropies(outputs_, labels_),
                    parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForSummedCrossEntropy) {
  check_scalar_loss(
      F::cross_entropy(outputs_, labels_, F::CrossEntropyFuncOptions().reduction(torch::kSum)),
      Reduction::kSum,
      cross_entropies(outputs_, labels_),
      parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForClassWeightedMean) {
  // PyTorch divides by the sum of the labels' weights: l_n = N w_n / (sum of w) times the entropy.
  const Tensor weight = at::tensor({0.5, 1.0, 3.0}, at::kDouble).to(test_device());
  const Tensor factors = weight.index_select(0, labels_);
  check_scalar_loss(
      F::cross_entropy(outputs_, labels_, F::CrossEntropyFuncOptions().weight(weight)),
      Reduction::kMean,
      cross_entropies(outputs_, labels_) * factors * (4.0 / factors.sum()),
      parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForMeanSquaredError) {
  check_scalar_loss(F::mse_loss(outputs_, targets_),
                    Reduction::kMean,
                    squared_errors(outputs_, targets_).mean(1),
                    parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForSummedSquaredError) {
  check_scalar_loss(F::mse_loss(outputs_, targets_, F::MSELossFuncOptions().reduction(torch::kSum)),
                    Reduction::kSum,
                    squared_errors(outputs_, targets_).sum(1),
                    parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForMeanBinaryCrossEntropy) {
  check_scalar_loss(F::binary_cross_entropy_with_logits(outputs_, targets_.sigmoid()),
                    Reduction::kMean,
                    binary_cross_entropies(outputs_, targets_.sigmoid()).mean(1),
                    parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForSummedBinaryCrossEntropy) {
  check_scalar_loss(F::binary_cross_entropy_with_logits(
                        outputs_,
                        targets_.sigmoid(),
                        F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kSum)),
                    Reduction::kSum,
                    binary_cross_entropies(outputs_, targets_.sigmoid()).sum(1),
                    parameters_);
}

TEST_F(ScalarLoss, MatchesOracleForMeanOverTokens) {
  auto layer = on_device(nn::Linear(4, 5));
  const Tensor logits = layer(random({3, 6, 4})).view({18, 5});
  const Tensor labels = random_integers({18}, 5);
  check_scalar_loss(F::cross_entropy(logits, labels),
                    Reduction::kMean,
                    cross_entropies(logits, labels).view({3, 6}).mean(1),
                    layer->named_parameters());
}

TEST_F(ScalarLoss, MatchesOracleForMeanOfIndividualLosses) {
  const Tensor losses = cross_entropies(outputs_, labels_);
  check_scalar_loss(losses.mean(), Reduction::kMean, losses, parameters_);
}

TEST_F(ScalarLoss, GivesEachSampleThePenaltyOnParameters) {
  Tensor penalty = at::zeros({}, doubles());
  for (const NamedParameter& parameter : parameters_) {
    penalty = penalty + 0.05 * parameter.tensor.square().sum();
  }
  check_scalar_loss(F::cross_entropy(outputs_, labels_) + penalty,
                    Reduction::kMean,
                    cross_entropies(outputs_, labels_) + penalty,
                    parameters_);
}

}  // namespace
}  // namespace flightdeck::tests
