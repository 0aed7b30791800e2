// SPDX-License-Identifier: MIT
// Kronecker factors against their definitions, written out for chains of modules, and the operators
// made from them against dense matrices.
#include <cmath>

#include "curvature/chain_oracle.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

using Factors = KroneckerFactors ParameterCurvature::*;

void expect_factors(const Curvature& answers,
                    Factors field,
                    const std::vector<FactorOracle>& expected) {
  ASSERT_EQ(answers.parameters.size(), expected.size());
  for (const FactorOracle& oracle : expected) {
    const KroneckerFactors& factors = answers.at(oracle.name).*field;
    ASSERT_TRUE(factors.defined()) << oracle.name;
    EXPECT_FALSE(factors.is_corrected()) << oracle.name;
    expect_close(
        factors.output, oracle.output, "output factor of " + oracle.name, kCurvatureTolerance);
    ASSERT_EQ(factors.input.defined(), oracle.input.defined()) << oracle.name;
    if (!oracle.input.defined()) continue;
    expect_close(
        factors.input, oracle.input, "input factor of " + oracle.name, kCurvatureTolerance);
  }
}

class FactorsOfChain : public ChainTest {
 protected:
  Curvature ask(CurvatureNeeds what, const CurvatureOptions& options = {}) const {
    return curvature(model_.losses, model_.parameters, what, options);
  }
  Curvature ask(CurvatureNeeds what, WeightSharing sharing) const {
    CurvatureOptions options;
    options.weight_sharing = sharing;
    return ask(what, options);
  }
};

TEST_P(FactorsOfChain, FromTheExactLossHessianAreThoseOfTheDefinition) {
  for (WeightSharing sharing :
       {WeightSharing::kPatchSums, WeightSharing::kExpand, WeightSharing::kReduce}) {
    SCOPED_TRACE(static_cast<int>(sharing));
    expect_factors(
        ask(CurvatureNeed::kKflr, sharing), &ParameterCurvature::kflr, oracle().kflr(sharing));
  }
}

TEST_P(FactorsOfChain, FromTheAveragedRecursionAreThoseOfTheDefinition) {
  expect_factors(ask(CurvatureNeed::kKfra),
                 &ParameterCurvature::kfra,
                 oracle().kfra(WeightSharing::kPatchSums));
}

TEST_P(FactorsOfChain, AreTheSameWithStacksOfOneColumn) {
  BatchOptions options;
  options.memory.stack_bytes = 1;
  options.memory.scratch_bytes = 1;
  const Batch batch(model_.losses, model_.parameters, options);
  const Curvature answers = curvature(batch, CurvatureNeed::kKflr);
  expect_factors(answers, &ParameterCurvature::kflr, oracle().kflr(WeightSharing::kPatchSums));
}

TEST_P(FactorsOfChain, FromSampledGradientsApproachThoseFromTheLossHessian) {
  // About one part in sqrt(N M) is left of the spread of the draws; single entries have more.
  constexpr double kOfNorm = 0.15;
  for (WeightSharing sharing :
       {WeightSharing::kPatchSums, WeightSharing::kExpand, WeightSharing::kReduce}) {
    SCOPED_TRACE(static_cast<int>(sharing));
    CurvatureOptions options;
    options.weight_sharing = sharing;
    options.mc_samples = 2000;
    const Curvature answers = ask(CurvatureNeed::kKfac, options);
    for (const FactorOracle& exact : oracle().kflr(sharing)) {
      const KroneckerFactors& factors = answers.at(exact.name).kfac;
      ASSERT_TRUE(factors.defined()) << exact.name;
      EXPECT_LE((factors.output - exact.output).norm().item<double>(),
                kOfNorm * exact.output.norm().item<double>())
          << exact.name;
      if (exact.input.defined()) {
        expect_close(factors.input, exact.input, exact.name, kCurvatureTolerance);
      }
    }
  }
}

TEST_P(FactorsOfChain, OfTheBiasAreItsBlockOfTheGgn) {
  for (const std::vector<int64_t>& samples : {std::vector<int64_t>{}, {3, 0}}) {
    const Batch batch = Batch(model_.losses, model_.parameters).of(samples);
    const Curvature answers = curvature(batch, CurvatureNeed::kKflr);
    const Tensor ggn = dense().select(samples).ggn();
    // Every module has its weight and then its bias.
    for (size_t i = 1; i < model_.parameters.size(); i += 2) {
      const Tensor expected = block(ggn, model_.parameters, {i});
      const std::string& name = answers.parameters[i].name;
      expect_close(answers.parameters[i].kflr.output, expected, name, kCurvatureTolerance);
      expect_close(answers.parameters[i - 1].kflr.output, expected, name, kCurvatureTolerance);
    }
  }
}

// Columns are orthonormal and make the factor diagonal.
void expect_eigenbasis(const Tensor& basis, const Tensor& factor, const std::string& what) {
  const Tensor identity = at::eye(factor.size(0), factor.options());
  expect_close(basis.t().matmul(basis), identity, what, kCurvatureTolerance);
  const Tensor turned = basis.t().matmul(factor).matmul(basis);
  const Tensor diagonal = at::diag_embed(turned.diagonal());
  EXPECT_LE((turned - diagonal).abs().max().item<double>(),
            kCurvatureTolerance * factor.abs().max().item<double>())
      << what;
}

TEST_P(FactorsOfChain, CorrectedHaveTheSecondMomentsInTheirEigenbasis) {
  CurvatureOptions options;
  options.ekfac = true;
  const Curvature answers = ask(CurvatureNeed::kKflr, options);
  const Tensor ggn = dense().ggn();
  for (size_t i = 0; i < model_.parameters.size(); i += 2) {
    const std::string& name = model_.parameters[i].name;
    const KroneckerFactors& factors = answers.parameters[i].kflr;
    ASSERT_TRUE(factors.is_corrected()) << name;
    expect_eigenbasis(factors.output_basis, factors.output, "output basis of " + name);
    expect_eigenbasis(factors.input_basis, factors.input, "input basis of " + name);
    const Tensor basis = at::kron(factors.output_basis, factors.input_basis);
    const Tensor moments =
        basis.t().matmul(block(ggn, model_.parameters, {i})).matmul(basis).diagonal();
    expect_close(factors.corrected,
                 moments.view({factors.output.size(0), factors.input.size(0)}),
                 "corrected eigenvalues of " + name,
                 kCurvatureTolerance);
  }
}

TEST_P(FactorsOfChain, CorrectedFromSampledGradientsKeepTheTrace) {
  constexpr double kOfTrace = 0.15;
  CurvatureOptions options;
  options.ekfac = true;
  options.mc_samples = 2000;
  const Curvature answers = ask(CurvatureNeed::kKfac, options);
  const Tensor ggn = dense().ggn();
  for (size_t i = 0; i < model_.parameters.size(); i += 2) {
    const KroneckerFactors& factors = answers.parameters[i].kfac;
    ASSERT_TRUE(factors.is_corrected()) << model_.parameters[i].name;
    const double trace = block(ggn, model_.parameters, {i}).trace().item<double>();
    EXPECT_NEAR(factors.corrected.sum().item<double>(), trace, kOfTrace * trace);
    EXPECT_GE(factors.corrected.min().item<double>(), -kCurvatureTolerance * trace);
  }
}

TEST_P(FactorsOfChain, LeaveTheGeneratorAndGradientsAlone) {
  clear_gradients(model_.parameters);
  const Tensor state = generator_state();
  ask(CurvatureNeed::kKfac | CurvatureNeed::kKflr | CurvatureNeed::kKfra);
  EXPECT_TRUE(at::equal(generator_state(), state));
  for (const Tensor& gradient : gradients_of(model_.parameters)) EXPECT_FALSE(gradient.defined());
}

INSTANTIATE_TEST_SUITE_P(Chains, FactorsOfChain, ::testing::ValuesIn(all_chains()), name_of_chain);

TEST(FactorsOfAttention, ExistForLinearLayersAndVectors) {
  const Model model = make_model(model_named("attention_block"));
  const Curvature answers = curvature(model.losses, model.parameters, CurvatureNeed::kKflr);
  for (const char* name : {"query.weight", "query.bias", "head.weight", "head.bias"}) {
    EXPECT_TRUE(answers.at(name).kflr.defined()) << name;
  }
  // Of a vector, the factor is its whole block.
  const Tensor ggn = dense_curvature(model.losses, model.outputs, model.parameters).ggn();
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    if (model.parameters[i].name != "norm.weight") continue;
    expect_close(answers.parameters[i].kflr.output,
                 block(ggn, model.parameters, {i}),
                 "norm.weight",
                 kCurvatureTolerance);
  }
}

// ---- operators from factors
// ----------------------------------------------------------------------

class KroneckerOperators : public SeededTest {
 protected:
  static constexpr int64_t J = 3;
  static constexpr int64_t I = 4;
  static constexpr double kDamping = 0.3;

  void SetUp() override {
    SeededTest::SetUp();
    factors_.output = positive_matrix(J);
    factors_.input = positive_matrix(I);
  }

  static Tensor positive_matrix(int64_t size) {
    const Tensor root = random({size, size});
    return root.matmul(root.t());
  }

  static Tensor identity(int64_t size) { return at::eye(size, doubles()); }

  // In a basis of their own, so that the corrected matrix is not the product of the factors.
  void correct() {
    factors_.output_basis = std::get<1>(at::linalg_eigh(factors_.output));
    factors_.input_basis = std::get<1>(at::linalg_eigh(factors_.input));
    factors_.corrected = random({J, I}).square();
  }

  Tensor corrected_matrix() const {
    const Tensor basis = at::kron(factors_.output_basis, factors_.input_basis);
    return (basis * factors_.corrected.flatten()).matmul(basis.t());
  }

  static void expect_matrix(const LinearOperator& actual, const Tensor& expected) {
    ASSERT_EQ(actual.dim(), expected.size(0));
    const Tensor vectors = random({5, expected.size(0)});
    expect_close(actual.multiply(vectors), vectors.matmul(expected), "product");
  }

  KroneckerFactors factors_;
};

TEST_F(KroneckerOperators, MultiplyWithOutputTimesInput) {
  expect_matrix(*kronecker_operator(factors_), at::kron(factors_.output, factors_.input));
}

TEST_F(KroneckerOperators, MultiplyWithTheCorrectedMatrix) {
  correct();
  expect_matrix(*kronecker_operator(factors_), corrected_matrix());
}

TEST_F(KroneckerOperators, MultiplyWithTheOutputFactorOfABias) {
  factors_.input = Tensor();
  expect_matrix(*kronecker_operator(factors_), factors_.output);
}

TEST_F(KroneckerOperators, InvertTheDampedProductExactly) {
  const Tensor damped = at::kron(factors_.output, factors_.input) + kDamping * identity(J * I);
  expect_matrix(*kronecker_inverse(factors_, kDamping, DampingSplit::kExact),
                at::linalg_inv(damped));
}

TEST_F(KroneckerOperators, InvertWithTheDampingSplitByTheTraces) {
  const Tensor& A = factors_.input;
  const Tensor& B = factors_.output;
  const double pi = ((A.trace() / double(I)) / (B.trace() / double(J))).sqrt().item<double>();
  const double root = std::sqrt(kDamping);
  const Tensor inverse = at::kron(at::linalg_inv(B + root / pi * identity(J)),
                                  at::linalg_inv(A + root * pi * identity(I)));
  expect_matrix(*kronecker_inverse(factors_, kDamping), inverse);
}

TEST_F(KroneckerOperators, InvertTheDampedCorrectedMatrixWithEitherSplit) {
  correct();
  const Tensor inverse = at::linalg_inv(corrected_matrix() + kDamping * identity(J * I));
  expect_matrix(*kronecker_inverse(factors_, kDamping, DampingSplit::kExact), inverse);
  expect_matrix(*kronecker_inverse(factors_, kDamping, DampingSplit::kTrace), inverse);
}

TEST_F(KroneckerOperators, InvertTheDampedFactorOfABias) {
  factors_.input = Tensor();
  const Tensor inverse = at::linalg_inv(factors_.output + kDamping * identity(J));
  expect_matrix(*kronecker_inverse(factors_, kDamping, DampingSplit::kExact), inverse);
  expect_matrix(*kronecker_inverse(factors_, kDamping, DampingSplit::kTrace), inverse);
}

}  // namespace
}  // namespace flightdeck::tests
