// SPDX-License-Identifier: MIT
// Parameters used more than once, through views, or through functions of parameters.
#include "check_model.h"
#include "passes/layers.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class TiedParameters : public SeededTest {};
class ResidualNets : public SeededTest {};
class WeightViews : public SeededTest {};
class WeightFunctions : public SeededTest {};
class ActivationViews : public SeededTest {};

TEST_F(TiedParameters, MatchOracleForEmbeddingAsOutputMatrix) {
  const Tensor table = random_parameter({6, 4});
  const Tensor hidden = at::embedding(table, random_integers({3, 5}, 6)).tanh();
  check_model(losses_of(at::matmul(hidden, table.t())), std::vector<Tensor>{table});
}

TEST_F(TiedParameters, MatchOracleForEmbeddingAsOutputLayerWithBias) {
  const Tensor table = random_parameter({6, 4});
  const Tensor bias = random_parameter({6});
  const Tensor hidden = at::embedding(table, random_integers({3, 5}, 6)).mean(1).tanh();
  check_model(losses_of(at::linear(hidden, table, bias)), std::vector<Tensor>{table, bias});
}

TEST_F(TiedParameters, MatchOracleForLinearLayerAppliedTwice) {
  auto layer = linear(4, 4);
  check_model(losses_of(layer(layer(random({3, 4})).tanh())), layer->named_parameters());
}

TEST_F(TiedParameters, MatchOracleForLinearLayerOnVectorsAndSequences) {
  auto layer = linear(4, 4);
  const Tensor sequence = layer(random({3, 5, 4})).tanh().mean(1);
  check_model(losses_of(layer(sequence)), layer->named_parameters());
}

TEST_F(TiedParameters, MatchOracleForUsesThatCancel) {
  auto layer = linear(4, 3);
  const Tensor input = random({3, 4});
  // The uses' norms are large, the norm of their sum is small: the cross terms decide.
  check_model(losses_of(layer(input) - layer(input + 0.01 * random({3, 4}))),
              layer->named_parameters());
}

TEST_F(TiedParameters, MatchOracleForSharedConvolution) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding(1)));
  check_model(losses_of(layer(layer(random({3, 2, 4, 5})).tanh())), layer->named_parameters());
}

TEST_F(TiedParameters, MatchOracleForConvolutionSharedAcrossResolutions) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding(1)));
  const Tensor coarse = layer(at::avg_pool2d(random({3, 2, 6, 6}), 2)).flatten(1);
  const Tensor fine = layer(random({3, 2, 6, 6})).flatten(1);
  check_model(losses_of(at::cat({coarse, fine}, 1)), layer->named_parameters());
}

TEST_F(TiedParameters, MatchOracleForAutoencoderWithTransposedWeight) {
  const Tensor weight = random_parameter({3, 5});
  const Tensor code = at::linear(random({4, 5}), weight).sigmoid();
  check_model(losses_of(at::linear(code, weight.t())), std::vector<Tensor>{weight});
}

TEST_F(TiedParameters, MatchOracleForBiasSharedByLayersAndScale) {
  const Tensor vector = random_parameter({4});
  auto layer = linear(4, 4);
  const Tensor hidden = (layer(random({3, 4})) + vector).tanh() * vector;
  check_model(losses_of(hidden), ParameterList().add("layer", layer).add("vector", vector));
}

TEST_F(TiedParameters, MatchOracleForSiameseBranches) {
  auto layer = linear(4, 3);
  const Tensor left = layer(random({3, 4})).tanh();
  const Tensor right = layer(random({3, 4})).tanh();
  check_model(losses_of(at::cosine_similarity(left, right, 1)), layer->named_parameters());
}

TEST_F(ResidualNets, MatchOracleForIdentitySkips) {
  auto first = linear(4, 4);
  auto second = linear(4, 4);
  Tensor hidden = random({3, 4});
  hidden = hidden + first(hidden).relu();
  hidden = hidden + second(hidden).relu();
  check_model(losses_of(hidden), ParameterList().add("first", first).add("second", second));
}

TEST_F(ResidualNets, MatchOracleForConvolutionalBlockWithProjection) {
  auto first = on_device(nn::Conv2d(nn::Conv2dOptions(2, 4, 3).stride(2).padding(1)));
  auto second = on_device(nn::Conv2d(nn::Conv2dOptions(4, 4, 3).padding(1)));
  auto project = on_device(nn::Conv2d(nn::Conv2dOptions(2, 4, 1).stride(2)));
  const Tensor input = random({3, 2, 6, 6});
  const Tensor hidden = (second(first(input).relu()) + project(input)).relu();
  check_model(losses_of(hidden.mean({2, 3})),
              ParameterList().add("first", first).add("second", second).add("project", project));
}

TEST_F(ResidualNets, MatchOracleForInPlaceAdditionAndActivation) {
  auto first = linear(4, 4);
  auto second = linear(4, 4);
  Tensor hidden = first(random({3, 4}));
  hidden.relu_();
  Tensor outputs = second(hidden);
  outputs += hidden;
  check_model(losses_of(outputs), ParameterList().add("first", first).add("second", second));
}

TEST_F(ResidualNets, MatchOracleWhenPathsMultiplyWithDepth) {
  // 3^40 paths lead from the losses to the scale: only a walk that visits nodes once ends.
  const Tensor scale = random_parameter({4});
  const Tensor weight = random_parameter({4, 4});
  Tensor hidden = random({3, 4}) * scale;
  for (int block = 0; block < 40; ++block) hidden = hidden + 0.1 * hidden.tanh() * hidden.sigmoid();
  check_model(losses_of(at::linear(hidden, weight)), std::vector<Tensor>{scale, weight});
}

TEST_F(ResidualNets, MatchOracleWhenPathsMultiplyInsideAComputedWeight) {
  const Tensor weight = random_parameter({4, 4});
  Tensor computed = weight;
  for (int block = 0; block < 40; ++block) {
    computed = computed + 0.1 * computed.tanh() * computed.sigmoid();
  }
  check_model(
      losses_of(at::linear(random({3, 4}), computed)), std::vector<Tensor>{weight}, Path::kExact);
}

TEST_F(ResidualNets, MatchOracleWhenPathsMultiplyBehindSamplesThatMeet) {
  auto layer = linear(4, 4);
  Tensor hidden = layer(random({3, 4}));
  for (int block = 0; block < 40; ++block) hidden = hidden + 0.1 * hidden.tanh() * hidden.sigmoid();
  check_model(losses_of(hidden - hidden.mean(0)), layer->named_parameters(), Path::kExact);
}

TEST_F(ResidualNets, MatchOracleForDenseConcatenation) {
  auto first = linear(4, 3);
  auto second = linear(7, 2);
  const Tensor input = random({3, 4});
  const Tensor outputs = second(at::cat({input, first(input).tanh()}, 1));
  check_model(losses_of(outputs), ParameterList().add("first", first).add("second", second));
}

TEST_F(WeightViews, MatchOracleForTransposeAndView) {
  const Tensor flat = random_parameter({20});
  check_model(losses_of(at::matmul(random({3, 5}), flat.view({4, 5}).t())),
              std::vector<Tensor>{flat});
}

TEST_F(WeightViews, MatchOracleForPermutedWeight) {
  const Tensor weight = random_parameter({2, 4, 3});
  const Tensor matrix = weight.permute({1, 2, 0}).reshape({4, 6});
  check_model(losses_of(at::matmul(random({3, 4}), matrix)), std::vector<Tensor>{weight});
}

TEST_F(WeightViews, MatchOracleForRowSlice) {
  const Tensor weight = random_parameter({6, 5});
  check_model(losses_of(at::linear(random({3, 5}), weight.slice(0, 1, 4))),
              std::vector<Tensor>{weight});
}

TEST_F(WeightViews, MatchOracleForColumnSliceWithStep) {
  const Tensor weight = random_parameter({4, 6});
  check_model(losses_of(at::linear(random({3, 3}), weight.slice(1, 0, 6, 2))),
              std::vector<Tensor>{weight});
}

TEST_F(WeightViews, MatchOracleForSelectedMatrix) {
  const Tensor stack = random_parameter({3, 4, 5});
  const Tensor hidden = at::linear(random({3, 5}), stack[1]) + at::linear(random({3, 5}), stack[2]);
  check_model(losses_of(hidden), std::vector<Tensor>{stack});
}

TEST_F(WeightViews, MatchOracleForChunkedPackedWeight) {
  const Tensor packed = random_parameter({6, 4});
  const auto parts = packed.chunk(3, 0);
  const Tensor input = random({3, 5, 4});
  const Tensor scores =
      at::matmul(at::linear(input, parts[0]), at::linear(input, parts[1]).transpose(1, 2));
  check_model(losses_of(at::matmul(scores.softmax(-1), at::linear(input, parts[2]))),
              std::vector<Tensor>{packed});
}

TEST_F(WeightViews, MatchOracleForConcatenatedWeights) {
  const Tensor upper = random_parameter({2, 4});
  const Tensor lower = random_parameter({3, 4});
  check_model(losses_of(at::linear(random({3, 4}), at::cat({upper, lower}, 0))),
              std::vector<Tensor>{upper, lower},
              Path::kExact);
}

TEST_F(WeightViews, MatchOracleForMaskedWeight) {
  const Tensor weight = random_parameter({4, 5});
  const Tensor mask = (random({4, 5}) > 0.0).to(at::kDouble);
  check_model(losses_of(at::linear(random({3, 5}), weight * mask)),
              std::vector<Tensor>{weight},
              Path::kExact);
}

TEST_F(WeightViews, MatchOracleForWeightCastAndBack) {
  const Tensor weight = random_parameter({4, 5}).detach().to(at::kFloat).requires_grad_(true);
  const Tensor outputs = at::linear(random({3, 5}), weight.to(at::kDouble));
  // Rows are computed in double and rounded to the parameter's type at most once.
  check_model(losses_of(outputs), std::vector<Tensor>{weight});
}

TEST_F(WeightFunctions, MatchOracleForWeightNorm) {
  const Tensor direction = random_parameter({4, 5});
  const Tensor length = random_parameter({4, 1});
  const Tensor weight = direction * (length / direction.norm(2, {1}, /*keepdim=*/true));
  check_model(losses_of(at::linear(random({3, 5}), weight).tanh()),
              std::vector<Tensor>{direction, length},
              Path::kExact);
}

TEST_F(WeightFunctions, MatchOracleForFusedWeightNorm) {
  const Tensor direction = random_parameter({4, 5});
  const Tensor length = random_parameter({4, 1});
  const Tensor weight = std::get<0>(at::_weight_norm_interface(direction, length, /*dim=*/0));
  check_model(losses_of(at::linear(random({3, 5}), weight).tanh()),
              std::vector<Tensor>{direction, length});
}

TEST_F(WeightFunctions, MatchOracleForLowRankProduct) {
  const Tensor left = random_parameter({5, 2});
  const Tensor right = random_parameter({2, 4});
  check_model(losses_of(at::matmul(random({3, 5}), at::matmul(left, right)).tanh()),
              std::vector<Tensor>{left, right},
              Path::kExact);
}

TEST_F(WeightFunctions, MatchOracleForLowRankAdapterBesideFrozenWeight) {
  const Tensor frozen = random({4, 5});
  const Tensor down = random_parameter({2, 5});
  const Tensor up = random_parameter({4, 2});
  const Tensor input = random({3, 5});
  const Tensor outputs = at::linear(input, frozen) + at::linear(at::linear(input, down), up) * 0.5;
  check_model(losses_of(outputs), std::vector<Tensor>{down, up});
}

TEST_F(WeightFunctions, MatchOracleForPowersAndExponentials) {
  const Tensor weight = random_parameter({4, 5});
  const Tensor log_scale = random_parameter({4});
  check_model(losses_of(at::linear(random({3, 5}), weight.pow(3)) * log_scale.exp()),
              std::vector<Tensor>{weight, log_scale},
              Path::kExact);
}

TEST_F(WeightFunctions, MatchOracleForStandardizedKernel) {
  const Tensor weight = random_parameter({3, 2, 3, 3});
  const Tensor centred = weight - weight.mean({1, 2, 3}, /*keepdim=*/true);
  const Tensor kernel =
      centred / (centred.square().mean({1, 2, 3}, /*keepdim=*/true) + 1e-5).sqrt();
  check_model(losses_of(at::conv2d(random({3, 2, 4, 5}), kernel)),
              std::vector<Tensor>{weight},
              Path::kExact);
}

TEST_F(WeightFunctions, MatchOracleForWeightsMadeByAnotherNet) {
  auto hyper = linear(3, 20);
  const Tensor code = random_parameter({3});
  const Tensor weight = hyper(code).view({4, 5});
  check_model(losses_of(at::linear(random({3, 5}), weight).tanh()),
              ParameterList().add("hyper", hyper).add("code", code),
              Path::kExact);
}

TEST_F(WeightFunctions, MatchOracleForParameterUsedDirectlyAndThroughFunction) {
  const Tensor weight = random_parameter({4, 4});
  const Tensor input = random({3, 4});
  check_model(losses_of(at::linear(input, weight) + at::linear(input, weight.tanh())),
              std::vector<Tensor>{weight},
              Path::kExact);
}

TEST_F(ActivationViews, MatchOracleForCatStackSplitAndSlices) {
  auto first = linear(4, 6);
  auto second = linear(3, 2);
  const auto halves = first(random({3, 4})).tanh().split(3, 1);
  const Tensor stacked = at::stack({second(halves[0]), second(halves[1])}, 1);  // [N, 2, 2]
  const Tensor outputs = at::cat({stacked.flatten(1), halves[0].slice(1, 1, 3)}, 1);
  check_model(losses_of(outputs), ParameterList().add("first", first).add("second", second));
}

TEST_F(ActivationViews, MatchOracleForPermutesAndReshapes) {
  auto first = linear(6, 6);
  auto second = linear(2, 5);
  const Tensor grid = first(random({4, 6})).view({4, 2, 3}).permute({2, 0, 1});  // [3, N, 2]
  const Tensor outputs = second(grid.tanh()).permute({1, 2, 0}).reshape({4, 15});
  check_model(losses_of(outputs), ParameterList().add("first", first).add("second", second));
}

TEST_F(ActivationViews, MatchOracleForSqueezeUnsqueezeExpandAndRepeat) {
  auto first = linear(4, 3);
  auto second = linear(3, 2);
  const Tensor hidden = first(random({3, 4})).unsqueeze(1);  // [N, 1, J]
  const Tensor outputs = second(hidden.expand({3, 5, 3}) * random({3, 5, 3}));
  const Tensor repeated = hidden.repeat({1, 2, 1}).squeeze().flip(1);
  check_model(losses_of(at::cat({outputs.flatten(1), repeated.flatten(1)}, 1)),
              ParameterList().add("first", first).add("second", second));
}

TEST_F(ActivationViews, MatchOracleForStackedStepsInTimeMajorOrder) {
  auto layer = linear(4, 3);
  std::vector<Tensor> steps;
  for (int t = 0; t < 3; ++t) steps.push_back(layer(random({3, 4})).tanh());
  check_model(losses_of(at::stack(steps, 0).transpose(0, 1)), layer->named_parameters());
}

TEST_F(ActivationViews, MatchOracleForPaddedAndRolledFeatures) {
  auto layer = linear(4, 3);
  const Tensor padded = at::constant_pad_nd(layer(random({3, 4})), {1, 2});
  check_model(losses_of(padded.roll(2, 1)), layer->named_parameters(), Path::kExact);
}

}  // namespace
}  // namespace flightdeck::tests
