// SPDX-License-Identifier: MIT
// Where the first NaN or infinity came from, and how near a run is to the bounds of its type.
#include <cmath>
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
  std::string layer;            // empty: it belongs to none
  std::vector<size_t> sources;  // places whose values enter the op, as far as they are known
};

// Counts that groups have; what is told of them alone is finite whatever the values are.
constexpr int64_t kCounts = 5;
enum Counted : int64_t { kAll, kNotFinite, kZero, kTiny, kHuge };
static_assert(kEntriesHuge - kEntriesNotFinite == kHuge - kNotFinite, "they are copied in a row");

// Tells which places belong to which group: to those that have a parameter of their layer. It is
// kept on the device, as it is the same at every step and a copy there would wait.
class Membership {
 public:
  // Returns [2 G, places] of zeros and ones: places of the forward pass first, groups of the
  // forward pass first.
  const Tensor& of(const std::vector<Place>& forward,
                   const std::vector<Place>& backward,
                   const StepView& step,
                   const at::Device& device) {
    std::vector<std::string> layers;
    for (const Place& place : forward) layers.push_back(place.layer);
    for (const Place& place : backward) layers.push_back(place.layer);
    const bool is_same = held_.defined() && layers == layers_ && forward.size() == first_backward_;
    if (is_same && held_.device() == device) return held_;
    const Groups& groups = step.groups();
    const auto G = static_cast<int64_t>(groups.size());
    const Tensor flags = at::zeros({2 * G, static_cast<int64_t>(layers.size())}, at::kDouble);
    auto access = flags.accessor<double, 2>();
    for (int64_t g = 0; g < G; ++g) {
      std::set<std::string> members;
      for (const size_t member : groups.members[g]) {
        members.insert(layer_of(step.parameters()[member].name));
      }
      for (size_t place = 0; place < layers.size(); ++place) {
        const bool is_in = g == 0 || members.count(layers[place]) != 0;
        const int64_t line = place < forward.size() ? g : G + g;
        access[line][static_cast<int64_t>(place)] = is_in ? 1 : 0;
      }
    }
    layers_ = std::move(layers);
    first_backward_ = forward.size();
    held_ = flags.to(device);
    return held_;
  }

 private:
  std::vector<std::string> layers_;
  size_t first_backward_ = 0;
  Tensor held_;
};

// Returns the share of a count in another one; 0 of nothing.
Tensor share_of(const Tensor& part, const Tensor& all) { return part / all.clamp_min(1); }

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
    const auto place_at = [&](size_t k) {
      const std::string op = op_name(capture, k);
      if (layers.parameter[k] < 0) return Place{op, "", {}};
      const std::string layer = layers.name(capture, parameters, k);
      return Place{op + " of layer '" + layer + "'", layer, {}};
    };
    for (const Tensor& input : graph_inputs(capture)) {
      if (!at::isFloatingType(input.scalar_type())) continue;
      const Layout layout = Layout::batch(capture.N, 0);
      add_forward(graph, {"the inputs", "", {}}, input, layout);
    }
    std::map<size_t, size_t> place_of;
    std::set<std::pair<const void*, int64_t>> seen;
    for (const ForwardValue& value : forward_values(capture)) {
      const CapturedNode& node = capture.nodes[value.node];
      if (!at::isFloatingType(value.value.scalar_type()) && !value.value.is_complex()) continue;
      if (!seen.emplace(value.value.data_ptr(), value.value.numel()).second) continue;
      Place place = place_at(value.node);
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
      listen(graph, k, place_at(k), node.layout);
    }
    graph.listen(0, [this, output = capture.root_output](const std::vector<Tensor>& gradients) {
      if (gradients[output].defined()) weight_ = gradients[output].sum(at::kDouble);
    });
  }

  // Shares counts of both passes by group, the weight of the losses, the first bad sample
  // (infinity: none) and the number of samples. Each is one line of a rank that has it.
  std::vector<Tensor> share(const StepView& step) {
    std::vector<Tensor> stats = forward_stats_;
    stats.insert(stats.end(), backward_stats_.begin(), backward_stats_.end());
    const auto G = static_cast<int64_t>(step.groups().size());
    const Tensor none = at::zeros({0}, at::kDouble);
    const Tensor weight = weight_.defined() ? weight_.reshape({1}) : none;
    if (stats.empty()) return {at::zeros({0, 2, G, kCounts}, at::kDouble), weight, none, none};
    all_stats_ = at::stack(stats);
    const Tensor counts = at::cat({all_stats_.slice(1, kEntryCount, kEntryCount + 1),
                                   all_stats_.slice(1, kEntriesNotFinite, kEntriesHuge + 1)},
                                  1);  // [places, kCounts]
    const Tensor& members = members_.of(forward_, backward_, step, counts.device());
    return {members.mm(counts).view({1, 2, G, kCounts}),
            weight,
            first_known(all_stats_.select(1, kEntryFirstSample)),
            at::full({1}, static_cast<double>(step.batch_size()), at::kDouble)};
  }

  Value compute(const StepView& step) {
    const std::vector<Tensor>& shared = step.shared();
    if (shared[0].size(0) == 0) return Value::none("the graph has kept no values");
    const Tensor all = shared[0].size(0) == 1 ? shared[0][0] : shared[0].sum(0);
    const Tensor bad = all.select(2, kNotFinite).sum(0);  // [G]
    Value fields;
    if (!forward_.empty()) {
      const Tensor counts = all[0];  // [G, kCounts]
      fields.with("forward", counts[0][kNotFinite])
          .with("overflow_near", share_of(counts.select(1, kHuge), counts.select(1, kAll)));
    }
    if (!backward_.empty()) {
      const Tensor counts = all[1], zeros = counts.select(1, kZero);
      fields.with("backward", counts[0][kNotFinite])
          .with("underflow", share_of(counts.select(1, kTiny), counts.select(1, kAll) - zeros))
          .with("zeros_gradient", share_of(zeros[0], counts[0][kAll]));
    }
    if (shared[1].numel() > 0) fields.with("loss_scale", shared[1].mean());
    Value value(bad);
    for (const Value::Field& field : fields.fields()) value.with(field.name, field.data);
    add_first_sample(value, shared[2], shared[3]);
    if (has_said_) return value;
    value.with_remark(all_stats_,
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
    forward_.push_back(std::move(place));
    forward_stats_.push_back(has_own_range() ? graph.sweeps().of_kept(value, layout)
                                             : entry_stats(value, range_for(value), layout));
  }

  void listen(const GraphView& graph, size_t k, const Place& heard, const Layout& layout) {
    EntrySweeps& sweeps = graph.sweeps();
    graph.listen(k, [this, heard, layout, &sweeps](const std::vector<Tensor>& gradients) {
      if (gradients.empty() || !gradients[0].defined()) return;
      const Tensor& gradient = gradients[0];
      Place place = heard;
      if (!backward_.empty()) place.sources.push_back(backward_.size() - 1);
      backward_.push_back(std::move(place));
      backward_stats_.push_back(has_own_range()
                                    ? sweeps.of_heard(gradient, layout)
                                    : entry_stats(gradient, range_for(gradient), layout));
    });
  }

  // Returns the first number that is not infinite, or infinity. Nobody waits for a device.
  static Tensor first_known(const Tensor& numbers) {  // [n] -> [1]
    const Tensor place = numbers.isfinite().to(at::kInt).argmax(0, /*keepdim=*/true);
    return numbers.index_select(0, place);
  }

  // Adds the place among the samples of all ranks, from [ranks] each. It is left out where there is
  // none, and NaN where that is known on a device alone.
  static void add_first_sample(Value& value, const Tensor& firsts, const Tensor& samples) {
    const bool is_one = firsts.size(0) == 1;
    const Tensor before = is_one ? Tensor() : (samples.cumsum(0) - samples).to(firsts.device());
    const Tensor first = is_one ? firsts : first_known(firsts + before);
    if (runs_behind(first)) {
      value.with("first_sample", first.mul(0).add(first).squeeze(0));  // infinity times 0 is NaN
    } else if (std::isfinite(first.item<double>())) {
      value.with("first_sample", first.squeeze(0));
    }
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
      const double sample = stat(row, kEntryFirstSample);
      if (std::isfinite(sample)) text << ", first in place " << sample << " of the batch";
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
  Membership members_;
  Tensor all_stats_;  // of both passes, [places, kEntryStats]
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
      .has_groups(true)
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
