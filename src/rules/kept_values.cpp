// SPDX-License-Identifier: MIT
#include "rules/kept_values.h"

#include <functional>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace flightdeck {
namespace {

namespace nodes = compat::nodes;
using compat::ag::SavedVariable;

using KeptReader = std::function<std::vector<KeptValue>(const NodeView&)>;

template <typename NodeType>
std::pair<const std::type_index, KeptReader> keeps(
    std::vector<std::pair<int64_t, SavedVariable NodeType::*>> fields) {
  return {std::type_index(typeid(NodeType)), [fields = std::move(fields)](const NodeView& node) {
            std::vector<KeptValue> values;
            for (const auto& [place, field] : fields) {
              // A tensor that no gradient asks for is not saved.
              const Tensor value = node.unpack_if_there(node.as<NodeType>().*field);
              if (value.defined()) values.push_back({place, value});
            }
            return values;
          }};
}

const std::unordered_map<std::type_index, KeptReader>& kept_readers() {
  constexpr int64_t kOutput = KeptValue::kOutput;
  using namespace nodes;  // NOLINT: thirty of them
  static const auto* readers = new std::unordered_map<std::type_index, KeptReader>{
      keeps<AddmmBackward0>({{1, &AddmmBackward0::mat1_}, {2, &AddmmBackward0::mat2_}}),
      keeps<AvgPool2DBackward0>({{0, &AvgPool2DBackward0::self_}}),
      keeps<BaddbmmBackward0>({{1, &BaddbmmBackward0::batch1_}, {2, &BaddbmmBackward0::batch2_}}),
      keeps<BinaryCrossEntropyBackward0>({{0, &BinaryCrossEntropyBackward0::self_}}),
      keeps<BinaryCrossEntropyWithLogitsBackward0>(
          {{0, &BinaryCrossEntropyWithLogitsBackward0::self_}}),
      keeps<BmmBackward0>({{0, &BmmBackward0::self_}, {1, &BmmBackward0::mat2_}}),
      keeps<ConvolutionBackward0>({{0, &ConvolutionBackward0::input_}}),
      keeps<CudnnBatchNormBackward0>({{0, &CudnnBatchNormBackward0::input_}}),
      keeps<DivBackward0>({{0, &DivBackward0::self_}, {1, &DivBackward0::other_}}),
      keeps<EluBackward0>({{0, &EluBackward0::self_}}),
      keeps<EmbeddingBackward0>({{KeptValue::kIndices, &EmbeddingBackward0::indices_}}),
      keeps<ExpBackward0>({{kOutput, &ExpBackward0::result_}}),
      keeps<GeluBackward0>({{0, &GeluBackward0::self_}}),
      keeps<HardtanhBackward0>({{0, &HardtanhBackward0::self_}}),
      keeps<HuberLossBackward0>({{0, &HuberLossBackward0::self_}}),
      keeps<LeakyReluBackward0>({{0, &LeakyReluBackward0::self_}}),
      keeps<LogBackward0>({{0, &LogBackward0::self_}}),
      keeps<LogSoftmaxBackward0>({{kOutput, &LogSoftmaxBackward0::result_}}),
      keeps<MaxPool2DWithIndicesBackward0>({{0, &MaxPool2DWithIndicesBackward0::self_}}),
      keeps<MmBackward0>({{0, &MmBackward0::self_}, {1, &MmBackward0::mat2_}}),
      keeps<MseLossBackward0>({{0, &MseLossBackward0::self_}}),
      keeps<MulBackward0>({{0, &MulBackward0::self_}, {1, &MulBackward0::other_}}),
      keeps<NativeBatchNormBackward0>({{0, &NativeBatchNormBackward0::input_}}),
      keeps<NativeGroupNormBackward0>({{0, &NativeGroupNormBackward0::input_}}),
      keeps<NativeLayerNormBackward0>({{0, &NativeLayerNormBackward0::input_}}),
      keeps<NllLoss2DBackward0>({{0, &NllLoss2DBackward0::self_}}),
      keeps<NllLossBackward0>({{0, &NllLossBackward0::self_}}),
      keeps<PowBackward0>({{0, &PowBackward0::self_}}),
      keeps<ReluBackward0>({{kOutput, &ReluBackward0::result_}}),
      keeps<SigmoidBackward0>({{kOutput, &SigmoidBackward0::result_}}),
      keeps<SiluBackward0>({{0, &SiluBackward0::self_}}),
      keeps<SmoothL1LossBackward0>({{0, &SmoothL1LossBackward0::self_}}),
      keeps<SoftmaxBackward0>({{kOutput, &SoftmaxBackward0::result_}}),
      keeps<SoftplusBackward0>({{0, &SoftplusBackward0::self_}}),
      keeps<SqrtBackward0>({{kOutput, &SqrtBackward0::result_}}),
      keeps<TanhBackward0>({{kOutput, &TanhBackward0::result_}}),
  };
  return *readers;
}

}  // namespace

std::vector<KeptValue> kept_values(const NodeView& node) {
  const auto found = kept_readers().find(std::type_index(typeid(*node.node())));
  return found == kept_readers().end() ? std::vector<KeptValue>() : found->second(node);
}

}  // namespace flightdeck
