// SPDX-License-Identifier: MIT
// Recurrent nets and attention.
#include "check_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class RecurrentGradients : public SeededTest {};
class AttentionGradients : public SeededTest {};

constexpr int64_t kBatch = 3;
constexpr int64_t kSteps = 4;
constexpr int64_t kInputs = 3;
constexpr int64_t kHidden = 2;

// Checks a recurrent layer on a whole output sequence.
template <typename Layer>
void check_recurrent(Layer layer, bool batch_first, Path path) {
  layer = on_device(layer);
  const Tensor input =
      batch_first ? random({kBatch, kSteps, kInputs}) : random({kSteps, kBatch, kInputs});
  const Tensor outputs = std::get<0>(layer->forward(input));
  check_model(
      losses_of(batch_first ? outputs : outputs.transpose(0, 1)), layer->named_parameters(), path);
}

template <typename Layer>
void check_recurrent(Layer layer, bool batch_first) {
  check_recurrent(layer, batch_first, fast_where_unrolled());
}

TEST_F(RecurrentGradients, MatchOracleForTanhCells) {
  check_recurrent(nn::RNN(nn::RNNOptions(kInputs, kHidden)), false);
}

TEST_F(RecurrentGradients, MatchOracleForReluCells) {
  check_recurrent(nn::RNN(nn::RNNOptions(kInputs, kHidden).nonlinearity(torch::kReLU)), false);
}

TEST_F(RecurrentGradients, MatchOracleForBatchFirstTanhCells) {
  check_recurrent(nn::RNN(nn::RNNOptions(kInputs, kHidden).batch_first(true)), true);
}

TEST_F(RecurrentGradients, MatchOracleForTwoLayersOfTanhCellsWithoutBias) {
  check_recurrent(nn::RNN(nn::RNNOptions(kInputs, kHidden).num_layers(2).bias(false)), false);
}

TEST_F(RecurrentGradients, MatchOracleForTimeMajorLstm) {
  check_recurrent(nn::LSTM(nn::LSTMOptions(kInputs, kHidden)), false);
}

TEST_F(RecurrentGradients, MatchOracleForBatchFirstLstm) {
  check_recurrent(nn::LSTM(nn::LSTMOptions(kInputs, kHidden).batch_first(true)), true);
}

TEST_F(RecurrentGradients, MatchOracleForTwoLayerLstm) {
  check_recurrent(nn::LSTM(nn::LSTMOptions(kInputs, kHidden).num_layers(2)), false);
}

TEST_F(RecurrentGradients, MatchOracleForBidirectionalLstm) {
  check_recurrent(nn::LSTM(nn::LSTMOptions(kInputs, kHidden).bidirectional(true).batch_first(true)),
                  true);
}

TEST_F(RecurrentGradients, MatchOracleForTwoLayerBidirectionalLstm) {
  check_recurrent(nn::LSTM(nn::LSTMOptions(kInputs, kHidden).bidirectional(true).num_layers(2)),
                  false);
}

TEST_F(RecurrentGradients, MatchOracleForLstmWithProjection) {
  check_recurrent(nn::LSTM(nn::LSTMOptions(kInputs, 4).proj_size(2)), false);
}

TEST_F(RecurrentGradients, MatchOracleForTimeMajorGru) {
  check_recurrent(nn::GRU(nn::GRUOptions(kInputs, kHidden)), false);
}

TEST_F(RecurrentGradients, MatchOracleForBatchFirstTwoLayerGru) {
  check_recurrent(nn::GRU(nn::GRUOptions(kInputs, kHidden).num_layers(2).batch_first(true)), true);
}

TEST_F(RecurrentGradients, MatchOracleForBidirectionalGru) {
  check_recurrent(nn::GRU(nn::GRUOptions(kInputs, kHidden).bidirectional(true)), false);
}

// Paths from the losses to a recurrent weight multiply with every step: only a walk that visits
// each node once ends.
void check_long_sequence(int64_t batch_size) {
  auto layer = on_device(nn::GRU(nn::GRUOptions(kInputs, kHidden).num_layers(2)));
  const Tensor outputs = std::get<0>(layer->forward(random({40, batch_size, kInputs})));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters(), Path::kExact);
}

TEST_F(RecurrentGradients, MatchOracleForLongSequences) { check_long_sequence(2); }

TEST_F(RecurrentGradients, MatchOracleForOneLongSequence) { check_long_sequence(1); }

TEST_F(RecurrentGradients, MatchOracleForLossOnTheLastState) {
  auto layer = on_device(nn::LSTM(nn::LSTMOptions(kInputs, kHidden)));
  auto readout = on_device(nn::Linear(kHidden, 3));
  const Tensor outputs = std::get<0>(layer->forward(random({kSteps, kBatch, kInputs})));
  check_model(losses_of(readout(outputs[kSteps - 1])),
              ParameterList().add("layer", layer).add("readout", readout),
              fast_where_unrolled());
}

TEST_F(RecurrentGradients, MatchOracleForLossOnTheHiddenState) {
  auto layer = on_device(nn::GRU(nn::GRUOptions(kInputs, kHidden).num_layers(2)));
  const Tensor hidden = std::get<1>(layer->forward(random({kSteps, kBatch, kInputs})));
  check_model(losses_of(hidden.transpose(0, 1)), layer->named_parameters(), fast_where_unrolled());
}

TEST_F(RecurrentGradients, MatchOracleForLearnedInitialState) {
  auto layer = on_device(nn::RNN(nn::RNNOptions(kInputs, kHidden)));
  const Tensor start = random_parameter({1, 1, kHidden});
  const Tensor outputs = std::get<0>(layer->forward(
      random({kSteps, kBatch, kInputs}), start.expand({1, kBatch, kHidden}).contiguous()));
  check_model(losses_of(outputs.transpose(0, 1)),
              ParameterList().add("layer", layer).add("start", start),
              fast_where_unrolled());
}

TEST_F(RecurrentGradients, MatchOracleForCellsUnrolledByHand) {
  auto cell = on_device(nn::GRUCell(kInputs, kHidden));
  const Tensor input = random({kBatch, kSteps, kInputs});
  Tensor hidden = at::zeros({kBatch, kHidden}, doubles());
  for (int64_t t = 0; t < kSteps; ++t) hidden = cell(input.select(1, t), hidden);
  check_model(losses_of(hidden), cell->named_parameters(), fast_where_unrolled());
}

TEST_F(RecurrentGradients, MatchOracleForPackedSequencesOfUnequalLength) {
  auto layer = on_device(nn::LSTM(nn::LSTMOptions(kInputs, kHidden).batch_first(true)));
  const Tensor lengths = at::tensor({4, 2, 1}, at::kLong);
  const auto packed = nn::utils::rnn::pack_padded_sequence(
      random({kBatch, kSteps, kInputs}), lengths, /*batch_first=*/true);
  const auto outputs = std::get<0>(layer->forward_with_packed_input(packed));
  const Tensor padded =
      std::get<0>(nn::utils::rnn::pad_packed_sequence(outputs, /*batch_first=*/true));
  check_model(losses_of(padded), layer->named_parameters(), Path::kExact);
}

TEST_F(RecurrentGradients, MatchOracleForEncoderDecoder) {
  auto encoder = on_device(nn::LSTM(nn::LSTMOptions(kInputs, kHidden)));
  auto decoder = on_device(nn::LSTM(nn::LSTMOptions(kInputs, kHidden)));
  const auto state = std::get<1>(encoder->forward(random({kSteps, kBatch, kInputs})));
  const Tensor outputs = std::get<0>(decoder->forward(random({2, kBatch, kInputs}), state));
  check_model(losses_of(outputs.transpose(0, 1)),
              ParameterList().add("encoder", encoder).add("decoder", decoder),
              fast_where_unrolled());
}

nn::MultiheadAttention attention(nn::MultiheadAttentionOptions options) {
  auto layer = on_device(nn::MultiheadAttention(options));
  // Biases start at zero, where a lost bias gradient would not show in the outputs.
  torch::NoGradGuard guard;
  for (Tensor& parameter : layer->parameters()) parameter.normal_(0.0, 0.5);
  return layer;
}

TEST_F(AttentionGradients, MatchOracleForSelfAttention) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2));
  const Tensor input = random({kSteps, kBatch, 4});
  const Tensor outputs = std::get<0>(layer->forward(input, input, input));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForSelfAttentionWithoutBias) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2).bias(false));
  const Tensor input = random({kSteps, kBatch, 4});
  const Tensor outputs = std::get<0>(layer->forward(input, input, input));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForCrossAttention) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2));
  const Tensor outputs = std::get<0>(
      layer->forward(random({kSteps, kBatch, 4}), random({5, kBatch, 4}), random({5, kBatch, 4})));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForMemoryAttention) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2));
  const Tensor memory = random({5, kBatch, 4});
  const Tensor outputs = std::get<0>(layer->forward(random({kSteps, kBatch, 4}), memory, memory));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForKeysAndValuesOfOtherWidth) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(3));
  const Tensor outputs = std::get<0>(
      layer->forward(random({kSteps, kBatch, 4}), random({5, kBatch, 3}), random({5, kBatch, 3})));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForLearnedKeyAndValueBias) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2).add_bias_kv(true));
  const Tensor input = random({kSteps, kBatch, 4});
  const Tensor outputs = std::get<0>(layer->forward(input, input, input));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters(), Path::kExact);
}

TEST_F(AttentionGradients, MatchOracleWithCausalMask) {
  auto layer = attention(nn::MultiheadAttentionOptions(4, 2));
  const Tensor input = random({kSteps, kBatch, 4});
  const Tensor mask = at::ones({kSteps, kSteps}, doubles()).triu(1).mul(-1e9);
  const Tensor outputs = std::get<0>(
      layer->forward(input, input, input, /*key_padding_mask=*/{}, /*need_weights=*/false, mask));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForTransformerEncoderLayer) {
  auto layer = on_device(nn::TransformerEncoderLayer(
      nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(6).dropout(0.0)));
  const Tensor outputs = layer(random({kSteps, kBatch, 4}));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForTransformerEncoderInEvaluationMode) {
  auto layer = on_device(nn::TransformerEncoder(nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(6).activation(torch::kGELU), 2)));
  layer->eval();
  const Tensor outputs = layer(random({kSteps, kBatch, 4}));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForTransformerEncoderLayerWithDropout) {
  auto layer = on_device(nn::TransformerEncoderLayer(
      nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(6).dropout(0.3)));
  const Tensor outputs = layer(random({kSteps, kBatch, 4}));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForTransformerDecoderLayer) {
  auto layer = on_device(nn::TransformerDecoderLayer(
      nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(6).dropout(0.0)));
  const Tensor outputs = layer(random({kSteps, kBatch, 4}), random({5, kBatch, 4}));
  check_model(losses_of(outputs.transpose(0, 1)), layer->named_parameters());
}

TEST_F(AttentionGradients, MatchOracleForBatchMajorAttentionWrittenByHand) {
  auto packed = on_device(nn::Linear(4, 12));
  auto merge = on_device(nn::Linear(4, 4));
  const auto parts = packed(random({kBatch, kSteps, 4})).chunk(3, -1);
  const auto heads = [](const Tensor& x) {
    return x.view({kBatch, kSteps, 2, 2}).transpose(1, 2);
  };  // [N, H, T, I]
  const Tensor scores = at::matmul(heads(parts[0]), heads(parts[1]).transpose(-2, -1));
  const Tensor mixed = at::matmul((scores * 0.7).softmax(-1), heads(parts[2]));
  const Tensor outputs = merge(mixed.transpose(1, 2).reshape({kBatch, kSteps, 4}));
  check_model(losses_of(outputs), ParameterList().add("packed", packed).add("merge", merge));
}

}  // namespace
}  // namespace flightdeck::tests
