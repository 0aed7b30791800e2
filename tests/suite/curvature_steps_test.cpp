// SPDX-License-Identifier: MIT
// Steps of the optimizers that read curvature against dense matrices by plain autograd.
#include <cmath>

#include "suite/small_chains.h"

namespace flightdeck::suite {
namespace {

constexpr double kStepSize = 0.3;
constexpr double kDamping = 0.07;

std::vector<Chain> chains() { return {perceptron(), convolutional()}; }

Hyperparameters with(const Hyperparameters& more) {
  Hyperparameters all = {{"learning_rate", kStepSize}, {"damping", kDamping}};
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

// What one step subtracts, divided by the learning rate, [D].
Tensor descent(const std::string& name,
               const Hyperparameters& given,
               Chain& chain,
               double l2 = 0.0) {
  const auto optimizer = find_optimizer(name).make(chain.net->parameters(), given);
  const Tensor before = flat(chain.parameters());
  take_step(*optimizer, chain, l2);
  return (before - flat(chain.parameters())) / given.at("learning_rate");
}

Tensor eye(int64_t lines) { return torch::eye(lines, torch::kDouble); }

Tensor solved(const Tensor& matrix, const Tensor& right) {
  return at::linalg_solve(matrix, right.unsqueeze(1)).squeeze(1);
}

// Solves with one matrix per parameter; `matrix_of` gets its position.
Tensor solved_by_block(const Chain& chain,
                       const Tensor& right,
                       const std::function<Tensor(size_t)>& matrix_of) {
  const std::vector<int64_t> offsets = tests::offsets_of(chain.parameters());
  std::vector<Tensor> parts;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    parts.push_back(solved(matrix_of(i), right.slice(0, offsets[i], offsets[i + 1])));
  }
  return torch::cat(parts);
}

// ---- diagonal -----------------------------------------------------------------------------------

TEST(DiagGgnStep, DividesByTheDampedDiagonal) {
  for (Chain& chain : chains()) {
    const auto dense = chain.dense();
    const Tensor expected = dense.gradient() / (dense.ggn().diagonal() + kDamping);
    expect_same(descent("diag_ggn", with({}), chain), expected, "diag_ggn");
  }
}

TEST(DiagGgnStep, AddsPenaltyAndDecayToTheDamping) {
  Chain chain = perceptron();
  const auto dense = chain.dense();
  const Tensor x = flat(chain.parameters());
  const Tensor expected =
      (dense.gradient() + 0.05 * x) / (dense.ggn().diagonal() + kDamping + 0.05);
  expect_same(descent("diag_ggn", with({{"weight_decay", 0.03}}), chain, 0.02), expected, "both");
}

TEST(DiagGgnMcStep, IsTheExactOneInTheMean) {
  Chain chain = perceptron();
  const auto dense = chain.dense();
  const Tensor expected = dense.gradient() / (dense.ggn().diagonal() + kDamping);
  const Tensor actual = descent("diag_ggn_mc", with({{"mc_samples", 3000}}), chain);
  expect_same(actual, expected, "diag_ggn_mc", 0.05);
  EXPECT_GT((actual - expected).abs().max().item<double>(), 0.0);
}

// ---- Kronecker factors --------------------------------------------------------------------------

// The matrix whose inverse the text puts in the place of (A ⊗ B + damping I)^-1, lines of the
// weight slowest.
Tensor damped_product(const tests::FactorOracle& factors, double damping) {
  const Tensor& B = factors.output;
  if (!factors.input.defined()) return B + damping * eye(B.size(0));
  const Tensor& A = factors.input;
  const double pi = std::sqrt(A.trace().item<double>() * static_cast<double>(B.size(0)) /
                              (static_cast<double>(A.size(0)) * B.trace().item<double>()));
  return at::kron(B + std::sqrt(damping) / pi * eye(B.size(0)),
                  A + std::sqrt(damping) * pi * eye(A.size(0)));
}

Tensor kronecker_descent(Chain& chain,
                         const std::vector<tests::FactorOracle>& factors,
                         const Tensor& gradient,
                         double damping) {
  return solved_by_block(
      chain, gradient, [&](size_t i) { return damped_product(factors[i], damping); });
}

TEST(KflrStep, InvertsTheDampedFactors) {
  for (Chain& chain : chains()) {
    const auto factors = chain.oracle().kflr(WeightSharing::kPatchSums);
    const Tensor expected = kronecker_descent(chain, factors, chain.dense().gradient(), kDamping);
    expect_same(descent("kflr", with({}), chain), expected, "kflr");
  }
}

TEST(KflrStep, AddsPenaltyAndDecayToTheDamping) {
  Chain chain = perceptron();
  const auto factors = chain.oracle().kflr(WeightSharing::kPatchSums);
  const Tensor gradient = chain.dense().gradient() + 0.05 * flat(chain.parameters());
  const Tensor expected = kronecker_descent(chain, factors, gradient, kDamping + 0.05);
  expect_same(descent("kflr", with({{"weight_decay", 0.03}}), chain, 0.02), expected, "both");
}

TEST(KfraStep, InvertsTheDampedFactors) {
  for (Chain& chain : chains()) {
    const auto factors = chain.oracle().kfra(WeightSharing::kPatchSums);
    const Tensor expected = kronecker_descent(chain, factors, chain.dense().gradient(), kDamping);
    expect_same(descent("kfra", with({}), chain), expected, "kfra");
  }
}

TEST(KfacStep, IsThatOfKflrInTheMean) {
  for (Chain& chain : chains()) {
    const auto factors = chain.oracle().kflr(WeightSharing::kPatchSums);
    const Tensor expected = kronecker_descent(chain, factors, chain.dense().gradient(), kDamping);
    const Tensor actual = descent("kfac", with({{"mc_samples", 3000}}), chain);
    expect_same(actual, expected, "kfac", 0.05);
    EXPECT_GT((actual - expected).abs().max().item<double>(), 0.0);
  }
}

// ---- Newton-CG ----------------------------------------------------------------------------------

const std::vector<std::pair<std::string, CurvatureKind>> kHbpKinds = {
    {"hbp_ggn", CurvatureKind::kGgn},
    {"hbp_pch_abs", CurvatureKind::kPchAbs},
    {"hbp_pch_clip", CurvatureKind::kPchClip}};

Tensor limited(const Tensor& block, double l2) {
  return kDamping * eye(block.size(0)) + (1 - kDamping) * (block + l2 * eye(block.size(0)));
}

TEST(HbpStep, SolvesWithTheBlockOfEachParameter) {
  for (const auto& [name, kind] : kHbpKinds) {
    for (Chain& chain : chains()) {
      for (const int averaged : {0, 1, 2}) {
        const ChainOracle oracle = chain.oracle();
        const auto blocks =
            averaged == 0
                ? oracle.blocks(kind)
                : oracle.averaged_blocks(
                      kind, averaged == 1 ? BatchAverage::kProducts : BatchAverage::kJacobians);
        const Tensor expected = solved_by_block(chain, chain.dense().gradient(), [&](size_t i) {
          return limited(blocks[i].block, 0.0);
        });
        const Tensor actual =
            descent(name, with({{"cg_tolerance", 1e-12}, {"averaged", double(averaged)}}), chain);
        expect_same(actual, expected, name + " " + std::to_string(averaged));
      }
    }
  }
}

TEST(HbpStep, SolvesBlocksOfLinesApart) {
  for (const auto& [name, kind] : kHbpKinds) {
    for (Chain& chain : chains()) {
      for (const int averaged : {0, 1}) {
        for (const int64_t count : {2, 3, 100}) {
          const ChainOracle oracle = chain.oracle();
          const auto blocks = averaged == 0 ? oracle.blocks(kind)
                                            : oracle.averaged_blocks(kind, BatchAverage::kProducts);
          const Parameters parameters = chain.parameters();
          const Tensor expected = solved_by_block(chain, chain.dense().gradient(), [&](size_t i) {
            // Entry (j, k) is kept where both lie in lines of one block.
            const Tensor& tensor = parameters[i].tensor;
            const int64_t lines = tensor.size(0), blocks_of_it = std::min(count, lines);
            Tensor block_of_line = torch::zeros({lines}, torch::kLong);
            for (int64_t b = 1; b < blocks_of_it; ++b) {
              block_of_line.slice(0, lines * b / blocks_of_it) += 1;
            }
            const Tensor of_entry = block_of_line.repeat_interleave(tensor.numel() / lines);
            const Tensor kept = of_entry.unsqueeze(0).eq(of_entry.unsqueeze(1));
            return limited(blocks[i].block * kept.to(torch::kDouble), 0.0);
          });
          const Tensor actual = descent(name,
                                        with({{"cg_tolerance", 1e-12},
                                              {"averaged", double(averaged)},
                                              {"row_blocks", double(count)}}),
                                        chain);
          expect_same(actual, expected, name + " in " + std::to_string(count));
        }
      }
    }
  }
}

TEST(HbpStep, TakesAveragesOfInputsAndParametersApartAndEitherOrder) {
  for (const double sample_first : {0.0, 1.0}) {
    AveragedBlocksOptions asked;
    asked.kind = CurvatureKind::kPchAbs;
    asked.average = BatchAverage::kJacobians;
    asked.parameter_average = BatchAverage::kProducts;
    asked.pch_order = sample_first != 0 ? PchOrder::kSampleFirst : PchOrder::kAverageFirst;
    Chain other = perceptron();
    const auto blocks = other.oracle().averaged_blocks(asked);
    const Tensor expected = solved_by_block(
        other, other.dense().gradient(), [&](size_t i) { return limited(blocks[i].block, 0.0); });
    const Tensor actual = descent("hbp_pch_abs",
                                  with({{"cg_tolerance", 1e-12},
                                        {"averaged", 2},
                                        {"parameter_averaged", 1},
                                        {"sample_first", sample_first}}),
                                  other);
    expect_same(actual, expected, "averages apart");
  }
}

TEST(HbpStep, CountsThePenaltyAsCurvature) {
  Chain chain = perceptron();
  const auto blocks = chain.oracle().blocks(CurvatureKind::kGgn);
  const Tensor gradient = chain.dense().gradient() + 0.05 * flat(chain.parameters());
  const Tensor expected =
      solved_by_block(chain, gradient, [&](size_t i) { return limited(blocks[i].block, 0.05); });
  const Hyperparameters given = with({{"cg_tolerance", 1e-12}, {"weight_decay", 0.03}});
  expect_same(descent("hbp_ggn", given, chain, 0.02), expected, "hbp_ggn");
}

TEST(HbpStep, StopsWhereTheResidualIsSmallEnough) {
  Chain chain = perceptron();
  const auto blocks = chain.oracle().blocks(CurvatureKind::kGgn);
  const Tensor gradient = chain.dense().gradient();
  const Tensor actual = descent("hbp_ggn", with({}), chain);
  const std::vector<int64_t> offsets = tests::offsets_of(chain.parameters());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Tensor right = gradient.slice(0, offsets[i], offsets[i + 1]);
    const Tensor residual =
        right - limited(blocks[i].block, 0.0).mv(actual.slice(0, offsets[i], offsets[i + 1]));
    EXPECT_LE(residual.norm().item<double>(), 0.1 * right.norm().item<double>()) << i;
  }
}

// ---- ViViT --------------------------------------------------------------------------------------

TEST(VivitNewtonStep, IsTheDampedNewtonStep) {
  for (Chain& chain : chains()) {
    const auto dense = chain.dense();
    const Tensor expected = solved(dense.ggn() + kDamping * eye(dense.dim()), dense.gradient());
    expect_same(descent("vivit_newton", with({}), chain), expected, "vivit_newton");
  }
}

TEST(VivitNewtonStep, LeavesFlatDirectionsOutIfAsked) {
  Chain chain = perceptron();
  const auto dense = chain.dense();
  const auto [values, vectors] = at::linalg_eigh(dense.ggn());
  const Tensor slopes = vectors.t().mv(dense.gradient());
  const Tensor curves = values > 1e-10 * values.max();
  const Tensor expected =
      vectors.mv(torch::where(curves, slopes / (values + kDamping), torch::zeros_like(slopes)));
  expect_same(descent("vivit_newton", with({{"trivial", 0}}), chain), expected, "projected");
}

TEST(VivitNewtonStep, TakesBlocksIfAsked) {
  Chain chain = perceptron();
  const auto dense = chain.dense();
  const Tensor expected = solved_by_block(chain, dense.gradient(), [&](size_t i) {
    const Tensor block = tests::block(dense.ggn(), chain.parameters(), {i});
    return block + kDamping * eye(block.size(0));
  });
  expect_same(
      descent("vivit_newton", with({{"by_parameter", 1}}), chain), expected, "by_parameter");
}

TEST(VivitNewtonStep, TakesTheGgnOfTheFirstSamplesAndTheGradientOfAll) {
  for (const int64_t count : {1, 2, 1000}) {
    Chain chain = perceptron();
    const auto dense = chain.dense();
    std::vector<int64_t> first;
    for (int64_t n = 0; n < std::min(count, dense.batch_size()); ++n) first.push_back(n);
    const Tensor expected =
        solved(dense.select(first).ggn() + kDamping * eye(dense.dim()), dense.gradient());
    const Hyperparameters given = with({{"curvature_samples", double(count)}});
    expect_same(descent("vivit_newton", given, chain), expected, "curvature_samples");
  }
}

TEST(VivitNoiseStep, DampsEachDirectionByItsNoise) {
  for (const double trivial : {0.0, 1.0}) {
    Chain chain = perceptron();
    const auto dense = chain.dense();
    const double N = static_cast<double>(dense.batch_size());
    const auto [values, vectors] = at::linalg_eigh(dense.ggn());
    Tensor expected = torch::zeros({dense.dim()}, torch::kDouble);
    for (int64_t k = 0; k < dense.dim(); ++k) {
      const Tensor e = vectors.select(1, k);
      const Tensor slopes = dense.gradients.mv(e);
      const Tensor curves = at::einsum("d,nde,e->n", {e, dense.ggns(), e});
      const double slope = slopes.mean().item<double>(), curve = curves.mean().item<double>();
      const bool is_flat = values[k].item<double>() <= 1e-12 * values.max().item<double>();
      if (is_flat && trivial == 0) continue;
      const double noise = slopes.var(/*unbiased=*/true).item<double>() / N;
      const double error = std::sqrt(curves.var(/*unbiased=*/true).item<double>() / N);
      const double damped =
          is_flat ? kDamping : curve + kDamping + curve * noise / (slope * slope) + 2 * error;
      expected += slope / damped * e;
    }
    const Hyperparameters given = with({{"caution", 2}, {"trivial", trivial}});
    expect_same(descent("vivit_noise", given, chain), expected, "vivit_noise", 1e-6);
  }
}

}  // namespace
}  // namespace flightdeck::suite
