// SPDX-License-Identifier: MIT
// Terms of the losses that have one value for all samples: part of every row, whatever ops they are
// made of, or left out of all if the caller asks for it.
#include <torch/torch.h>

#include "check_model.h"
#include "errors.h"
#include "passes/small_models.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

using Term = std::function<Tensor(const Tensor& v, const Tensor& s)>;

struct NamedTerm {
  const char* name;
  Term term;
};

std::ostream& operator<<(std::ostream& out, const NamedTerm& term) { return out << term.name; }

// Of a vector v [3, 4] and a scalar s [].
const std::vector<NamedTerm>& terms() {
  static const std::vector<NamedTerm> all{
      {"multiple", [](const Tensor&, const Tensor& s) { return 3 * s; }},
      {"itself", [](const Tensor&, const Tensor& s) { return s; }},
      {"product", [](const Tensor&, const Tensor& s) { return s * s; }},
      {"exponential", [](const Tensor&, const Tensor& s) { return s.exp(); }},
      {"squares", [](const Tensor& v, const Tensor&) { return v.pow(2).sum(); }},
      {"norm", [](const Tensor& v, const Tensor&) { return v.norm(); }},
      {"absolutes", [](const Tensor& v, const Tensor&) { return v.abs().sum(); }},
      {"dot", [](const Tensor& v, const Tensor&) { return v.flatten().dot(v.flatten()); }},
      {"entry", [](const Tensor& v, const Tensor&) { return v[0][1]; }},
      {"logsumexp", [](const Tensor& v, const Tensor&) { return v.flatten().logsumexp(0); }},
      {"mixture", [](const Tensor& v, const Tensor& s) { return 2 * s.exp() + v.sum(); }},
      {"trace of products", [](const Tensor& v, const Tensor&) { return v.mm(v.t()).trace(); }},
      {"custom chain",
       [](const Tensor& v, const Tensor& s) { return (v.tanh() * s).pow(2).mean().sqrt(); }},
      {"as a vector of one",
       [](const Tensor& v, const Tensor&) { return v.pow(2).sum().view({1}); }},
  };
  return all;
}

class SharedTermsTest : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    v_ = random_parameter({3, 4});
    s_ = random_parameter({});
    w_ = random_parameter({4, 2});
    x_ = random({5, 4});
    c_ = random({3});
    parameters_ = {{"v", v_}, {"s", s_}, {"w", w_}};
  }
  // Uses v in the model too, so that rows of both kinds meet in one parameter.
  Tensor data() const { return (at::linear(x_, v_).tanh() * c_).sum(1) + x_.mm(w_).pow(2).sum(1); }
  std::vector<NamedParameter> parameters_;
  // Leaves out what all samples share; `size` is that of a scalar loss.
  Batch without_terms(const Tensor& losses, int64_t size = 0) const {
    BatchOptions options;
    options.shared_terms = SharedTerms::kLeaveOut;
    options.batch_size = size;
    return {losses, parameters_, options};
  }

  Tensor v_, s_, w_, x_, c_;
};

class EveryTerm : public SharedTermsTest, public ::testing::WithParamInterface<NamedTerm> {};

TEST_P(EveryTerm, IsPartOfTheRowsAsAutogradHasIt) {
  check_model(data() + GetParam().term(v_, s_), parameters_, Path::kExact);
  check_model(0.5 * (data() - 2 * GetParam().term(v_, s_)), parameters_, Path::kExact);
}

TEST_P(EveryTerm, IsLeftOutOfTheRowsIfAsked) {
  GradientOptions options;
  options.directions = random_directions(parameters_);
  const Gradients answers =
      gradients(without_terms(data() + GetParam().term(v_, s_)), all_needs(), options);
  expect_matches_oracle(
      answers, differentiate(data(), parameters_), all_needs(), options.directions);
  ASSERT_FALSE(answers.remarks.empty());
  expect_mentions(answers.remarks.front(), {"left out", "Backward|AccumulateGrad"});
  EXPECT_TRUE(answers.coverage.leaves_out_shared_terms);
  expect_mentions(answers.coverage.text(), {"left out"});
}

TEST_P(EveryTerm, OfAScalarLossBelongsToAllSamplesAlike) {
  const Tensor term = GetParam().term(v_, s_).reshape({});
  check_scalar_loss(
      data().mean() + term, Reduction::kMean, data() + term, parameters_, Path::kExact);
  check_scalar_loss(
      data().sum() + term, Reduction::kSum, data() + term / 5, parameters_, Path::kExact);
}

TEST_P(EveryTerm, OfAScalarLossIsLeftOutIfAsked) {
  const Tensor loss = data().mean() + GetParam().term(v_, s_).reshape({});
  const Gradients answers = gradients(without_terms(loss, 5), Need::kIndividual);
  expect_matches_oracle(answers, differentiate(data(), parameters_), Need::kIndividual, {});
}

TEST_P(EveryTerm, IsPartOfTheHessianAndItsGradient) {
  const Tensor losses = data() + GetParam().term(v_, s_);
  const std::vector<Tensor> leaves{v_, s_, w_};
  const auto flat = [](const std::vector<Tensor>& parts, const std::vector<Tensor>& like) {
    std::vector<Tensor> lines;
    for (size_t p = 0; p < like.size(); ++p) {
      lines.push_back((parts[p].defined() ? parts[p] : at::zeros_like(like[p])).reshape({-1}));
    }
    return at::cat(lines);
  };
  const Tensor gradient =
      flat(torch::autograd::grad({losses.mean()}, leaves, {}, true, true, true), leaves);
  std::vector<Tensor> lines;
  for (int64_t d = 0; d < gradient.size(0); ++d) {
    lines.push_back(
        flat(torch::autograd::grad({gradient[d]}, leaves, {}, true, false, true), leaves));
  }
  const Tensor hessian = at::stack(lines);
  const auto op = curvature_operator(losses, parameters_, CurvatureKind::kHessian);
  expect_close(op->gradient(), gradient.detach(), "gradient");
  expect_close(op->multiply(at::eye(hessian.size(0), doubles())), hessian, "Hessian");
  const Curvature answers =
      curvature(losses, parameters_, CurvatureNeed::kDiagHessian | CurvatureNeed::kTraceHessian);
  expect_close(
      answers.concatenated(&ParameterCurvature::diag_hessian), hessian.diagonal(), "diagonal");
  expect_close(answers.total.trace_hessian, hessian.trace(), "trace");
}

INSTANTIATE_TEST_SUITE_P(All, EveryTerm, ::testing::ValuesIn(terms()));

TEST_F(SharedTermsTest, WithALearnedVarianceTheRowsAreAutograds) {
  const Tensor squares = (x_.mm(w_)).pow(2).sum(1);
  check_model(squares * (-s_).exp() + 3 * s_, parameters_, Path::kExact);
  const auto op =
      curvature_operator(squares * (-s_).exp() + 3 * s_, parameters_, CurvatureKind::kHessian);
  const Tensor slope = (-squares.mean() * (-s_).exp() + 3).detach();
  expect_close(op->gradient()[v_.numel()], slope, "slope of the logarithm of the variance");
}

TEST_F(SharedTermsTest, WeightedPerSampleAreNotSharedAndStay) {
  const Tensor losses = data() + random({5}) * v_.pow(2).sum();
  const Gradients answers = gradients(without_terms(losses), Need::kIndividual);
  expect_matches_oracle(answers, differentiate(losses, parameters_), Need::kIndividual, {});
  EXPECT_FALSE(answers.coverage.leaves_out_shared_terms);
}

TEST_F(SharedTermsTest, ComputedFromSamplesAreNotLeftOut) {
  const Tensor hidden = at::linear(x_, v_);
  const Tensor losses = losses_of(hidden) + hidden.pow(2).mean();
  const Gradients answers = gradients(without_terms(losses), Need::kIndividual);
  expect_matches_oracle(answers, differentiate(losses, parameters_), Need::kIndividual, {});
  EXPECT_FALSE(answers.coverage.couplings.empty());
}

TEST_F(SharedTermsTest, AreLeftOutForOneSampleToo) {
  x_ = random({1, 4});
  const Gradients answers =
      gradients(without_terms(data() + v_.pow(2).sum() + s_.exp()), Need::kIndividual);
  expect_matches_oracle(answers, differentiate(data(), parameters_), Need::kIndividual, {});
}

TEST_F(SharedTermsTest, AreNoPartOfTheGgnAndARemarkSaysSo) {
  const Tensor data_losses = (x_.mm(w_) - random({5, 2})).pow(2).sum(1);
  const Tensor losses = data_losses + w_.exp().sum();
  const Curvature with = curvature(losses, parameters_, CurvatureNeed::kDiagGgn);
  const Curvature without = curvature(data_losses, parameters_, CurvatureNeed::kDiagGgn);
  expect_close(with.concatenated(&ParameterCurvature::diag_ggn),
               without.concatenated(&ParameterCurvature::diag_ggn),
               "diagonal");
  ASSERT_FALSE(with.remarks.empty());
  expect_mentions(with.remarks.front(), {"GGN", "all samples share", "SumBackward0"});
}

TEST_F(SharedTermsTest, ArePartOfTheGradientsOfVivit) {
  const Tensor losses = (x_.mm(w_) - random({5, 2})).pow(2).sum(1) + w_.exp().sum() + 2 * s_;
  const Vivit vivit(losses, parameters_);
  const Oracle oracle = differentiate(losses, parameters_);
  std::vector<Tensor> rows;
  for (const Tensor& part : oracle.individual) rows.push_back(part.reshape({5, -1}));
  const Tensor g = at::cat(rows, 1);
  expect_close(vivit.gradient_gram(), g.mm(g.t()), "pairwise products");
}

TEST_F(SharedTermsTest, CostOnePassHoweverManySamplesThereAre) {
  const Gradients answers =
      gradients(data() + v_.pow(2).sum().sqrt(), parameters_, Need::kNorms | Need::kSecondMoment);
  EXPECT_EQ(answers.coverage.parameters[0].level, CoverageLevel::kExactFast);
  bool is_shared = false;
  for (const UseCoverage& use : answers.coverage.parameters[0].uses)
    is_shared |= use.form == "shared";
  EXPECT_TRUE(is_shared);
}

}  // namespace
}  // namespace flightdeck::tests
