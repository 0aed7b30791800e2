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

// Returns the bits of every entry as integers.
Tensor bits_of(const Tensor& values) {
  Tensor entries = values.is_complex() ? at::view_as_real(values) : values;
  if (!at::isFloatingType(entries.scalar_type())) return entries.to(at::kLong);
  // Adding zero makes -0 and 0 one.
  entries = entries.scalar_type() == at::kDouble ? entries + 0 : entries.to(at::kFloat) + 0;
  const auto integers = entries.scalar_type() == at::kDouble ? at::kLong : at::kInt;
  return entries.contiguous().view(integers).to(at::kLong);
}

// Makes a number for each sample that equals another's if, and but for one in 2^60 only if, the
// samples are equal to the bit.
class SampleHashes {
 public:
  // Takes tensors [N, ...] to hashes [N].
  Tensor of(const std::vector<Tensor>& tensors) {
    Tensor hashes;
    int64_t salt = 0;
    for (const Tensor& tensor : tensors) {
      if (tensor.is_cpu() && tensor.scalar_type() == at::kFloat) {
        // A view makes no copy.
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

  // Returns two numbers of 53 bits, which a double holds, for the samples of a batch: one that
  // depends on their order, and one that does not. hashes [N] -> []
  std::pair<Tensor, Tensor> of_batch(const Tensor& hashes) {
    // Sums of hashes are sums of features over all samples: mixed first, they tell sets apart.
    const Tensor high = hashes.bitwise_right_shift(at::scalar_tensor(29, hashes.options()));
    const Tensor mixed = hashes.bitwise_xor(high) * kOdd;
    const auto bits = [](const Tensor& sum) {
      return sum.bitwise_and(at::scalar_tensor((int64_t{1} << 53) - 1, sum.options()))
          .to(at::kDouble);
    };
    const Tensor places = weights(hashes.size(0), kPlaces, hashes.device());
    return {bits((mixed * places).sum()), bits(mixed.sum())};
  }

 private:
  static constexpr int64_t kPlaces = 1 << 20;  // a salt that no tensor has
  static constexpr int64_t kOdd = 0x1E3779B97F4A7C15;

  static void add(Tensor& hashes, const Tensor& sums) {
    hashes = hashes.defined() ? hashes + sums : sums;
  }

  // Does the same in one sweep, with numbers that wrap around.
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

// Tells which numbers [N] are among others [M] of at least one, without waiting for a device, as
// at::isin does.
Tensor is_among(const Tensor& numbers, const Tensor& others) {
  const Tensor sorted = std::get<0>(at::sort(others));
  const Tensor place = at::searchsorted(sorted, numbers).clamp_max(others.numel() - 1);
  return sorted.index_select(0, place) == numbers;
}

Tensor share_of(const Tensor& flags) { return flags.to(at::kDouble).mean(); }

// Names what one rank has read of its samples, in this order; those of all ranks stand behind one
// another.
enum Shared : size_t {
  kHashes,    // [n, 2], halves: a double holds 53 bits
  kStats,     // [1, kEntryStats]
  kSizes,     // [1, 2], samples and features
  kFeatures,  // [features, kFeatureNumbers]
  kIntegers,  // entries of inputs that are integers
  kLabels,    // [labels, 2], the label and whether it counts
  kOutside,   // [1, 4] where the loss tells which labels it has: those it has not, all, range
  kTensors,
};
enum FeatureNumber : int64_t { kLow, kHigh, kMean, kVariance, kFeatureNumbers };

Tensor halves_of(const Tensor& hashes) {
  const Tensor high = hashes.bitwise_right_shift(at::scalar_tensor(32, hashes.options()));
  const Tensor low = hashes.bitwise_and(at::scalar_tensor(int64_t{0xFFFFFFFF}, hashes.options()));
  return at::stack({high, low}, 1).to(at::kDouble);
}

Tensor whole_of(const Tensor& halves) {
  const Tensor integers = halves.to(at::kLong);
  return integers.select(1, 0) * (int64_t{1} << 32) + integers.select(1, 1);
}

// Describes the features of real inputs [n, F].
Tensor features_of(const Tensor& x) {
  const bool is_coarse = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  const Tensor features = is_coarse ? x.to(at::kFloat) : x;
  const Tensor means = features.mean(0);
  const Tensor variances = (features - means).square_().mean(0);
  return at::stack({features.amin(0), features.amax(0), means, variances}, 1).to(at::kDouble);
}

// Describes inputs that are integers [n, F], whose spread says nothing.
Tensor ranges_of(const Tensor& x) {
  const Tensor low = x.amin(0).to(at::kDouble), none = at::zeros_like(low);
  return at::stack({low, x.amax(0).to(at::kDouble), none, none}, 1);
}

Tensor stats_of_integers(const Tensor& x) {
  Tensor stats = at::zeros({kEntryStats}, x.options().dtype(at::kDouble));
  stats[kEntryCount].fill_(static_cast<double>(x.numel()));
  stats[kEntrySquares].copy_(x.to(at::kDouble).square().sum());
  return stats;
}

// Returns the features of all ranks together, [F, kFeatureNumbers]; undefined where ranks have
// inputs of several sizes.
Tensor joined_features(const std::vector<Tensor>& shared) {
  const Tensor& sizes = shared[kSizes];
  if (sizes.size(0) == 1) return shared[kFeatures];
  const Tensor counts = sizes.select(1, 1);
  if (!(counts == counts[0]).all().item<bool>()) return {};
  const Tensor of_ranks = shared[kFeatures].view({sizes.size(0), -1, kFeatureNumbers});
  const Tensor weights = (sizes.select(1, 0) / sizes.select(1, 0).sum()).unsqueeze(1);
  const Tensor means = of_ranks.select(2, kMean), mean = (weights * means).sum(0);
  const Tensor spread = of_ranks.select(2, kVariance) + (means - mean).square();
  return at::stack({of_ranks.select(2, kLow).amin(0),
                    of_ranks.select(2, kHigh).amax(0),
                    mean,
                    (weights * spread).sum(0)},
                   1);
}

Value describe_numbers(const Tensor& stats) {
  const Tensor count = stats[kEntryCount], mean = stats[kEntrySum] / count;
  const Tensor variance = stats[kEntrySquares] / count - mean.square();
  Value value(root_mean_square(stats));
  value.with("mean", mean)
      .with("deviation", at::where(variance < 0, at::zeros_like(variance), variance).sqrt())
      .with("low", stats[kEntryLow])
      .with("high", stats[kEntryHigh])
      .with("zeros", stats[kEntriesZero] / count)
      .with("not_finite", stats[kEntriesNotFinite] / count);
  return value;
}

class Inputs {
 public:
  explicit Inputs(int64_t window) : window_(window) {}

  void look(const GraphView& graph) {
    shared_.clear();
    const StepView& step = graph.step();
    const int64_t N = step.batch_size();
    std::vector<Tensor> tensors;
    if (step.inputs().defined()) {
      tensors.push_back(step.inputs());
    } else {
      tensors = graph_inputs(graph.capture());
    }
    if (tensors.empty()) return;
    std::vector<Tensor> numbers, integers;
    for (const Tensor& tensor : tensors) {
      const bool is_number = at::isFloatingType(tensor.scalar_type()) || tensor.is_complex();
      const Tensor flat =
          (tensor.is_complex() ? at::view_as_real(tensor) : tensor).reshape({N, -1});
      (is_number ? numbers : integers).push_back(flat);
    }
    const bool has_numbers = !numbers.empty();
    const std::vector<Tensor>& read = has_numbers ? numbers : integers;
    const Tensor x = read.size() == 1 ? read[0] : at::cat(read, 1);  // [N, F]
    const auto doubles = x.options().dtype(at::kDouble);
    shared_.resize(kTensors);
    shared_[kHashes] = halves_of(hashes_.of(tensors));
    const Tensor stats = has_numbers ? entry_stats(x, {}) : stats_of_integers(integers[0]);
    shared_[kStats] = stats.unsqueeze(0);
    const std::vector<double> sizes = {static_cast<double>(N), static_cast<double>(x.size(1))};
    shared_[kSizes] = at::tensor(sizes, at::kDouble).unsqueeze(0);
    shared_[kFeatures] = has_numbers ? features_of(x) : ranges_of(x);
    shared_[kIntegers] = has_numbers ? at::empty({0}, doubles) : x.flatten();
    shared_[kLabels] = labels_of(graph);
    if (!shared_[kLabels].defined()) shared_[kLabels] = at::empty({0, 2}, doubles);
    shared_[kOutside] = outside_of(graph);
    if (!shared_[kOutside].defined()) shared_[kOutside] = at::empty({0, 4}, doubles);
  }

  const std::vector<Tensor>& shared() const { return shared_; }

  // Computes the value of what all ranks share.
  Value value(const std::vector<Tensor>& shared) {
    if (shared.empty()) {
      return Value::none(
          "the inputs are not in the graph: no layer has kept a tensor of data; tell them to "
          "watch");
    }
    const Tensor hashes = whole_of(shared[kHashes]);
    const int64_t N = hashes.size(0);
    const Tensor stats = join_stats(shared[kStats]);
    const Tensor features = N > 1 ? joined_features(shared) : Tensor();
    const bool has_numbers = shared[kIntegers].numel() == 0;
    Value value = has_numbers ? describe_numbers(stats) : Value(root_mean_square(stats));
    if (!has_numbers) {
      const ClassCounts counts = count_classes(integers_of(shared[kIntegers]));
      value.with("low", counts.low).with("high", counts.high).with("distinct", counts.distinct);
    }
    if (features.defined()) {
      value.with("constant_features",
                 share_of(features.select(1, kLow) == features.select(1, kHigh)));
    }
    if (features.defined() && has_numbers) {
      const Tensor variances = features.select(1, kVariance);
      value.with("feature_scales", (variances.amax() / variances.mean()).sqrt())
          .with("largest_feature_mean", features.select(1, kMean).abs().amax());
    }
    value.with("samples", static_cast<double>(N));
    const auto [batch_hash, set_hash] = hashes_.of_batch(hashes);
    value.with("batch_hash", batch_hash).with("set_hash", set_hash);
    const Tensor& labels = shared[kLabels];
    add_repetitions(value, hashes, labels.select(1, 0));
    const Tensor& outside = shared[kOutside];
    if (outside.size(0) > 0) {
      const Tensor counts = outside.sum(0);
      value.with("labels_outside", counts[0] / counts[1]);
    }
    if (outside.size(0) > 0 && labels.size(0) == 0) {
      value.with("label_low", outside.select(1, 2).amin())
          .with("label_high", outside.select(1, 3).amax());
    }
    if (labels.size(0) == 0) return value;
    const ClassCounts counts =
        count_classes(labels.select(1, 0).to(at::kLong), labels.select(1, 1) != 0);
    return value.with("label_low", counts.low)
        .with("label_high", counts.high)
        .with("label_classes", counts.distinct)
        .with("label_largest", counts.largest);
  }

  // Saves halves of the hashes: a double holds 53 bits.
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
  // Turns entries back into integers, which may have been packed as floating-point numbers.
  static Tensor integers_of(const Tensor& entries) {
    return at::isFloatingType(entries.scalar_type()) ? entries.to(at::kLong) : entries;
  }

  // Returns [labels, 2]; undefined if they are not known.
  static Tensor labels_of(const GraphView& graph) {
    Tensor labels = graph.step().labels(), is_counted;
    if (!labels.defined()) {
      const KeptTargets targets = graph_targets(graph.capture());
      if (!targets.targets.defined()) return {};
      labels = targets.targets;
      is_counted = targets.targets != targets.ignore_index;
    }
    labels = labels.flatten().to(at::kDouble);
    is_counted =
        is_counted.defined() ? is_counted.flatten().to(at::kDouble) : at::ones_like(labels);
    return at::stack({labels, is_counted}, 1);
  }

  // Counts labels that the loss does not have, [1, 4]: of a binary cross-entropy those outside of 0
  // to 1, of a cross-entropy that was written by hand those beyond the classes. A loss of classes
  // that keeps its targets has refused such labels, and others do not tell: undefined.
  static Tensor outside_of(const GraphView& graph) {
    const Capture& capture = graph.capture();
    const LossNodes loss = find_loss_nodes(capture);
    for (size_t k = 0; k < capture.nodes.size(); ++k) {
      const Tensor targets = loss.is_above[k] ? kept_binary_targets(capture.view(k)) : Tensor();
      if (!targets.defined() || targets.numel() == 0) continue;
      return counts_outside(targets, (targets >= 0).logical_and(targets <= 1));
    }
    const Tensor& labels = graph.step().labels();
    if (!labels.defined() || labels.numel() == 0) return {};
    for (const size_t head : loss.heads) {
      const NodeView view = capture.view(head);
      const auto softmax = kept_softmax(view);
      if (!softmax || !softmax->is_logarithm) continue;
      const int64_t classes = view.output_shape().at(static_cast<size_t>(softmax->dim));
      constexpr int64_t kUsuallyIgnored = -100;
      const Tensor is_class = (labels >= 0).logical_and(labels < classes);
      return counts_outside(labels, is_class.logical_or(labels == kUsuallyIgnored));
    }
    return {};
  }

  static Tensor counts_outside(const Tensor& labels, const Tensor& is_inside) {
    const Tensor outside = is_inside.logical_not().sum().to(at::kDouble);
    const Tensor all = at::full_like(outside, static_cast<double>(labels.numel()));
    const Tensor low = labels.amin().to(at::kDouble), high = labels.amax().to(at::kDouble);
    return at::stack({outside, all, low, high}).unsqueeze(0);
  }

  void add_repetitions(Value& value, const Tensor& hashes, const Tensor& labels) {
    const int64_t N = hashes.size(0);
    const auto [sorted, order] = hashes.sort();
    if (N > 1) {
      const Tensor is_same = sorted.slice(0, 1) == sorted.slice(0, 0, N - 1);
      value.with("duplicates", is_same.sum().to(at::kDouble) / static_cast<double>(N));
      if (labels.numel() == N) {
        const Tensor of_class = labels.to(order.device()).index_select(0, order);
        const Tensor differs = of_class.slice(0, 1) != of_class.slice(0, 0, N - 1);
        value.with("conflicting_labels",
                   is_same.logical_and(differs).sum().to(at::kDouble) / static_cast<double>(N));
      }
    }
    if (!before_.empty()) {
      for (Tensor& batch : before_) batch = batch.to(hashes.device());
      const std::vector<Tensor> all(before_.begin(), before_.end());
      value.with("seen_before", share_of(is_among(hashes, at::cat(all))));
      const Tensor& last = before_.back();
      const bool has_size = last.size(0) == N;
      value.with("same_batch",
                 has_size ? (last == hashes).all().to(at::kDouble)
                          : at::zeros({}, hashes.options().dtype(at::kDouble)));
    }
    before_.push_back(hashes);
    if (static_cast<int64_t>(before_.size()) > window_) before_.pop_front();
  }

  int64_t window_;
  SampleHashes hashes_;
  std::deque<Tensor> before_;   // hashes of the last batches, the last one last
  std::vector<Tensor> shared_;  // of this step; empty if nothing was read
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
        functions.share = [state](const StepView&) { return state->shared(); };
        functions.compute = [state](const StepView& step) { return state->value(step.shared()); };
        functions.save = [state] { return state->save(); };
        functions.load = [state](const std::vector<double>& saved) { state->load(saved); };
        return functions;
      });
}

}  // namespace flightdeck::quantities
