// SPDX-License-Identifier: MIT
// How large what flows through the layers is: activations forwards, their gradients backwards.
#include <map>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/entry_stats.h"
#include "quantities/entry_sweeps.h"
#include "quantities/graph_values.h"

namespace flightdeck::quantities {
namespace {

// Describes one layer of the step; several uses of a parameter are one layer.
struct LayerScale {
  std::string name;
  std::vector<Tensor> values, gradients;  // stats
};

Tensor stacked(const std::vector<Tensor>& stats) {  // [m, kEntryStats]
  return stats.empty() ? at::zeros({0, kEntryStats}, at::kDouble) : at::stack(stats);
}

// Returns the stats of entries that are multiplied by a positive number.
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

// Treats all layers at once, as an operation on a few numbers costs as much as one on many.
struct Scales {
  // Reads the stats at `first`, `first` + 2, ... of `shared`, of entries that are `factor` times
  // what they stand for.
  Scales(const std::vector<Tensor>& shared, size_t first, double factor) {
    std::vector<Tensor> known;
    for (size_t k = first; k < shared.size(); k += 2) {
      const bool is_known = shared[k].size(0) > 0;
      rows.push_back(is_known ? static_cast<int64_t>(known.size()) : -1);
      if (is_known) known.push_back(join_stats(shared[k]));
    }
    if (known.empty()) return;
    all = at::stack(known);
    rms = root_mean_square(all) / factor;
    mean = all.select(1, kEntrySum) / all.select(1, kEntryCount) / factor;
    largest = largest_magnitude(all) / factor;
    variance = variance_of(all) / (factor * factor);
    kurtosis = flightdeck::kurtosis(all);
  }

  std::vector<int64_t> rows;  // of each layer; -1: not known
  Tensor all;                 // [rows, kEntryStats]; undefined if there are none
  Tensor rms, mean, largest, variance, kurtosis;  // [rows]
};

class ActivationScale {
 public:
  void look(const GraphView& graph) {
    layers_.clear();
    weight_ = Tensor();
    const Capture& capture = graph.capture();
    const NodeLayers node_layers = find_layers(capture);
    const LossNodes loss = find_loss_nodes(capture);
    // These are the last node behind every use of a parameter, and the last one whose output is
    // kept.
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
        const Layout& layout = capture.nodes[found->second.node].layout;
        layers_[place].values.push_back(graph.sweeps().of_kept(found->second.value, layout));
      }
      const size_t heard = found == kept.end() ? node : found->second.node;
      EntrySweeps& sweeps = graph.sweeps();
      const Layout layout = capture.nodes[heard].layout;
      graph.listen(heard, [this, place, layout, &sweeps](const std::vector<Tensor>& gradients) {
        if (!gradients[0].defined()) return;
        layers_[place].gradients.push_back(sweeps.of_heard(gradients[0], layout));
      });
    }
    graph.listen(0, [this, output = capture.root_output](const std::vector<Tensor>& gradients) {
      if (gradients[output].defined()) weight_ = gradients[output].sum(at::kDouble).abs();
    });
  }

  // Shares of each layer the values, and the gradients of the losses one by one: whatever their
  // weight, and whatever the mean is taken over.
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
    const Scales values(step.shared(), 0, 1), gradients(step.shared(), 1, N);
    if (!values.all.defined() && !gradients.all.defined()) {
      return Value::none("the graph has kept no activations of layers");
    }
    Value value;
    if (values.all.defined()) {
      value = Value(root_mean_square(join_stats(values.all)));
      value.with("rms_ratio", values.rms.amax() / values.rms.amin());
    }
    if (gradients.all.defined()) {
      value.with("gradient_ratio", gradients.rms[0] / gradients.rms[-1]);
    }
    for (size_t k = 0; k < layers_.size(); ++k) {
      const std::string& name = layers_[k].name;
      if (const int64_t row = values.rows[k]; row >= 0) {
        value.with("rms:" + name, values.rms[row])
            .with("mean:" + name, values.mean[row])
            .with("largest:" + name, values.largest[row])
            .with("variance:" + name, values.variance[row])
            .with("kurtosis:" + name, values.kurtosis[row]);
      }
      if (const int64_t row = gradients.rows[k]; row >= 0) {
        value.with("gradient_rms:" + name, gradients.rms[row])
            .with("gradient_largest:" + name, gradients.largest[row])
            .with("gradient_variance:" + name, gradients.variance[row])
            .with("gradient_kurtosis:" + name, gradients.kurtosis[row]);
      }
    }
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
