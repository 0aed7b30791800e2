// SPDX-License-Identifier: MIT
// Parameters that enter element by element: embeddings, affine parts of normalisations, broadcast
// sums, products and quotients.
#include "check_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

class EmbeddingGradients : public SeededTest {};
class NormalizationGradients : public SeededTest {};
class BroadcastGradients : public SeededTest {};

// A layer with learned input: the gradient that flows through `layer` is checked as well.
template <typename Layer>
void check_shifted(Layer layer, at::IntArrayRef input_shape, Path path = Path::kFast) {
  layer = on_device(layer);
  const Tensor shift = random_parameter(input_shape.slice(1));
  check_model(losses_of(layer(random(input_shape) + shift)),
              ParameterList().add("layer", layer).add("shift", shift),
              path);
}

// Default affine parameters are one and zero, which would hide a wrong scale.
template <typename Layer>
Layer with_random_affine(Layer layer) {
  torch::NoGradGuard guard;
  for (Tensor& parameter : layer->parameters()) parameter.normal_();
  return layer;
}

template <typename BatchNorm>
BatchNorm evaluating(BatchNorm layer) {
  layer = with_random_affine(layer);
  layer->running_mean.normal_();
  layer->running_var.uniform_(0.5, 2.0);
  layer->eval();
  return layer;
}

TEST_F(EmbeddingGradients, MatchOracleWithRepeatedIndices) {
  auto layer = on_device(nn::Embedding(6, 4));
  const Tensor indices = at::tensor({1, 3, 1, 1, 0, 5, 5, 5, 5, 2, 3, 2}, at::kLong).view({3, 4});
  check_model(losses_of(layer(indices.to(test_device()))), layer->named_parameters());
}

TEST_F(EmbeddingGradients, MatchOracleForOneIndexPerSample) {
  auto layer = on_device(nn::Embedding(5, 3));
  const Tensor indices = at::tensor({4, 0, 4, 2}, at::kLong).to(test_device());
  check_model(losses_of(layer(indices)), layer->named_parameters());
}

TEST_F(EmbeddingGradients, MatchOracleForTimeMajorIndices) {
  auto layer = on_device(nn::Embedding(5, 3));
  const Tensor outputs = layer(random_integers({4, 3}, 5));  // [T, N, J]
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(EmbeddingGradients, LeaveOutThePaddingIndex) {
  auto layer = on_device(nn::Embedding(nn::EmbeddingOptions(5, 3).padding_idx(2)));
  const Tensor indices = at::tensor({2, 2, 1, 4, 2, 1, 0, 0, 0}, at::kLong).view({3, 3});
  check_model(losses_of(layer(indices.to(test_device()))), layer->named_parameters());
}

TEST_F(EmbeddingGradients, MatchOracleWhenScaledByFrequency) {
  const Tensor weight = random_parameter({5, 3});
  const Tensor indices = at::tensor({2, 2, 1, 4, 2, 1}, at::kLong).view({3, 2}).to(test_device());
  const Tensor outputs =
      at::embedding(weight, indices, /*padding_idx=*/-1, /*scale_grad_by_freq=*/true);
  check_model(losses_of(outputs), std::vector<Tensor>{weight}, Path::kExact);
}

TEST_F(EmbeddingGradients, MatchOracleForSparseGradients) {
  auto layer = on_device(nn::Embedding(nn::EmbeddingOptions(6, 4).sparse(true)));
  check_model(
      losses_of(layer(random_integers({3, 4}, 6))), layer->named_parameters(), Path::kExact);
}

TEST_F(EmbeddingGradients, MatchOracleForIndexSelectAndIndexing) {
  const Tensor table = random_parameter({6, 4});
  const Tensor first = table.index_select(0, random_integers({3}, 6));
  const Tensor second = table.index({random_integers({3}, 6)});
  check_model(losses_of(first * 2.0 + second.tanh()), std::vector<Tensor>{table}, Path::kExact);
}

TEST_F(EmbeddingGradients, MatchOracleForTokenAndPositionTables) {
  auto tokens = on_device(nn::Embedding(7, 4));
  auto positions = on_device(nn::Embedding(5, 4));
  const Tensor steps = at::arange(5, at::kLong).to(test_device());
  const Tensor hidden = tokens(random_integers({3, 5}, 7)) + positions(steps);
  check_model(losses_of(hidden), ParameterList().add("tokens", tokens).add("positions", positions));
}

TEST_F(EmbeddingGradients, MatchOracleForBags) {
  auto layer = on_device(nn::EmbeddingBag(nn::EmbeddingBagOptions(6, 4).mode(torch::kSum)));
  check_model(
      losses_of(layer(random_integers({3, 4}, 6))), layer->named_parameters(), Path::kExact);
}

TEST_F(NormalizationGradients, MatchOracleForLayerNorm) {
  check_shifted(with_random_affine(nn::LayerNorm(nn::LayerNormOptions({5}))), {3, 5});
}

TEST_F(NormalizationGradients, MatchOracleForLayerNormOfSequences) {
  check_shifted(with_random_affine(nn::LayerNorm(nn::LayerNormOptions({4}))), {3, 5, 4});
}

TEST_F(NormalizationGradients, MatchOracleForLayerNormOverTwoAxes) {
  check_shifted(with_random_affine(nn::LayerNorm(nn::LayerNormOptions({5, 4}))), {3, 5, 4});
}

TEST_F(NormalizationGradients, MatchOracleForTimeMajorLayerNorm) {
  auto layer = on_device(with_random_affine(nn::LayerNorm(nn::LayerNormOptions({4}))));
  check_model(losses_of(layer(random({5, 3, 4})).transpose(0, 1)), layer->named_parameters());
}

TEST_F(NormalizationGradients, MatchOracleForGroupNorm) {
  check_shifted(with_random_affine(nn::GroupNorm(nn::GroupNormOptions(2, 4))), {3, 4, 3, 2});
}

TEST_F(NormalizationGradients, MatchOracleForGroupNormOfVectors) {
  check_shifted(with_random_affine(nn::GroupNorm(nn::GroupNormOptions(2, 6))), {3, 6});
}

TEST_F(NormalizationGradients, MatchOracleForInstanceNorm) {
  check_shifted(with_random_affine(nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true))),
                {4, 3, 3, 2});
}

TEST_F(NormalizationGradients, MatchOracleForInstanceNormOfOneSample) {
  // PyTorch runs it as training-mode batch norm over [1, N C, ...]; one sample meets no other.
  check_shifted(with_random_affine(nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true))),
                {1, 3, 3, 2});
}

TEST_F(NormalizationGradients, MatchOracleForInstanceNormIn1d) {
  check_shifted(with_random_affine(nn::InstanceNorm1d(nn::InstanceNorm1dOptions(3).affine(true))),
                {4, 3, 5});
}

TEST_F(NormalizationGradients, MatchOracleForEvaluationModeBatchNormIn1d) {
  check_shifted(evaluating(nn::BatchNorm1d(5)), {3, 5});
}

TEST_F(NormalizationGradients, MatchOracleForEvaluationModeBatchNormOfSequences) {
  check_shifted(evaluating(nn::BatchNorm1d(4)), {3, 4, 5});
}

TEST_F(NormalizationGradients, MatchOracleForEvaluationModeBatchNormIn2d) {
  check_shifted(evaluating(nn::BatchNorm2d(3)), {4, 3, 3, 2});
}

TEST_F(NormalizationGradients, MatchOracleForRootMeanSquareNorm) {
  const Tensor scale = random_parameter({4});
  const Tensor shift = random_parameter({4});
  const Tensor input = random({3, 5, 4}) + shift;
  const Tensor normalised = input * (input.square().mean(-1, /*keepdim=*/true) + 1e-6).rsqrt();
  check_model(losses_of(normalised * scale), std::vector<Tensor>{scale, shift});
}

TEST_F(BroadcastGradients, MatchOracleForBias) {
  const Tensor bias = random_parameter({4});
  check_model(losses_of(random({3, 4}) + bias), std::vector<Tensor>{bias});
}

TEST_F(BroadcastGradients, MatchOracleForSubtractedAndScaledAddends) {
  const Tensor left = random_parameter({4});
  const Tensor right = random_parameter({5, 1});
  const Tensor outputs = at::sub(at::add(random({3, 5, 4}), left, 2.5), right, 0.5);
  check_model(losses_of(outputs), std::vector<Tensor>{left, right});
}

TEST_F(BroadcastGradients, MatchOracleForParameterLessActivations) {
  const Tensor centre = random_parameter({4});
  check_model(losses_of(centre - random({3, 4})), std::vector<Tensor>{centre});
}

TEST_F(BroadcastGradients, MatchOracleForPositionalTable) {
  const Tensor table = random_parameter({5, 4});
  check_model(losses_of(random({3, 5, 4}) + table), std::vector<Tensor>{table});
}

TEST_F(BroadcastGradients, MatchOracleForSliceOfPositionalTable) {
  const Tensor table = random_parameter({1, 8, 4});
  check_model(losses_of(random({3, 5, 4}) + table.slice(1, 0, 5)), std::vector<Tensor>{table});
}

TEST_F(BroadcastGradients, MatchOracleForTimeMajorPositionalTable) {
  const Tensor table = random_parameter({5, 1, 4});
  const Tensor outputs = random({5, 3, 4}) + table;  // [T, N, I]
  check_model(losses_of(outputs.transpose(0, 1)), std::vector<Tensor>{table});
}

TEST_F(BroadcastGradients, MatchOracleForScalarShift) {
  const Tensor shift = random_parameter({});
  check_model(losses_of(random({3, 4}) + shift), std::vector<Tensor>{shift});
}

TEST_F(BroadcastGradients, MatchOracleForScale) {
  const Tensor scale = random_parameter({4});
  check_model(losses_of(random({3, 4}) * scale), std::vector<Tensor>{scale});
}

TEST_F(BroadcastGradients, MatchOracleForPerChannelScaleAndShift) {
  const Tensor scale = random_parameter({3, 1, 1});
  const Tensor shift = random_parameter({1, 3, 1, 1});
  check_model(losses_of(random({4, 3, 2, 5}) * scale + shift), std::vector<Tensor>{scale, shift});
}

TEST_F(BroadcastGradients, MatchOracleForGate) {
  const Tensor gate = random_parameter({4});
  check_model(
      losses_of(random({3, 5, 4}) * gate.sigmoid()), std::vector<Tensor>{gate}, Path::kExact);
}

TEST_F(BroadcastGradients, MatchOracleForScalarFactor) {
  const Tensor temperature = random_parameter({});
  check_model(losses_of((random({3, 4}) * temperature).tanh()), std::vector<Tensor>{temperature});
}

TEST_F(BroadcastGradients, MatchOracleForDivisor) {
  const Tensor divisor = random_parameter({4}).detach().abs().add(1.0).requires_grad_(true);
  check_model(losses_of(random({3, 5, 4}) / divisor), std::vector<Tensor>{divisor}, Path::kExact);
}

TEST_F(BroadcastGradients, MatchOracleForDividend) {
  const Tensor dividend = random_parameter({4});
  check_model(losses_of(dividend / (random({3, 5, 4}).abs() + 1.0)),
              std::vector<Tensor>{dividend},
              Path::kExact);
}

TEST_F(BroadcastGradients, MatchOracleForFullShapeParameterWithUnitBatch) {
  const Tensor table = random_parameter({1, 5, 4});
  check_model(losses_of((random({3, 5, 4}) * table).tanh()), std::vector<Tensor>{table});
}

TEST_F(BroadcastGradients, MatchOracleForTableWithOneRowPerSample) {
  // The parameter has a sample axis of its own: row n is zero outside entry n.
  const Tensor table = random_parameter({3, 4});
  const Tensor factors = random_parameter({3, 4});
  check_model(losses_of((random({3, 4}) * factors + table).tanh()),
              std::vector<Tensor>{table, factors},
              Path::kExact);
}

TEST_F(BroadcastGradients, MatchOracleForAddcmulAndLerp) {
  const Tensor scale = random_parameter({4});
  const Tensor mix = random_parameter({4});
  const Tensor input = random({3, 4});
  const Tensor outputs = at::lerp(at::addcmul(input, input.tanh(), scale, 0.5), input.sin(), mix);
  check_model(losses_of(outputs), std::vector<Tensor>{scale, mix}, Path::kExact);
}

TEST_F(BroadcastGradients, MatchOracleForWhereAndPrelu) {
  const Tensor fill = random_parameter({4});
  const Tensor slope = random_parameter({4});
  const Tensor input = random({3, 4});
  const Tensor outputs = F::prelu(at::where(input > 0.3, input, fill), slope);
  check_model(losses_of(outputs), std::vector<Tensor>{fill, slope}, Path::kExact);
}

}  // namespace
}  // namespace flightdeck::tests
