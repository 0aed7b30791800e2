// SPDX-License-Identifier: MIT
// Matrix products: every way a weight meets activations, and every place the samples can sit.
#include "check_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class LinearGradients : public SeededTest {};
class MatmulGradients : public SeededTest {};
class SampleLayout : public SeededTest {};

nn::Linear layer_of(int64_t inputs, int64_t outputs, bool bias = true) {
  return on_device(nn::Linear(nn::LinearOptions(inputs, outputs).bias(bias)));
}

TEST_F(LinearGradients, MatchOracleForMatrixInput) {
  auto layer = layer_of(5, 4);
  check_model(losses_of(layer(random({3, 5}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleWithoutBias) {
  auto layer = layer_of(5, 4, false);
  check_model(losses_of(layer(random({3, 5}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForSequenceInput) {
  auto layer = layer_of(4, 2);
  check_model(losses_of(layer(random({3, 5, 4}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForSequenceInputWithoutBias) {
  auto layer = layer_of(4, 2, false);
  check_model(losses_of(layer(random({3, 5, 4}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForGridInput) {
  auto layer = layer_of(4, 3);
  check_model(losses_of(layer(random({3, 2, 5, 4}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForGridInputWithoutBias) {
  auto layer = layer_of(4, 3, false);
  check_model(losses_of(layer(random({3, 2, 5, 4}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForManyPositionsAndFewFeatures) {
  auto layer = layer_of(2, 2);
  check_model(losses_of(layer(random({3, 40, 2}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForFewPositionsAndManyFeatures) {
  auto layer = layer_of(40, 30);
  check_model(losses_of(layer(random({3, 2, 40}))), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForSingleOutputAndSingleInput) {
  auto first = layer_of(3, 1);
  auto second = layer_of(1, 2);
  check_model(losses_of(second(first(random({4, 3})).tanh())),
              ParameterList().add("first", first).add("second", second));
}

TEST_F(LinearGradients, MatchOracleThroughDeepStack) {
  auto first = layer_of(4, 6);
  auto second = layer_of(6, 5);
  auto third = layer_of(5, 3);
  const Tensor hidden = first(random({5, 4})).relu();
  check_model(losses_of(third(second(hidden).sigmoid())),
              ParameterList().add("first", first).add("second", second).add("third", third));
}

TEST_F(LinearGradients, MatchOracleForSparseRectifiedInput) {
  auto first = layer_of(4, 8);
  auto second = layer_of(8, 3);
  // Rectified activations of a sample may all be zero: its weight row is then zero too.
  const Tensor hidden = (first(random({4, 4})) - 1.0).relu();
  check_model(losses_of(second(hidden)), ParameterList().add("first", first).add("second", second));
}

TEST_F(LinearGradients, MatchOracleForNonContiguousInput) {
  auto layer = layer_of(5, 4);
  const Tensor input = random({5, 6}).t().slice(0, 0, 6, 2);
  check_model(losses_of(layer(input)), layer->named_parameters());
}

TEST_F(LinearGradients, MatchOracleForExpandedInput) {
  auto layer = layer_of(4, 3);
  auto mixing = layer_of(3, 3);
  const Tensor shared = random({1, 4}).expand({3, 4});
  check_model(losses_of(mixing(layer(shared)) * random({3, 3})),
              ParameterList().add("layer", layer).add("mixing", mixing));
}

TEST_F(MatmulGradients, MatchOracleForWeightOnTheRight) {
  const Tensor weight = random_parameter({5, 4});
  check_model(losses_of(at::matmul(random({3, 5}), weight)), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForWeightOnTheRightOfSequence) {
  const Tensor weight = random_parameter({4, 2});
  check_model(losses_of(at::matmul(random({3, 5, 4}), weight)), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForFeaturesFirst) {
  const Tensor weight = random_parameter({4, 5});
  const Tensor outputs = at::matmul(weight, random({5, 3}));  // [J, N]
  check_model(losses_of(outputs.t()), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForFeaturesFirstThroughTwoLayers) {
  const Tensor first = random_parameter({4, 5});
  const Tensor bias = random_parameter({4, 1});
  const Tensor second = random_parameter({2, 4});
  const Tensor hidden = (at::matmul(first, random({5, 3})) + bias).tanh();  // [J, N]
  const Tensor outputs = at::matmul(second, hidden);
  const Tensor losses = (outputs * random({2, 3}) + outputs.square()).sum(0);
  check_model(losses, std::vector<Tensor>{first, bias, second});
}

TEST_F(MatmulGradients, MatchOracleForWeightOnTheLeftOfBatchedColumns) {
  const Tensor weight = random_parameter({4, 5});
  check_model(losses_of(at::matmul(weight, random({3, 5, 2}))), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForMatrixTimesVector) {
  const Tensor weight = random_parameter({5});
  check_model(losses_of(at::matmul(random({3, 5}), weight).tanh()), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForSequenceTimesVector) {
  const Tensor weight = random_parameter({4});
  check_model(losses_of(at::matmul(random({3, 5, 4}), weight)), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForAddmmWithAlphaAndBeta) {
  const Tensor weight = random_parameter({5, 4});
  const Tensor bias = random_parameter({4});
  const Tensor outputs = at::addmm(bias, random({3, 5}), weight, /*beta=*/0.5, /*alpha=*/-1.5);
  check_model(losses_of(outputs), std::vector<Tensor>{weight, bias});
}

TEST_F(MatmulGradients, MatchOracleForAddmmOntoActivations) {
  const Tensor weight = random_parameter({5, 4});
  const Tensor skip = random_parameter({5, 4});
  const Tensor input = random({3, 5});
  const Tensor outputs = at::addmm(input.matmul(skip), input, weight, /*beta=*/2.0, /*alpha=*/0.5);
  check_model(losses_of(outputs), std::vector<Tensor>{weight, skip});
}

TEST_F(MatmulGradients, MatchOracleForAddmv) {
  const Tensor weight = random_parameter({5});
  const Tensor bias = random_parameter({1});
  const Tensor outputs = at::addmv(bias.expand({3}), random({3, 5}), weight).tanh();
  check_model(losses_of(outputs), std::vector<Tensor>{weight, bias}, Path::kExact);
}

TEST_F(MatmulGradients, MatchOracleForBatchedProductWithExpandedWeight) {
  const Tensor weight = random_parameter({4, 2});
  const Tensor outputs = at::bmm(random({3, 5, 4}), weight.expand({3, 4, 2}));
  check_model(losses_of(outputs), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForBatchedProductWithExpandedWeightOnTheLeft) {
  const Tensor weight = random_parameter({2, 4});
  const Tensor outputs = at::bmm(weight.unsqueeze(0).expand({3, 2, 4}), random({3, 4, 5}));
  check_model(losses_of(outputs), std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForBaddbmm) {
  const Tensor weight = random_parameter({4, 2});
  const Tensor bias = random_parameter({2});
  const Tensor outputs = at::baddbmm(
      bias.expand({3, 5, 2}), random({3, 5, 4}), weight.expand({3, 4, 2}), /*beta=*/0.5);
  check_model(losses_of(outputs), std::vector<Tensor>{weight, bias}, Path::kExact);
}

TEST_F(MatmulGradients, MatchOracleForOneWeightPerHead) {
  // Experts or heads: weight [H, I, J] is batched over heads, the samples sit inside.
  const Tensor weight = random_parameter({2, 4, 3});
  const Tensor inputs = random({5, 2, 4}).transpose(0, 1);         // [H, N, I]
  const Tensor outputs = at::bmm(inputs, weight).transpose(0, 1);  // [N, H, J]
  check_model(losses_of(outputs), std::vector<Tensor>{weight}, Path::kExact);
}

TEST_F(MatmulGradients, MatchOracleForProductsOfActivations) {
  auto query = layer_of(4, 3);
  auto key = layer_of(4, 3);
  const Tensor input = random({3, 5, 4});
  const Tensor scores = at::bmm(query(input), key(input).transpose(1, 2)).softmax(-1);
  check_model(losses_of(at::bmm(scores, input)),
              ParameterList().add("query", query).add("key", key));
}

TEST_F(MatmulGradients, MatchOracleForEinsumOfSequenceAndWeight) {
  const Tensor weight = random_parameter({4, 2});
  check_model(losses_of(at::einsum("nti,ij->ntj", {random({3, 5, 4}), weight})),
              std::vector<Tensor>{weight});
}

TEST_F(MatmulGradients, MatchOracleForEinsumWithHeads) {
  const Tensor weight = random_parameter({2, 4, 3});
  check_model(losses_of(at::einsum("nti,hij->nhtj", {random({3, 5, 4}), weight})),
              std::vector<Tensor>{weight},
              Path::kExact);
}

TEST_F(MatmulGradients, MatchOracleForEinsumOverTheTimeAxis) {
  const Tensor weight = random_parameter({5, 6});
  check_model(losses_of(at::einsum("nti,ts->nsi", {random({3, 5, 4}), weight})),
              std::vector<Tensor>{weight});
}

TEST_F(SampleLayout, IsFoundInFlattenedSequences) {
  auto layer = layer_of(4, 3);
  const Tensor outputs = layer(random({2, 5, 4}).view({10, 4}));  // [N*T, J]
  check_model(losses_of(outputs.view({2, 5, 3})), layer->named_parameters());
}

TEST_F(SampleLayout, IsFoundInFlattenedTimeMajorSequences) {
  auto layer = layer_of(4, 3);
  const Tensor outputs = layer(random({5, 2, 4}).view({10, 4}));  // [T*N, J]
  check_model(losses_of(outputs.view({5, 2, 3}).transpose(0, 1)), layer->named_parameters());
}

TEST_F(SampleLayout, IsFoundInTimeMajorSequences) {
  auto layer = layer_of(4, 3);
  const Tensor outputs = layer(random({5, 2, 4}));  // [T, N, J]
  check_model((outputs * random({5, 2, 3}) + outputs.square()).sum(2).mean(0),
              layer->named_parameters());
}

TEST_F(SampleLayout, IsFoundBetweenTwoFlattenedAxes) {
  auto layer = layer_of(4, 3);
  const Tensor outputs = layer(random({2, 5, 3, 4}).view({30, 4}));  // [S*N*T, J]
  check_model(losses_of(outputs.view({2, 5, 3, 3}).permute({1, 0, 3, 2})),
              layer->named_parameters());
}

TEST_F(SampleLayout, IsFoundWhenAllSizesAreEqual) {
  auto batch_major = layer_of(3, 3);
  auto time_major = layer_of(3, 3);
  auto over_time = layer_of(3, 3);
  const Tensor table = random_parameter({3, 3});
  Tensor hidden = batch_major(random({3, 3, 3})).tanh() + table;  // [N, T, I]
  hidden = time_major(hidden.transpose(0, 1)).tanh();             // [T, N, I]
  hidden = over_time(hidden.permute({1, 2, 0})).tanh();           // [N, I, T]
  check_model(losses_of(hidden),
              ParameterList()
                  .add("batch_major", batch_major)
                  .add("time_major", time_major)
                  .add("over_time", over_time)
                  .add("table", table));
}

TEST_F(SampleLayout, IsFoundInTheLastAxis) {
  const Tensor weight = random_parameter({4, 5});
  const Tensor outputs = at::matmul(weight, random({2, 5, 3}));  // [T, J, N]
  check_model(losses_of(outputs.permute({2, 0, 1})), std::vector<Tensor>{weight});
}

TEST_F(SampleLayout, IsFoundWhenTheWholeSampleIsFlattenedTogether) {
  const Tensor scale = random_parameter({4});
  const Tensor outputs = (random({3, 4}) * scale).tanh().reshape({12});  // [N*J]
  check_model((outputs * outputs).view({3, 4}).sum(1), std::vector<Tensor>{scale});
}

}  // namespace
}  // namespace flightdeck::tests
