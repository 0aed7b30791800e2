// SPDX-License-Identifier: MIT
// The oracles of curvature against the recorded cases and against each other; no part of the engine
// takes part.
#include "oracle.h"

#include "curvature/chain_oracle.h"
#include "curvature/complex_models.h"
#include "curvature/dense_oracle.h"
#include "curvature/models.h"
#include "golden/recording.h"

namespace flightdeck::tests {
namespace {

class DenseOracleOfRecordedCase : public RecordedCase {
 protected:
  DenseCurvature dense() {
    const Tensor outputs = this->outputs();
    return dense_curvature(losses_of_outputs(outputs), outputs, model_->named_parameters());
  }

  void expect_factors(const std::vector<FactorOracle>& factors, const std::string& name) const {
    ASSERT_EQ(factors.size(), model_->parameters().size());
    for (size_t i = 0; i < factors.size(); ++i) {
      const std::string entry = name + "/" + std::to_string(i);
      expect_close(
          factors[i].output, recording_->at(entry + "/factor0"), entry, kCurvatureTolerance);
      if (!factors[i].input.defined()) continue;
      expect_close(
          factors[i].input, recording_->at(entry + "/factor1"), entry, kCurvatureTolerance);
    }
  }
};

TEST_P(DenseOracleOfRecordedCase, HasTheRecordedMatricesAndDiagonals) {
  const DenseCurvature oracle = dense();
  expect_close(oracle.ggn(), recording_->at("dense/ggn"), "GGN", kCurvatureTolerance);
  expect_close(oracle.hessian(), recording_->at("dense/hessian"), "Hessian", kCurvatureTolerance);
  const size_t count = model_->parameters().size();
  const double N = static_cast<double>(batch_size());
  expect_close(oracle.ggns().diagonal(0, 1, 2) / N,
               recording_->concatenated("bp/diag_ggn_exact_batch", count, true),
               "diagonals of the GGN",
               kCurvatureTolerance);
  expect_close(oracle.hessians.diagonal(0, 1, 2) / N,
               recording_->concatenated("bp/diag_h_batch", count, true),
               "diagonals of the Hessian",
               kCurvatureTolerance);
}

TEST_P(DenseOracleOfRecordedCase, HasTheRecordedKroneckerFactors) {
  const ChainOracle oracle(
      model_, inputs(), [this](const Tensor& outputs) { return losses_of_outputs(outputs); });
  expect_factors(oracle.kflr(WeightSharing::kPatchSums), "bp/kflr");
  expect_factors(oracle.kfra(WeightSharing::kPatchSums), "bp/kfra");
}

INSTANTIATE_TEST_SUITE_P(BackPack,
                         DenseOracleOfRecordedCase,
                         ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

class OracleOfChain : public ChainTest {};

TEST_P(OracleOfChain, HasTheBlocksOfTheDenseMatrices) {
  const std::vector<BlockOracle> ggn = oracle().blocks(CurvatureKind::kGgn);
  const std::vector<BlockOracle> hessian = oracle().blocks(CurvatureKind::kHessian);
  ASSERT_EQ(ggn.size(), model_.parameters.size());
  for (size_t i = 0; i < ggn.size(); ++i) {
    const std::string& name = model_.parameters[i].name;
    EXPECT_EQ(ggn[i].name, name);
    expect_close(ggn[i].block, block(dense().ggn(), model_.parameters, {i}), name);
    expect_close(hessian[i].block, block(dense().hessian(), model_.parameters, {i}), name);
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, OracleOfChain, ::testing::ValuesIn(all_chains()), name_of_chain);

class OracleOfModel : public ModelTest {};

TEST_P(OracleOfModel, HasSymmetricMatricesAndAGgnWithoutNegativeEigenvalues) {
  expect_close(dense().hessian().t(), dense().hessian(), "transposed Hessian");
  const Tensor values = at::linalg_eigvalsh(dense().ggn());
  EXPECT_GT(values.max().item<double>(), 0.0);
  EXPECT_GE(values.min().item<double>(), -kCurvatureTolerance * values.max().item<double>());
}

TEST_P(OracleOfModel, HasAGgnThatIsNotTheHessianUnlessItIsLinear) {
  const double difference = (dense().ggn() - dense().hessian()).abs().max().item<double>();
  const double largest = dense().hessian().abs().max().item<double>();
  if (GetParam().name == "logistic_regression") {
    EXPECT_LE(difference, kCurvatureTolerance * largest);
  } else {
    EXPECT_GE(difference, 1e-3 * largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OracleOfModel, ::testing::ValuesIn(models()), name_of_model);
INSTANTIATE_TEST_SUITE_P(ComplexModels,
                         OracleOfModel,
                         ::testing::ValuesIn(complex_models()),
                         name_of_model);

}  // namespace
}  // namespace flightdeck::tests
