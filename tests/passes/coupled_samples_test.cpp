// SPDX-License-Identifier: MIT
// Losses that depend on several samples: rows are the gradients of losses[n], and it is said which
// op couples the samples. A scalar that is no mean or sum over samples is refused.
#include <torch/torch.h>

#include "check_model.h"
#include "errors.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

class Coupling : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    w_ = random_parameter({4, 3});
    b_ = random_parameter({3});
    parameters_ = {{"w", w_}, {"b", b_}};
    z_ = at::addmm(b_, random({5, 4}), w_);
  }

  void expect_said(const Tensor& losses, const std::string& op) {
    const Gradients answers = gradients(losses, parameters_, Need::kIndividual);
    expect_matches_oracle(answers, differentiate(losses, parameters_), Need::kIndividual, {});
    EXPECT_EQ(answers.coverage.couplings, std::vector<std::string>{op});
    std::string all;
    for (const std::string& remark : answers.remarks) all += remark + "\n";
    expect_mentions(all, {"coupled", op, "norm", "noise scale"});
    expect_mentions(answers.coverage.text(), {"coupled by " + op});
  }

  void expect_refused(const Tensor& loss, const std::vector<std::string>& words) {
    expect_error([&] { return gradients(scalar(loss), Need::kNorms); }, words);
  }

  Batch scalar(const Tensor& loss, Reduction reduction = Reduction::kMean) const {
    BatchOptions options;
    options.batch_size = 5;
    options.reduction = reduction;
    return {loss, parameters_, options};
  }

  std::vector<NamedParameter> parameters_;
  Tensor w_, b_, z_;
};

TEST_F(Coupling, OfSamplesByCentringIsSaid) {
  expect_said(losses_of(z_ - z_.mean(0)), "MeanBackward1");
}

TEST_F(Coupling, OfSamplesByBatchNormByHandIsSaid) {
  const Tensor centred = z_ - z_.mean(0);
  const Gradients answers = gradients(
      losses_of(centred / (centred.pow(2).mean(0) + 1e-3).sqrt()), parameters_, Need::kNorms);
  EXPECT_FALSE(answers.coverage.couplings.empty());
}

TEST_F(Coupling, OfSamplesBySoftmaxOverTheBatchIsSaid) {
  expect_said(losses_of(z_.softmax(0)), "SoftmaxBackward0");
}

TEST_F(Coupling, OfSamplesByRunningSumsIsSaid) {
  expect_said(losses_of(z_.cumsum(0)), "CumsumBackward0");
}

TEST_F(Coupling, OfSamplesByNegativesInTheBatchIsSaid) {
  expect_said(z_.mm(z_.t()).logsumexp(1), "MmBackward0");
}

TEST_F(Coupling, OfSamplesByPairwiseDifferencesIsSaid) {
  const Tensor differences = z_.unsqueeze(1) - z_.unsqueeze(0);
  expect_said(differences.pow(2).sum({1, 2}), "SubBackward0");
}

TEST_F(Coupling, OfSamplesByATermOfTheWholeBatchIsSaid) {
  expect_said(losses_of(z_) + z_.pow(2).mean(), "MeanBackward0");
}

TEST_F(Coupling, InASecondTowerIsHintedAt) {
  const Tensor weight = random_parameter({4, 3});
  const Tensor other = random({5, 4}).mm(weight);
  const Tensor losses = z_.mm(other.t()).logsumexp(1);
  parameters_.push_back({"other", weight});
  const Gradients answers = gradients(losses, parameters_, Need::kNorms);
  EXPECT_TRUE(answers.coverage.couplings.empty());
  ASSERT_EQ(answers.remarks.size(), 1);
  expect_mentions(answers.remarks[0], {"MmBackward0", "couples"});
}

TEST_F(Coupling, BelowAnOpWithoutARuleIsSaidToBeUnknown) {
  const Tensor losses = at::log_softmax(z_.mm(z_.t()), 1).diagonal().neg();
  const Gradients answers = gradients(losses, parameters_, Need::kIndividual);
  expect_matches_oracle(answers, differentiate(losses, parameters_), Need::kIndividual, {});
  ASSERT_EQ(answers.remarks.size(), 1);
  expect_mentions(answers.remarks[0], {"DiagonalBackward0", "couple", "not known"});
}

TEST_F(Coupling, IsNotSaidOfPlainModels) {
  for (const Tensor& losses : {losses_of(z_),
                               losses_of(z_.softmax(1)),
                               losses_of(z_ - z_.mean(1, true)),
                               losses_of(z_.cumsum(1)),
                               losses_of(z_) + w_.pow(2).sum()}) {
    const Gradients answers = gradients(losses, parameters_, Need::kNorms);
    EXPECT_TRUE(answers.coverage.couplings.empty());
    EXPECT_TRUE(answers.remarks.empty());
  }
}

TEST_F(Coupling, InAScalarIsRefused) {
  const Tensor squares = z_.pow(2);
  expect_refused(squares.mean().sqrt(), {"SqrtBackward0", "couples", "individual losses [N]"});
  expect_refused(squares.mean().log(), {"LogBackward0", "couples"});
  expect_refused(squares.sum(1).logsumexp(0), {"LogsumexpBackward0", "couples"});
  expect_refused(squares.mean() * z_.mean(), {"MulBackward0", "couples"});
  expect_refused(squares.mean().pow(2), {"PowBackward0", "couples"});
  expect_refused(z_.norm(), {"NormBackward|LinalgVectorNormBackward0", "couples"});
}

using ReadingAScalar = Coupling;

TEST_F(ReadingAScalar, NoticesASumSaidToBeAMean) {
  const Tensor losses = losses_of(z_);
  expect_error([&] { return gradients(scalar(losses.sum()), Need::kNorms); },
               {"kMean", "SumBackward0", "5 samples", "set it to kSum"});
  const Batch wrong = scalar(losses.mean(), Reduction::kSum);
  expect_error([&] { return gradients(wrong, Need::kNorms); },
               {"kSum", "MeanBackward0", "set it to kMean"});
  for (const Batch& right : {scalar(losses.sum(), Reduction::kSum),
                             scalar(losses.sum() / 5),
                             scalar(losses.mean() / 4)}) {
    EXPECT_NO_THROW(static_cast<void>(gradients(right, Need::kNorms)));
  }
}

TEST_F(ReadingAScalar, TimesALearnedFactorGivesRowsBelowTheSamplesAlone) {
  const Tensor s = random_parameter({});
  const Tensor losses = losses_of(z_);
  const Gradients answers = gradients(scalar(losses.mean() * (-s).exp()), Need::kIndividual);
  expect_matches_oracle(
      answers, differentiate(losses * (-s).exp(), parameters_), Need::kIndividual, {});
  parameters_ = {{"s", s}};
  const Batch of_factor = scalar(losses.mean() * (-s).exp());
  expect_error([&] { return gradients(of_factor, Need::kNorms); },
               {"MulBackward0", "scalar", "individual losses [N]"});
}

TEST_F(ReadingAScalar, OfParametersAloneIsRefused) {
  const Tensor entries = random_parameter({5});
  parameters_ = {{"entries", entries}};
  const Batch batch = scalar((entries - random({5})).pow(2).mean());
  expect_error([&] { return gradients(batch, Need::kNorms); },
               {"no samples", "5", "individual losses [N]"});
}

}  // namespace
}  // namespace flightdeck::tests
