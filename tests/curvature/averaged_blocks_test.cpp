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

// ---- skip connections ---------------------------------------------------------------------------

// One step of a net with branches, as a map of all open tensors joined to all open tensors after
// it, [N, in] -> [N, out], and the parameters that it uses.
struct WideStage {
  std::function<Tensor(const Tensor&)> map;
  std::vector<Tensor> parameters;
};

Tensor by_sample(const Tensor& outputs, const Tensor& inputs) {
  const int64_t N = inputs.size(0);
  const Tensor all = jacobian(outputs, {inputs}).view({N, -1, N, inputs.numel() / N});
  return all.diagonal(0, 0, 2).permute({2, 0, 1}).contiguous();
}

Tensor averaged(const Tensor& jacobians, const Tensor& hessian, BatchAverage average) {
  if (average == BatchAverage::kProducts) return mean_congruence(jacobians, hessian);
  return jacobians.mean(0).t().matmul(hessian).matmul(jacobians.mean(0));
}

Tensor mean_kept(const Tensor& of_samples, const AveragedBlocksOptions& options) {
  const auto kept = [&options](const Tensor& matrices) {
    if (options.kind == CurvatureKind::kGgn) return at::zeros_like(matrices);
    if (options.kind == CurvatureKind::kPchClip) return positive_part(matrices);
    return options.kind == CurvatureKind::kPchAbs ? absolute_part(matrices) : matrices;
  };
  if (options.pch_order == PchOrder::kSampleFirst) return kept(of_samples).mean(0);
  return kept(of_samples.mean(0));
}

// The blocks of all parameters, those of the last stage first, for a convex loss.
std::vector<Tensor> wide_blocks(const std::vector<WideStage>& stages,
                                const Tensor& inputs,
                                const std::function<Tensor(const Tensor&)>& losses,
                                const AveragedBlocksOptions& options) {
  std::vector<Tensor> values = {inputs.detach().requires_grad_(true)};
  for (const WideStage& stage : stages) values.push_back(stage.map(values.back()));
  const std::vector<Tensor> cotangents =
      torch::autograd::grad({losses(values.back()).sum()}, values, {}, /*retain_graph=*/true);
  const auto bend = [](const Tensor& scalar, const Tensor& leaf) {
    return by_sample(torch::autograd::grad({scalar}, {leaf}, {}, true, true)[0], leaf);
  };
  const Tensor outputs = values.back().detach().requires_grad_(true);
  Tensor hessian = bend(losses(outputs).sum(), outputs).mean(0);
  std::vector<Tensor> blocks;
  for (size_t i = stages.size(); i-- > 0;) {
    const Tensor leaf = values[i].detach().requires_grad_(true);
    const Tensor out = stages[i].map(leaf);
    for (const Tensor& parameter : stages[i].parameters) {
      const Tensor own = jacobian(out, {parameter}).view({out.size(0), -1, parameter.numel()});
      blocks.push_back(averaged(own, hessian, options.parameter_average.value_or(options.average)));
    }
    const Tensor down = by_sample(out, leaf);
    // A quadratic term keeps the second derivative defined where the stage is linear.
    const Tensor scalar = (out * cotangents[i + 1]).sum() + 0.5 * leaf.square().sum();
    const Tensor bent = bend(scalar, leaf) - at::eye(leaf.size(1), doubles()).unsqueeze(0);
    hessian = averaged(down, hessian, options.average) + mean_kept(bent, options);
  }
  return blocks;
}

// h = W1 x, g = h + sigmoid(W2 h), z = W4 (g + tanh(W3 g) + h): a skip inside a longer one.
struct ResidualNet {
  nn::Linear first = on_device(nn::Linear(3, 4)), second = on_device(nn::Linear(4, 4)),
             third = on_device(nn::Linear(4, 4)), last = on_device(nn::Linear(4, 3));

  Tensor forward(const Tensor& x) {
    const Tensor h = first->forward(x);
    const Tensor g = h + second->forward(h).sigmoid();
    return last->forward(g + third->forward(g).tanh() + h);
  }
  Parameters parameters() const {
    return std::vector<NamedParameter>{{"first.weight", first->weight},
                                       {"first.bias", first->bias},
                                       {"second.weight", second->weight},
                                       {"second.bias", second->bias},
                                       {"third.weight", third->weight},
                                       {"third.bias", third->bias},
                                       {"last.weight", last->weight},
                                       {"last.bias", last->bias}};
  }
  // Columns 0 to 3 of a joint tensor are h wherever it is still open.
  std::vector<WideStage> stages() {
    const auto part = [](const Tensor& all, int64_t k) { return all.slice(1, 4 * k, 4 * k + 4); };
    return {{[this](const Tensor& x) { return first->forward(x); }, {first->weight, first->bias}},
            {[this](const Tensor& h) {
               return at::cat({h, second->forward(h)}, 1);
             },
             {second->weight, second->bias}},
            {[=](const Tensor& t) {
               return at::cat({part(t, 0), part(t, 1).sigmoid()}, 1);
             },
             {}},
            {[=](const Tensor& t) {
               return at::cat({part(t, 0), part(t, 0) + part(t, 1)}, 1);
             },
             {}},
            {[=](const Tensor& t) {
               return at::cat({t, third->forward(part(t, 1))}, 1);
             },
             {third->weight, third->bias}},
            {[=](const Tensor& t) {
               return at::cat({part(t, 0), part(t, 1), part(t, 2).tanh()}, 1);
             },
             {}},
            {[=](const Tensor& t) { return part(t, 1) + part(t, 2) + part(t, 0); }, {}},
            {[this](const Tensor& y) { return last->forward(y); }, {last->weight, last->bias}}};
  }
};

class SkipConnections : public SeededTest {
 protected:
  ResidualNet net_;
};

TEST_F(SkipConnections, AreFollowedWithAllOpenTensorsInOneMatrix) {
  const Tensor inputs = random({5, 3}), labels = random_integers({5}, 3);
  const auto losses = [&](const Tensor& outputs) { return cross_entropies(outputs, labels); };
  for (CurvatureKind kind : {CurvatureKind::kGgn,
                             CurvatureKind::kHessian,
                             CurvatureKind::kPchClip,
                             CurvatureKind::kPchAbs}) {
    for (BatchAverage average : {BatchAverage::kProducts, BatchAverage::kJacobians}) {
      for (PchOrder order : {PchOrder::kAverageFirst, PchOrder::kSampleFirst}) {
        AveragedBlocksOptions options;
        options.kind = kind;
        options.average = average;
        options.parameter_average = BatchAverage::kProducts;
        options.pch_order = order;
        const auto blocks =
            averaged_blocks(losses(net_.forward(inputs)), net_.parameters(), options);
        const auto expected = wide_blocks(net_.stages(), inputs, losses, options);
        ASSERT_EQ(blocks.size(), expected.size());
        for (size_t layer = 0; layer < 4; ++layer) {
          for (size_t i : {2 * layer, 2 * layer + 1}) {
            expect_block(
                *blocks[i].block,
                expected[2 * (3 - layer) + i % 2],
                std::to_string(int(kind)) + std::to_string(int(average)) + " of " + blocks[i].name);
          }
        }
      }
    }
  }
}

void expect_exact_blocks(const Tensor& losses,
                         const Tensor& outputs,
                         const Parameters& parameters) {
  const DenseCurvature dense = dense_curvature(losses, outputs, parameters);
  for (CurvatureKind kind : {CurvatureKind::kGgn, CurvatureKind::kHessian}) {
    const Tensor matrix = kind == CurvatureKind::kGgn ? dense.ggn() : dense.hessian();
    AveragedBlocksOptions options;
    options.kind = kind;
    const auto blocks = averaged_blocks(losses, parameters, options);
    for (size_t p = 0; p < blocks.size(); ++p) {
      const Tensor entries = entries_of_group(parameters, {p});
      expect_block(*blocks[p].block,
                   matrix.index_select(0, entries).index_select(1, entries),
                   blocks[p].name);
    }
  }
}

TEST_F(SkipConnections, OfOneSampleRepeatedGiveTheExactBlocks) {
  const Tensor outputs = net_.forward(random({1, 3}).expand({3, 3}).contiguous());
  const Tensor labels = random_integers({1}, 3).expand({3}).contiguous();
  expect_exact_blocks(cross_entropies(outputs, labels), outputs, net_.parameters());
}

TEST_F(SkipConnections, BetweenConvolutionsAndPoolingGiveTheExactBlocks) {
  auto first = on_device(nn::Conv2d(nn::Conv2dOptions(1, 2, 3).padding(1)));
  auto second = on_device(nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding(1)));
  auto last = on_device(nn::Linear(8, 3));
  const Tensor x = random({1, 1, 4, 4}).expand({3, 1, 4, 4}).contiguous();
  const Tensor h = first->forward(x);
  const Tensor pooled =
      torch::max_pool2d(h + second->forward(h.sigmoid()).tanh(), 2) + torch::max_pool2d(h, 2);
  const Tensor outputs = last->forward(pooled.flatten(1));
  const Tensor labels = random_integers({1}, 3).expand({3}).contiguous();
  expect_exact_blocks(cross_entropies(outputs, labels),
                      outputs,
                      std::vector<NamedParameter>{{"first.weight", first->weight},
                                                  {"first.bias", first->bias},
                                                  {"second.weight", second->weight},
                                                  {"last.weight", last->weight},
                                                  {"last.bias", last->bias}});
}

TEST_F(SkipConnections, ThatAProductJoinsAreRefusedByName) {
  const Tensor h = net_.first->forward(random({3, 3}));
  const Tensor losses = cross_entropies(net_.last->forward(h * h.tanh()), random_integers({3}, 3));
  const Parameters some = std::vector<Tensor>{net_.first->weight, net_.last->weight};
  expect_error([&] { return averaged_blocks(losses, some); }, {"Mul", "not linear", "operators"});
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
