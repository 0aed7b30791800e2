// SPDX-License-Identifier: MIT
// What the model is given: scale, range, features that never vary, samples that come twice.
#include <deque>
#include <limits>
#include <map>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/class_counts.h"
#include "quantities/entry_stats.h"
#include "quantities/graph_values.h"
#include "rules/node_facts.h"

namespace flightdeck::quantities {
namespace {

// The bits of every entry as integers.
Tensor bits_of(const Tensor& values) {
  Tensor entries = values.is_complex() ? at::view_as_real(values) : values;
  if (!at::isFloatingType(entries.scalar_type())) return entries.to(at::kLong);
  // Adding zero makes -0 and 0 one.
  entries = entries.scalar_type() == at::kDouble ? entries + 0 : entries.to(at::kFloat) + 0;
  const auto integers = entries.scalar_type() == at::kDouble ? at::kLong : at::kInt;
  return entries.contiguous().view(integers).to(at::kLong);
}

// A number for each sample that equals another's if, and but for one in 2^60 only if, the samples
// are equal to the bit.
class SampleHashes {
 public:
  // tensors [N, ...] -> [N]
  Tensor of(const std::vector<Tensor>& tensors) {
    Tensor hashes;
    int64_t salt = 0;
    for (const Tensor& tensor : tensors) {
      if (tensor.is_cpu() && tensor.scalar_type() == at::kFloat) {
        // A view, without a copy.
        const Tensor raw = tensor.contiguous().view(at::kInt).reshape({tensor.size(0), -1});
        add(hashes, sums_of<int32_t>(raw, weights(raw.size(1), salt++, raw.device())));
        continue;
      }
      Tensor bits = bits_of(tensor).reshape({tensor.size(0), -1});
      if (bits.is_cpu()) {
        add(hashes,
            sums_of<int64_t>(bits.contiguous(), weights(bits.size(1), salt++, bits.device())));
        continue;
      }
      // High bits come down first, because round numbers have no others.
      bits = bits * kOdd;
      bits = bits.bitwise_xor(bits.bitwise_right_shift(at::scalar_tensor(32, bits.options())));
      add(hashes, (bits * weights(bits.size(1), salt++, bits.device())).sum(1));
    }
    return hashes;
  }

 private:
  static constexpr int64_t kOdd = 0x1E3779B97F4A7C15;

  static void add(Tensor& hashes, const Tensor& sums) {
    hashes = hashes.defined() ? hashes + sums : sums;
  }

  // The same in one sweep, with numbers that wrap around.
  template <typename Bits>
  static Tensor sums_of(const Tensor& bits, const Tensor& weights) {  // [N, F], [F]
    constexpr Bits kMinusZero = std::numeric_limits<Bits>::min();     // of a float
    const int64_t N = bits.size(0), F = bits.size(1);
    Tensor sums = at::empty({N}, at::kLong);
    const auto* entry = bits.data_ptr<Bits>();
    const auto* weight = weights.data_ptr<int64_t>();
    for (int64_t n = 0; n < N; ++n) {
      uint64_t sum = 0;
      for (int64_t j = 0; j < F; ++j) {
        const Bits raw = *entry++;
        const auto value = static_cast<int64_t>(raw == kMinusZero ? Bits(0) : raw);
        const uint64_t product = static_cast<uint64_t>(value) * static_cast<uint64_t>(kOdd);
        const auto high = static_cast<uint64_t>(static_cast<int64_t>(product) >> 32);
        sum += (product ^ high) * static_cast<uint64_t>(weight[j]);
      }
      sums.data_ptr<int64_t>()[n] = static_cast<int64_t>(sum);
    }
    return sums;
  }

  const Tensor& weights(int64_t count, int64_t salt, at::Device device) {
    Tensor& kept = weights_[{count, salt}];
    if (kept.defined() && kept.device() == device) return kept;
    std::vector<int64_t> odd(count);
    for (int64_t j = 0; j < count; ++j) {
      const uint64_t key = (static_cast<uint64_t>(salt) << 40U) + static_cast<uint64_t>(j);
      odd[j] = static_cast<int64_t>(mixed(key) | 1U);
    }
    kept = at::tensor(odd, at::kLong).to(device);
    return kept;
  }

  static uint64_t mixed(uint64_t key) {  // splitmix64
    key += 0x9E3779B97F4A7C15U;
    key = (key ^ (key >> 30U)) * 0xBF58476D1CE4E5B9U;
    key = (key ^ (key >> 27U)) * 0x94D049BB133111EBU;
    return key ^ (key >> 31U);
  }

  std::map<std::pair<int64_t, int64_t>, Tensor> weights_;
};

Tensor share_of(const Tensor& flags) { return flags.to(at::kDouble).mean(); }

// Of real inputs [N, F].
Value describe_numbers(const Tensor& x) {
  const Tensor stats = entry_stats(x, {});
  const Tensor count = stats[kEntryCount], mean = stats[kEntrySum] / count;
  const Tensor variance = stats[kEntrySquares] / count - mean.square();
  Value value(root_mean_square(stats));
  value.with("mean", mean)
      .with("deviation", at::where(variance < 0, at::zeros_like(variance), variance).sqrt())
      .with("low", stats[kEntryLow])
      .with("high", stats[kEntryHigh])
      .with("zeros", stats[kEntriesZero] / count)
      .with("not_finite", stats[kEntriesNotFinite] / count);
  if (x.size(0) < 2) return value;
  const bool is_coarse = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  const Tensor features = is_coarse ? x.to(at::kFloat) : x;
  const Tensor means = features.mean(0);
  const Tensor variances = (features - means).square_().mean(0);
  value.with("constant_features", share_of(features.amin(0) == features.amax(0)))
      .with("feature_scales", (variances.amax() / variances.mean()).sqrt())
      .with("largest_feature_mean", means.abs().amax());
  return value;
}

class Inputs {
 public:
  explicit Inputs(int64_t window) : window_(window) {}

  void look(const GraphView& graph) {
    const StepView& step = graph.step();
    const int64_t N = step.batch_size();
    std::vector<Tensor> tensors;
    if (step.inputs().defined()) {
      tensors.push_back(step.inputs());
    } else {
      tensors = graph_inputs(graph.capture());
    }
    value_ = Value::none(
        "the inputs are not in the graph: no layer has kept a tensor of data; tell them to watch");
    if (tensors.empty()) return;
    std::vector<Tensor> numbers, integers;
    for (const Tensor& tensor : tensors) {
      const bool is_number = at::isFloatingType(tensor.scalar_type()) || tensor.is_complex();
      const Tensor flat =
          (tensor.is_complex() ? at::view_as_real(tensor) : tensor).reshape({N, -1});
      (is_number ? numbers : integers).push_back(flat);
    }
    if (!numbers.empty()) {
      value_ = describe_numbers(numbers.size() == 1 ? numbers[0] : at::cat(numbers, 1));
    } else {
      const ClassCounts counts =
          count_classes(integers.size() == 1 ? integers[0] : at::cat(integers, 1));
      value_ = Value(integers[0].to(at::kDouble).square().mean().sqrt());
      value_.with("low", counts.low).with("high", counts.high).with("distinct", counts.distinct);
      const Tensor all = integers.size() == 1 ? integers[0] : at::cat(integers, 1);
      if (N > 1) value_.with("constant_features", share_of(all.amin(0) == all.amax(0)));
    }
    value_.with("samples", static_cast<double>(N));
    const Labels labels = labels_of(graph);
    add_repetitions(hashes_.of(tensors), labels);
    add_outside(graph, labels);
    if (!labels.values.defined()) return;
    const ClassCounts counts = count_classes(labels.values, labels.is_counted);
    value_.with("label_low", counts.low)
        .with("label_high", counts.high)
        .with("label_classes", counts.distinct)
        .with("label_largest", counts.largest);
  }

  const Value& value() const { return value_; }

  // Halves of the hashes: a double holds 53 bits.
  std::vector<double> save() const {
    std::vector<double> numbers;
    for (const Tensor& batch : before_) {
      const Tensor hashes = batch.cpu();
      numbers.push_back(static_cast<double>(hashes.numel()));
      for (int64_t n = 0; n < hashes.numel(); ++n) {
        const auto hash = static_cast<uint64_t>(hashes[n].item<int64_t>());
        numbers.push_back(static_cast<double>(hash >> 32U));
        numbers.push_back(static_cast<double>(hash & 0xFFFFFFFFU));
      }
    }
    return numbers;
  }

  void load(const std::vector<double>& numbers) {
    before_.clear();
    for (size_t k = 0; k < numbers.size();) {
      const auto count = static_cast<int64_t>(numbers[k++]);
      std::vector<int64_t> hashes(count);
      for (int64_t& hash : hashes) {
        const auto high = static_cast<uint64_t>(numbers.at(k++));
        hash = static_cast<int64_t>((high << 32U) | static_cast<uint64_t>(numbers.at(k++)));
      }
      before_.push_back(at::tensor(hashes, at::kLong));
    }
  }

 private:
  struct Labels {
    Tensor values;      // undefined if they are not known
    Tensor is_counted;  // undefined: all are
  };

  static Labels labels_of(const GraphView& graph) {
    if (graph.step().labels().defined()) return {graph.step().labels(), {}};
    const KeptTargets targets = graph_targets(graph.capture());
    if (!targets.targets.defined()) return {};
    return {targets.targets, targets.targets != targets.ignore_index};
  }

  // The share of the labels that the loss does not have: of a binary cross-entropy those outside of
  // 0 to 1, of a cross-entropy that was written by hand those beyond the classes. A loss of classes
  // that keeps its targets has refused such labels.
  void add_outside(const GraphView& graph, const Labels& labels) {
    const Capture& capture = graph.capture();
    const LossNodes loss = find_loss_nodes(capture);
    for (size_t k = 0; k < capture.nodes.size(); ++k) {
      const Tensor targets = loss.is_above[k] ? kept_binary_targets(capture.view(k)) : Tensor();
      if (!targets.defined() || targets.numel() == 0) continue;
      const Tensor is_inside = (targets >= 0).logical_and(targets <= 1);
      value_.with("labels_outside", share_of(is_inside.logical_not()));
      if (!labels.values.defined()) {
        value_.with("label_low", targets.amin().to(at::kDouble))
            .with("label_high", targets.amax().to(at::kDouble));
      }
      return;
    }
    if (!labels.values.defined() || labels.is_counted.defined()) return;
    for (const size_t head : loss.heads) {
      const NodeView view = capture.view(head);
      const auto softmax = kept_softmax(view);
      if (!softmax || !softmax->is_logarithm) continue;
      const int64_t classes = view.output_shape().at(static_cast<size_t>(softmax->dim));
      const Tensor& values = labels.values;
      const Tensor is_class = (values >= 0).logical_and(values < classes);
      constexpr int64_t kUsuallyIgnored = -100;
      value_.with("labels_outside",
                  share_of(is_class.logical_or(values == kUsuallyIgnored).logical_not()));
      return;
    }
  }

  void add_repetitions(const Tensor& hashes, const Labels& labels) {
    const int64_t N = hashes.size(0);
    const auto [sorted, order] = hashes.sort();
    if (N > 1) {
      const Tensor is_same = sorted.slice(0, 1) == sorted.slice(0, 0, N - 1);
      value_.with("duplicates", is_same.sum().to(at::kDouble) / static_cast<double>(N));
      if (labels.values.defined() && labels.values.numel() == N) {
        const Tensor of_class = labels.values.flatten().to(order.device()).index_select(0, order);
        const Tensor differs = of_class.slice(0, 1) != of_class.slice(0, 0, N - 1);
        value_.with("conflicting_labels",
                    is_same.logical_and(differs).sum().to(at::kDouble) / static_cast<double>(N));
      }
    }
    if (!before_.empty()) {
      for (Tensor& batch : before_) batch = batch.to(hashes.device());
      const std::vector<Tensor> all(before_.begin(), before_.end());
      value_.with("seen_before", share_of(at::isin(hashes, at::cat(all))));
      const Tensor& last = before_.back();
      const bool has_size = last.size(0) == N;
      value_.with("same_batch",
                  has_size ? (last == hashes).all().to(at::kDouble)
                           : at::zeros({}, hashes.options().dtype(at::kDouble)));
    }
    before_.push_back(hashes);
    if (static_cast<int64_t>(before_.size()) > window_) before_.pop_front();
  }

  int64_t window_;
  SampleHashes hashes_;
  std::deque<Tensor> before_;  // hashes of the last batches, the last one last
  Value value_;
};

}  // namespace

Quantity inputs(Settings& settings) {
  const int64_t window =
      settings.integer("window", 8, "batches in which a sample counts as seen before", 1);
  return Quantity("inputs")
      .summary("Root mean square of the model's inputs; range, constant features, repetitions")
      .reference("of the first layers' kept inputs, or as told to watch; beyond the papers")
      .make([window] {
        const auto state = std::make_shared<Inputs>(window);
        Quantity::Functions functions;
        functions.look = [state](const GraphView& graph) { state->look(graph); };
        functions.compute = [state](const StepView&) { return state->value(); };
        functions.save = [state] { return state->save(); };
        functions.load = [state](const std::vector<double>& saved) { state->load(saved); };
        return functions;
      });
}

}  // namespace flightdeck::quantities
