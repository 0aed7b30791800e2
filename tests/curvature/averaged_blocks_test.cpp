// SPDX-License-Identifier: MIT
// Explicit blocks by batch-averaged Hessian backpropagation, in all their variants, and the PCH of
// losses that are not convex, against recursions over written-out Jacobians.
#include "curvature/chain_oracle.h"
#include "errors.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

void expect_block(const LinearOperator& actual, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.dim(), expected.size(0)) << what;
  const Tensor vectors = random({3, expected.size(0)});
  expect_close(actual.multiply(vectors), vectors.matmul(expected), what, kCurvatureTolerance);
}

// Samples pull in both directions: the weights have both signs.
Tensor signed_cross_entropy(const Tensor& outputs) {
  const Tensor weights = at::linspace(-1.0, 2.0, outputs.size(0), doubles());
  return weights * cross_entropies(outputs, random_integers({outputs.size(0)}, outputs.size(1)));
}

// Concave where an output is far from its target.
Tensor bounded_error(const Tensor& outputs) {
  const Tensor far = (outputs - 2 * random(outputs.sizes())).square();
  return (1 - (-far).exp()).sum(1);
}

nn::Sequential net_of(nn::AnyModule first, nn::AnyModule second) {
  nn::Sequential net(nn::Linear(5, 6));
  net->push_back(std::move(first));
  net->push_back(nn::Linear(6, 4));
  net->push_back(std::move(second));
  net->push_back(nn::Linear(4, 3));
  return net;
}

std::vector<ChainCase> concave_chains() {
  const auto sigmoids = [] {
    return net_of(nn::AnyModule(nn::Sigmoid()), nn::AnyModule(nn::Tanh()));
  };
  return {{"signed_cross_entropy", sigmoids, {6, 5}, signed_cross_entropy},
          {"bounded_error", sigmoids, {4, 5}, bounded_error}};
}

std::vector<ChainCase> chains() {
  std::vector<ChainCase> all = all_chains();
  for (const ChainCase& more : concave_chains()) all.push_back(more);
  return all;
}

class AveragedBlocksOfChain : public ChainTest {
 protected:
  // A loss that the engine does not know needs the outputs.
  Batch batch() const {
    BatchOptions said;
    said.outputs = model_.outputs;
    return {model_.losses, model_.parameters, said};
  }
};

TEST_P(AveragedBlocksOfChain, AreThoseOfTheRecursionInEveryVariant) {
  for (CurvatureKind kind : {CurvatureKind::kGgn,
                             CurvatureKind::kHessian,
                             CurvatureKind::kPchClip,
                             CurvatureKind::kPchAbs}) {
    for (BatchAverage inputs : {BatchAverage::kProducts, BatchAverage::kJacobians}) {
      for (BatchAverage parameters : {BatchAverage::kProducts, BatchAverage::kJacobians}) {
        for (PchOrder order : {PchOrder::kAverageFirst, PchOrder::kSampleFirst}) {
          AveragedBlocksOptions options;
          options.kind = kind;
          options.average = inputs;
          options.parameter_average = parameters;
          options.pch_order = order;
          const auto blocks = averaged_blocks(batch(), options);
          const auto expected = oracle().averaged_blocks(options);
          ASSERT_EQ(blocks.size(), expected.size());
          for (size_t i = 0; i < blocks.size(); ++i) {
            EXPECT_EQ(blocks[i].name, expected[i].name);
            expect_block(*blocks[i].block,
                         expected[i].block,
                         std::to_string(int(kind)) + std::to_string(int(inputs)) +
                             std::to_string(int(parameters)) + std::to_string(int(order)) + " of " +
                             blocks[i].name);
          }
        }
      }
    }
  }
}

TEST_P(AveragedBlocksOfChain, PositiveCurvatureTakesAbsoluteEigenvaluesOfTheLoss) {
  for (CurvatureKind kind : {CurvatureKind::kPchClip, CurvatureKind::kPchAbs}) {
    const auto made = curvature_operator(batch(), kind);
    std::vector<Tensor> blocks;
    for (const BlockOracle& each : oracle().blocks(kind)) blocks.push_back(each.block);
    expect_block(*made, at::block_diag(blocks), std::to_string(int(kind)));
  }
}

INSTANTIATE_TEST_SUITE_P(Chains,
                         AveragedBlocksOfChain,
                         ::testing::ValuesIn(chains()),
                         name_of_chain);

// With the same sample in every place the averages are no approximation.
TEST(AveragedBlocks, OfOneSampleRepeatedAreTheExactHessian) {
  torch::manual_seed(11);
  auto net = on_device(net_of(nn::AnyModule(nn::Sigmoid()), nn::AnyModule(nn::Tanh())));
  const Tensor outputs = net->forward(random({1, 5}).expand({3, 5}).contiguous());
  const Tensor losses = (1 - (-(outputs - 1).square()).exp()).sum(1);
  const Parameters parameters = net->named_parameters();
  const DenseCurvature dense = dense_curvature(losses, outputs, parameters);
  ASSERT_LT(at::linalg_eigvalsh(dense.output_hessians).min().item<double>(), -1e-3);
  BatchOptions said;
  said.outputs = outputs;
  AveragedBlocksOptions options;
  options.kind = CurvatureKind::kHessian;
  const auto blocks = averaged_blocks(Batch(losses, parameters, said), options);
  for (size_t p = 0; p < blocks.size(); ++p) {
    const Tensor entries = entries_of_group(parameters, {p});
    expect_block(*blocks[p].block,
                 dense.hessian().index_select(0, entries).index_select(1, entries),
                 blocks[p].name);
  }
}

TEST(AveragedBlocks, RefuseASkipConnectionByName) {
  torch::manual_seed(11);
  nn::Linear first(4, 4), second(4, 3);
  first->to(torch::kDouble);
  second->to(torch::kDouble);
  const Tensor x = at::randn({3, 4}, at::kDouble);
  const Tensor hidden = first->forward(x);
  const Tensor losses =
      cross_entropies(second->forward(hidden + hidden.tanh()), random_integers({3}, 3));
  expect_error(
      [&] {
        return averaged_blocks(losses,
                               Parameters(std::vector<Tensor>{first->weight, second->weight}));
      },
      {"Add", "branches"});
}

// ---- sub-blocks ---------------------------------------------------------------------------------

TEST(SubBlockOperator, IsThePartOfTheMatrix) {
  torch::manual_seed(5);
  const Tensor lines = at::randn({7, 7}, at::kDouble), matrix = lines + lines.t();
  const auto whole = std::make_shared<DenseOperator>(matrix);
  for (const auto& [begin, end] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 7}, {0, 1}, {2, 6}}) {
    const SubBlockOperator part(whole, begin, end);
    const Tensor vectors = at::randn({2, end - begin}, at::kDouble);
    EXPECT_EQ(part.dim(), end - begin);
    expect_close(part.multiply(vectors),
                 vectors.matmul(matrix.slice(0, begin, end).slice(1, begin, end)),
                 "products");
  }
  expect_error([&] { SubBlockOperator(whole, 3, 8); }, {"3", "8", "7"});
  expect_error([&] { SubBlockOperator(whole, 3, 3); }, {"3", "7"});
}

TEST(LineBlocks, CoverAllEntriesOnceByWholeLines) {
  for (const Tensor& parameter :
       {at::zeros({7, 3}), at::zeros({7}), at::zeros({4, 2, 3, 3}), at::zeros({})}) {
    const int64_t lines = parameter.dim() == 0 ? 1 : parameter.size(0);
    for (int64_t count : {1, 2, 3, 7, 100}) {
      const auto blocks = line_blocks(parameter, count);
      EXPECT_EQ(int64_t(blocks.size()), std::min(count, lines));
      int64_t next = 0, smallest = lines, largest = 0;
      for (const auto& [begin, end] : blocks) {
        EXPECT_EQ(begin, next);
        next = end;
        const int64_t size = (end - begin) * lines / parameter.numel();
        EXPECT_EQ((end - begin) % (parameter.numel() / lines), 0);
        smallest = std::min(smallest, size);
        largest = std::max(largest, size);
      }
      EXPECT_EQ(next, parameter.numel());
      EXPECT_LE(largest, smallest + 1);
    }
  }
  expect_error([] { return line_blocks(at::zeros({3}), 0); }, {"0 blocks"});
}

}  // namespace
}  // namespace flightdeck::tests
