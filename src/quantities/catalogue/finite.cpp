// SPDX-License-Identifier: MIT
// Where the first NaN or infinity came from, and how near a run is to the bounds of its type.
#include <set>
#include <sstream>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/entry_stats.h"
#include "quantities/entry_sweeps.h"
#include "quantities/graph_values.h"
#include "rows/gpu_tables.h"

namespace flightdeck::quantities {
namespace {

struct Place {
  std::string name;             // "linear of layer 'fc1'"
  std::vector<size_t> sources;  // places whose values enter the op, as far as they are known
  int64_t sample = -1;          // the first one that is not finite
};

// Returns the first sample that is not finite; -1 if that would have to wait for a device.
int64_t first_bad_sample(const Tensor& value, const Layout& layout) {
  if (!value.is_cpu() || !layout.is_batch() || layout.is_scattered()) return -1;
  if (layout.dim >= value.dim() || value.size(layout.dim) != layout.length()) return -1;
  const Tensor bad = at::isfinite(samples_first(value, layout)).logical_not();
  const Tensor of_samples = bad.reshape({bad.size(0), -1}).any(1);
  return of_samples.any().item<bool>() ? of_samples.to(at::kInt).argmax().item<int64_t>() : -1;
}

std::string range_text(double low, double high) {
  std::ostringstream text;
  if (low > high) {
    text << "no finite value";
  } else {
    text << "[" << low << ", " << high << "]";
  }
  return text.str();
}

class Finite {
 public:
  explicit Finite(std::string type) : type_(std::move(type)) {}

  void look(const GraphView& graph) {
    forward_.clear();
    backward_.clear();
    forward_stats_.clear();
    backward_stats_.clear();
    weight_ = Tensor();
    const Capture& capture = graph.capture();
    const Parameters& parameters = graph.step().parameters();
    const NodeLayers layers = find_layers(capture);
    const auto name_of = [&](size_t k) {
      const std::string op = op_name(capture, k);
      return layers.parameter[k] < 0
                 ? op
                 : op + " of layer '" + layers.name(capture, parameters, k) + "'";
    };
    for (const Tensor& input : graph_inputs(capture)) {
      if (!at::isFloatingType(input.scalar_type())) continue;
      add_forward(graph, {"the inputs", {}, -1}, input, Layout::batch(capture.N, 0));
    }
    std::map<size_t, size_t> place_of;
    std::set<std::pair<const void*, int64_t>> seen;
    for (const ForwardValue& value : forward_values(capture)) {
      const CapturedNode& node = capture.nodes[value.node];
      if (!at::isFloatingType(value.value.scalar_type()) && !value.value.is_complex()) continue;
      if (!seen.emplace(value.value.data_ptr(), value.value.numel()).second) continue;
      Place place{name_of(value.node), {}, -1};
      for (const int64_t next : node.next) {
        const auto found = next < 0 ? place_of.end() : place_of.find(next);
        if (found != place_of.end()) place.sources.push_back(found->second);
      }
      place_of[value.node] = forward_.size();
      add_forward(graph, std::move(place), value.value, node.layout);
    }
    for (size_t k = 0; k < capture.nodes.size(); ++k) {
      const CapturedNode& node = capture.nodes[k];
      const bool is_model = node.side == Side::kBatch || node.side == Side::kSlow;
      const bool only_rearranges = node.rule && node.rule->is_view();
      if (!is_model || node.parameter >= 0 || only_rearranges) continue;
      listen(graph, k, name_of(k), node.layout);
    }
    graph.listen(0, [this, output = capture.root_output](const std::vector<Tensor>& gradients) {
      if (gradients[output].defined()) weight_ = gradients[output].sum(at::kDouble);
    });
  }

  // Shares all values of both passes together, the weight of the losses, and the first bad sample
  // (or -1) with the number of samples. Each is one line of a rank that has it.
  std::vector<Tensor> share(const StepView& step) const {
    const auto joined = [](const std::vector<Tensor>& stats) {
      return stats.empty() ? at::zeros({0, kEntryStats}, at::kDouble)
                           : join_stats(at::stack(stats)).unsqueeze(0);
    };
    const auto sample = static_cast<double>(first_sample());
    const auto samples = static_cast<double>(step.batch_size());
    return {joined(forward_stats_),
            joined(backward_stats_),
            weight_.defined() ? weight_.reshape({1}) : at::zeros({0}, at::kDouble),
            at::tensor({sample, samples}, at::kDouble).unsqueeze(0)};
  }

  Value compute(const StepView& step) {
    const std::vector<Tensor>& shared = step.shared();
    if (shared[0].size(0) == 0 && shared[1].size(0) == 0) {
      return Value::none("the graph has kept no values");
    }
    Value fields;
    Tensor bad;
    if (shared[0].size(0) > 0) {
      const Tensor all = join_stats(shared[0]);
      bad = all[kEntriesNotFinite];
      fields.with("forward", bad).with("overflow_near", all[kEntriesHuge] / all[kEntryCount]);
    }
    if (shared[1].size(0) > 0) {
      const Tensor all = join_stats(shared[1]);
      bad = bad.defined() ? bad + all[kEntriesNotFinite] : all[kEntriesNotFinite];
      const Tensor rest = all[kEntryCount] - all[kEntriesZero];
      fields.with("backward", all[kEntriesNotFinite])
          .with("underflow", all[kEntriesTiny] / rest)
          .with("zeros_gradient", all[kEntriesZero] / all[kEntryCount]);
    }
    if (shared[2].numel() > 0) fields.with("loss_scale", shared[2].mean());
    Value value(bad);
    for (const Value::Field& field : fields.fields()) value.with(field.name, field.data);
    const int64_t sample = first_of(shared[3]);
    if (sample >= 0) value.with("first_sample", static_cast<double>(sample));
    if (has_said_) return value;
    std::vector<Tensor> stats = forward_stats_;
    stats.insert(stats.end(), backward_stats_.begin(), backward_stats_.end());
    value.with_remark(at::stack(stats),
                      [this](const std::vector<double>& numbers) { return describe(numbers); });
    return value;
  }

 private:
  bool has_own_range() const { return type_ == "own"; }

  EntryRange range_for(const Tensor& value) const {
    if (type_ == "float16") return range_of(at::kHalf);
    if (type_ == "bfloat16") return range_of(at::kBFloat16);
    // The OCP formats have smallest normal numbers 2^-6 and 2^-14, largest ones 448 and 57344.
    if (type_ == "float8_e4m3") return {0x1p-6, 448.0 / 16};
    if (type_ == "float8_e5m2") return {0x1p-14, 57344.0 / 16};
    return range_of(value.scalar_type());
  }

  void add_forward(const GraphView& graph, Place place, const Tensor& value, const Layout& layout) {
    const Tensor stats =
        has_own_range() ? graph.sweeps().of_kept(value) : entry_stats(value, range_for(value));
    if (!runs_behind(stats) && stats[kEntriesNotFinite].item<double>() > 0) {
      place.sample = first_bad_sample(value, layout);
    }
    forward_.push_back(std::move(place));
    forward_stats_.push_back(stats);
  }

  void listen(const GraphView& graph, size_t k, const std::string& name, const Layout& layout) {
    EntrySweeps& sweeps = graph.sweeps();
    graph.listen(k, [this, name, layout, &sweeps](const std::vector<Tensor>& gradients) {
      if (gradients.empty() || !gradients[0].defined()) return;
      const Tensor& gradient = gradients[0];
      const Tensor stats =
          has_own_range() ? sweeps.of_heard(gradient) : entry_stats(gradient, range_for(gradient));
      Place place{name, {}, -1};
      if (!runs_behind(stats) && stats[kEntriesNotFinite].item<double>() > 0) {
        place.sample = first_bad_sample(gradient, layout);
      }
      if (!backward_.empty()) place.sources.push_back(backward_.size() - 1);
      backward_.push_back(std::move(place));
      backward_stats_.push_back(stats);
    });
  }

  // Returns the place among all samples, from [ranks, 2]; -1 if none is bad, or if that is on a
  // device.
  static int64_t first_of(const Tensor& places) {
    if (!places.is_cpu()) return -1;
    double before = 0;
    const auto rows = places.accessor<double, 2>();
    for (int64_t rank = 0; rank < rows.size(0); ++rank) {
      if (rows[rank][0] >= 0) return static_cast<int64_t>(before + rows[rank][0]);
      before += rows[rank][1];
    }
    return -1;
  }

  int64_t first_sample() const {
    for (const std::vector<Place>* places : {&forward_, &backward_}) {
      for (const Place& place : *places) {
        if (place.sample >= 0) return place.sample;
      }
    }
    return -1;
  }

  // Describes the first place with something that is not finite; says nothing if there is none.
  std::string describe(const std::vector<double>& numbers) {
    const auto stat = [&](size_t row, EntryStat field) {
      return numbers[row * kEntryStats + field];
    };
    for (size_t row = 0; row < forward_.size() + backward_.size(); ++row) {
      if (stat(row, kEntriesNotFinite) == 0) continue;
      has_said_ = true;
      const bool is_forward = row < forward_.size();
      const Place& place = is_forward ? forward_[row] : backward_[row - forward_.size()];
      std::ostringstream text;
      text << "first not finite: " << (is_forward ? "" : "backward, the gradient of the ")
           << "output of " << place.name;
      if (is_forward && place.name == "the inputs") {
        text.str("");
        text << "first not finite: the inputs";
      }
      text << ", " << stat(row, kEntriesNotFinite) << " of " << stat(row, kEntryCount)
           << " entries";
      if (place.sample >= 0) text << ", first in place " << place.sample << " of the batch";
      for (const size_t source : place.sources) {
        const size_t other = is_forward ? source : forward_.size() + source;
        text << "; " << (is_forward ? "its input, the output of " : "before it, the gradient of ")
             << (is_forward ? forward_[source] : backward_[source]).name << ", lies in "
             << range_text(stat(other, kEntryLow), stat(other, kEntryHigh));
      }
      return text.str();
    }
    return "";
  }

  std::string type_;
  std::vector<Place> forward_, backward_;  // in the order of their pass
  std::vector<Tensor> forward_stats_, backward_stats_;
  Tensor weight_;
  bool has_said_ = false;
};

}  // namespace

Quantity finite(Settings& settings) {
  const std::string type =
      settings.choice("type",
                      {"own", "float16", "bfloat16", "float8_e4m3", "float8_e5m2"},
                      "whose range near overflow and underflow mean");
  return Quantity("finite")
      .summary(
          "Entries of activations and their gradients that are not finite; the first one named")
      .reference("of all that the graph has kept and hands back; beyond the papers")
      .make([type] {
        const auto state = std::make_shared<Finite>(type);
        Quantity::Functions functions;
        functions.look = [state](const GraphView& graph) { state->look(graph); };
        functions.share = [state](const StepView& step) { return state->share(step); };
        functions.compute = [state](const StepView& step) { return state->compute(step); };
        return functions;
      });
}

}  // namespace flightdeck::quantities
