// SPDX-License-Identifier: MIT
// How large what flows through the layers is: activations forwards, their gradients backwards.
#include <map>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/entry_stats.h"
#include "quantities/graph_values.h"

namespace flightdeck::quantities {
namespace {

// One layer of the step; several uses of a parameter are one layer.
struct LayerScale {
  std::string name;
  std::vector<Tensor> values, gradients;  // stats
};

Tensor stacked(const std::vector<Tensor>& stats) {  // [m, kEntryStats]
  return stats.empty() ? at::zeros({0, kEntryStats}, at::kDouble) : at::stack(stats);
}

// The stats of entries that are multiplied by a positive number.
Tensor times(const Tensor& stats, const Tensor& factor) {  // [m, kEntryStats], []
  Tensor scaled = stats.clone();
  const auto scale = [&](int64_t stat, const Tensor& by) { scaled.select(1, stat).mul_(by); };
  scale(kEntrySum, factor);
  scale(kEntrySquares, factor.square());
  scale(kEntryCubes, factor.pow(3));
  scale(kEntryFourths, factor.pow(4));
  scale(kEntryLow, factor);
  scale(kEntryHigh, factor);
  return scaled;
}

class ActivationScale {
 public:
  void look(const GraphView& graph) {
    layers_.clear();
    weight_ = Tensor();
    const Capture& capture = graph.capture();
    const NodeLayers node_layers = find_layers(capture);
    const LossNodes loss = find_loss_nodes(capture);
    // The last node behind every use of a parameter, and the last one whose output is kept.
    std::map<int64_t, size_t, std::greater<>> last;  // inputs first
    std::map<int64_t, ForwardValue> kept;
    for (size_t k = capture.nodes.size(); k-- > 0;) {
      const CapturedNode& node = capture.nodes[k];
      const bool is_model = node.side == Side::kBatch || node.side == Side::kSlow;
      if (is_model && node_layers.use[k] >= 0 && !loss.is_above[k] && node.parameter < 0) {
        last[node_layers.use[k]] = k;
      }
    }
    for (const ForwardValue& value : forward_values(capture)) {
      const int64_t use = node_layers.use[value.node];
      if (use >= 0 && !loss.is_above[value.node]) kept.insert_or_assign(use, value);
    }
    std::map<std::string, size_t> places;
    for (const auto& [use, node] : last) {
      const std::string name = node_layers.name(capture, graph.step().parameters(), use);
      const size_t place = places.emplace(name, layers_.size()).first->second;
      if (place == layers_.size()) layers_.push_back({name, {}, {}});
      const auto found = kept.find(use);
      if (found != kept.end()) {
        layers_[place].values.push_back(entry_stats(found->second.value, {}));
      }
      const size_t heard = found == kept.end() ? node : found->second.node;
      graph.listen(heard, [this, place](const std::vector<Tensor>& gradients) {
        if (gradients[0].defined()) {
          layers_[place].gradients.push_back(entry_stats(gradients[0], {}));
        }
      });
    }
    graph.listen(0, [this, output = capture.root_output](const std::vector<Tensor>& gradients) {
      if (gradients[output].defined()) weight_ = gradients[output].sum(at::kDouble).abs();
    });
  }

  // Of each layer the values, and the gradients of the losses one by one: whatever their weight,
  // and whatever the mean is taken over.
  std::vector<Tensor> share(const StepView& step) const {
    std::vector<Tensor> shared;
    for (const LayerScale& layer : layers_) {
      shared.push_back(stacked(layer.values));
      if (layer.gradients.empty() || !weight_.defined()) {
        shared.push_back(stacked({}));
        continue;
      }
      const Tensor stats = stacked(layer.gradients);
      const Tensor factor = static_cast<double>(step.batch_size()) / weight_.to(at::kDouble);
      shared.push_back(times(stats, factor));
    }
    return shared;
  }

  Value compute(const StepView& step) const {
    const auto N = static_cast<double>(step.batch_size());
    std::vector<Tensor> all, scales, gradient_scales;
    Value layers;
    for (size_t k = 0; k < layers_.size(); ++k) {
      const LayerScale& layer = layers_[k];
      const Tensor &values = step.shared()[2 * k], &gradients = step.shared()[2 * k + 1];
      if (values.size(0) > 0) {
        const Tensor stats = join_stats(values);
        all.push_back(stats);
        scales.push_back(root_mean_square(stats));
        layers.with("rms:" + layer.name, scales.back())
            .with("mean:" + layer.name, stats[kEntrySum] / stats[kEntryCount])
            .with("largest:" + layer.name, largest_magnitude(stats))
            .with("variance:" + layer.name, variance_of(stats))
            .with("kurtosis:" + layer.name, kurtosis(stats));
      }
      if (gradients.size(0) > 0) {
        const Tensor stats = join_stats(gradients);
        gradient_scales.push_back(root_mean_square(stats) / N);
        layers.with("gradient_rms:" + layer.name, gradient_scales.back())
            .with("gradient_largest:" + layer.name, largest_magnitude(stats) / N)
            .with("gradient_variance:" + layer.name, variance_of(stats) / (N * N))
            .with("gradient_kurtosis:" + layer.name, kurtosis(stats));
      }
    }
    if (layers.fields().empty()) return Value::none("the graph has kept no activations of layers");
    Value value;
    if (!all.empty()) {
      value = Value(root_mean_square(join_stats(at::stack(all))));
      const Tensor sizes = at::stack(scales);
      value.with("rms_ratio", sizes.amax() / sizes.amin());
    }
    if (!gradient_scales.empty()) {
      value.with("gradient_ratio", gradient_scales.front() / gradient_scales.back());
    }
    for (const Value::Field& field : layers.fields()) value.with(field.name, field.data);
    return value;
  }

 private:
  std::vector<LayerScale> layers_;  // from the inputs to the outputs
  Tensor weight_;                   // of the losses, all samples together
};

}  // namespace

Quantity activation_scale(Settings&) {
  return Quantity("activation_scale")
      .summary("Root mean square of activations; of each layer, with its gradient, as fields")
      .reference("of what the graph has kept behind each layer; beyond the papers")
      .make([] {
        const auto state = std::make_shared<ActivationScale>();
        Quantity::Functions functions;
        functions.look = [state](const GraphView& graph) { state->look(graph); };
        functions.share = [state](const StepView& step) { return state->share(step); };
        functions.compute = [state](const StepView& step) { return state->compute(step); };
        return functions;
      });
}

}  // namespace flightdeck::quantities
