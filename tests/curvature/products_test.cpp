// SPDX-License-Identifier: MIT
// Curvature operators against dense matrices: every kind for every model of the table, and the
// kinds that are defined layer by layer for chains of modules.
#include "curvature/chain_oracle.h"
#include "curvature/complex_models.h"
#include "curvature/models.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

const std::vector<CurvatureKind>& dense_kinds() {
  static const std::vector<CurvatureKind> kinds = {
      CurvatureKind::kHessian, CurvatureKind::kGgn, CurvatureKind::kEmpiricalFisher};
  return kinds;
}

const char* to_string(CurvatureKind kind) {
  switch (kind) {
    case CurvatureKind::kHessian:
      return "Hessian";
    case CurvatureKind::kGgn:
      return "GGN";
    case CurvatureKind::kEmpiricalFisher:
      return "empirical Fisher";
    case CurvatureKind::kPchClip:
      return "PCH, clipped";
    default:
      return "PCH, absolute";
  }
}

Tensor matrix_of(CurvatureKind kind, const DenseCurvature& dense) {
  switch (kind) {
    case CurvatureKind::kHessian:
      return dense.hessian();
    case CurvatureKind::kGgn:
      return dense.ggn();
    default:
      return dense.empirical_fisher();
  }
}

// Products with one vector and with three at a time.
void expect_matrix(const LinearOperator& actual, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.dim(), expected.size(0)) << what;
  EXPECT_EQ(actual.options().dtype(), expected.dtype()) << what;
  for (int64_t count : {1, 3}) {
    const Tensor vectors = random({count, expected.size(0)});
    expect_close(actual.multiply(vectors), vectors.matmul(expected), what, kCurvatureTolerance);
  }
}

// One matrix with the given blocks along its diagonal.
Tensor block_diagonal(const std::vector<BlockOracle>& blocks) {
  std::vector<Tensor> matrices;
  for (const BlockOracle& entry : blocks) matrices.push_back(entry.block);
  return at::block_diag(matrices);
}

class OperatorsOfModel : public ModelTest {
 protected:
  std::shared_ptr<const CurvatureOperator> make(CurvatureKind kind,
                                                const ProductOptions& options = {}) const {
    return curvature_operator(losses(), parameters(), kind, options);
  }

  void expect_dense(const ProductOptions& options, const BatchOptions& said = {}) const {
    const Batch batch(losses(), parameters(), said);
    for (CurvatureKind kind : dense_kinds()) {
      Tensor expected = matrix_of(kind, dense().select(said.samples));
      if (!options.groups.empty()) {
        expected = within_groups(expected, parameters(), options.groups);
      }
      expect_matrix(*curvature_operator(batch, kind, options), expected, to_string(kind));
    }
  }
};

TEST_P(OperatorsOfModel, MultiplyWithTheDenseMatrices) { expect_dense({}); }

TEST_P(OperatorsOfModel, OfEachParameterAloneMultiplyWithTheBlocks) {
  ProductOptions options;
  options.groups = each_alone(parameters());
  expect_dense(options);
}

TEST_P(OperatorsOfModel, OfTwoGroupsMultiplyWithTheirBlocks) {
  ProductOptions options;
  options.groups.resize(2);
  for (size_t i = 0; i < parameters().size(); ++i) options.groups[i % 2].push_back(i);
  expect_dense(options);
}

TEST_P(OperatorsOfModel, OfSomeSamplesAreTheirMean) {
  BatchOptions options;
  options.samples = some_samples();
  expect_dense({}, options);
}

TEST_P(OperatorsOfModel, AreTheSameWithTheOutputsNamed) {
  BatchOptions options;
  options.outputs = model_.outputs;
  expect_dense({}, options);
}

TEST_P(OperatorsOfModel, KnowTheGradientOfTheirSamples) {
  const Batch batch(losses(), parameters());
  for (const std::vector<int64_t>& samples : {std::vector<int64_t>{}, some_samples()}) {
    for (CurvatureKind kind : dense_kinds()) {
      expect_close(curvature_operator(batch.of(samples), kind)->gradient(),
                   dense().select(samples).gradient(),
                   to_string(kind),
                   kCurvatureTolerance);
    }
  }
}

TEST_P(OperatorsOfModel, SplitVectorsByParameterAndJoinThemAgain) {
  const auto ggn = make(CurvatureKind::kGgn);
  const Tensor vectors = random({2, entries_of(parameters())});
  const std::vector<Tensor> parts = ggn->split(vectors);
  const std::vector<int64_t> offsets = offsets_of(parameters());
  ASSERT_EQ(parts.size(), parameters().size());
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i][0].sizes(), parameters()[i].tensor.sizes());
    EXPECT_TRUE(at::equal(parts[i].flatten(1), vectors.slice(1, offsets[i], offsets[i + 1])));
  }
  EXPECT_TRUE(at::equal(ggn->join(parts), vectors));
}

TEST_P(OperatorsOfModel, GiveTheSameProductEachTime) {
  const Tensor vectors = random({2, entries_of(parameters())});
  for (CurvatureKind kind : dense_kinds()) {
    const auto made = make(kind);
    const Tensor first = made->multiply(vectors);
    made->multiply(random({3, entries_of(parameters())}));
    EXPECT_TRUE(identical(made->multiply(vectors), first)) << to_string(kind);
  }
}

TEST_P(OperatorsOfModel, LeaveGradientsAndGraphAlone) {
  clear_gradients(parameters());
  const Tensor state = generator_state();
  for (CurvatureKind kind : dense_kinds()) {
    const auto made = make(kind);
    made->multiply(at::ones({1, entries_of(parameters())}, doubles()));
    made->gradient();
  }
  EXPECT_TRUE(at::equal(generator_state(), state));
  for (const Tensor& gradient : gradients_of(parameters())) EXPECT_FALSE(gradient.defined());
  EXPECT_NO_THROW(losses().mean().backward());
}

INSTANTIATE_TEST_SUITE_P(Models, OperatorsOfModel, ::testing::ValuesIn(models()), name_of_model);
INSTANTIATE_TEST_SUITE_P(ComplexModels,
                         OperatorsOfModel,
                         ::testing::ValuesIn(complex_models()),
                         name_of_model);

// ---- chains
// --------------------------------------------------------------------------------------

class OperatorsOfChain : public ChainTest {};

TEST_P(OperatorsOfChain, MultiplyWithThePositiveCurvatureHessian) {
  for (CurvatureKind kind : {CurvatureKind::kPchClip, CurvatureKind::kPchAbs}) {
    const auto made = curvature_operator(model_.losses, model_.parameters, kind);
    expect_matrix(*made, block_diagonal(oracle().blocks(kind)), to_string(kind));
  }
}

TEST_P(OperatorsOfChain, MultiplyWithBatchAveragedBlocks) {
  for (CurvatureKind kind : {CurvatureKind::kGgn,
                             CurvatureKind::kHessian,
                             CurvatureKind::kPchClip,
                             CurvatureKind::kPchAbs}) {
    for (BatchAverage average : {BatchAverage::kProducts, BatchAverage::kJacobians}) {
      AveragedBlocksOptions options;
      options.kind = kind;
      options.average = average;
      const std::vector<AveragedBlock> blocks =
          averaged_blocks(model_.losses, model_.parameters, options);
      const std::vector<BlockOracle> expected = oracle().averaged_blocks(kind, average);
      ASSERT_EQ(blocks.size(), expected.size());
      for (size_t i = 0; i < blocks.size(); ++i) {
        SCOPED_TRACE(static_cast<int>(average));
        EXPECT_EQ(blocks[i].name, expected[i].name);
        expect_matrix(
            *blocks[i].block, expected[i].block, to_string(kind) + (" of " + blocks[i].name));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chains,
                         OperatorsOfChain,
                         ::testing::ValuesIn(all_chains()),
                         name_of_chain);

// ---- scalar losses
// -------------------------------------------------------------------------------

TEST(OperatorsFromAScalar, AreThoseOfItsLosses) {
  torch::manual_seed(20240229);
  auto net = on_device(nn::Sequential(nn::Linear(4, 5), nn::Tanh(), nn::Linear(5, 3)));
  const Parameters parameters = net->named_parameters();
  const Tensor outputs = net->forward(random({6, 4}));
  const Tensor losses = cross_entropies(outputs, random_integers({6}, 3));
  const DenseCurvature dense = dense_curvature(losses, outputs, parameters);
  for (Reduction reduction : {Reduction::kMean, Reduction::kSum}) {
    BatchOptions options;
    options.batch_size = 6;
    options.reduction = reduction;
    const Tensor loss = reduction == Reduction::kMean ? losses.mean() : losses.sum();
    const Batch batch(loss, parameters, options);
    for (CurvatureKind kind : dense_kinds()) {
      const auto made = curvature_operator(batch, kind);
      expect_matrix(*made, matrix_of(kind, dense), to_string(kind));
      expect_close(made->gradient(), dense.gradient(), "gradient", kCurvatureTolerance);
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests
