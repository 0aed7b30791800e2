// SPDX-License-Identifier: MIT
#include "cockpit/activations.h"

#include <deque>
#include <map>
#include <optional>
#include <set>

#include <ATen/ATen.h>

#include "cockpit/groups.h"

namespace flightdeck {
namespace {

struct Feeder {
  std::string parameter;        // empty if there is none
  bool is_convolution = false;  // its units are channels, in dimension 1
};

// The op with a parameter that is nearest to the node on the way to the inputs.
Feeder feeder_of(const Capture& capture, const Parameters& parameters, size_t start) {
  std::deque<size_t> pending = {start};
  std::set<size_t> seen = {start};
  Feeder feeder;
  while (!pending.empty()) {
    const size_t k = pending.front();
    pending.pop_front();
    const CapturedNode& node = capture.nodes[k];
    if (node.rule && node.rule->layer_kind(capture.view(k)) == LayerKind::kConvolution) {
      feeder.is_convolution = true;
    }
    if (node.parameter >= 0) {
      feeder.parameter = parameters[node.parameter].name;
      return feeder;
    }
    for (int64_t next : node.next) {
      if (next >= 0 && seen.insert(next).second) pending.push_back(next);
    }
  }
  return feeder;
}

// [N, units, ...]
Tensor units_second(const Tensor& values, const Layout& layout, bool is_convolution) {
  if (layout.dim == 0 && layout.outer == 1 && layout.inner == 1) {
    if (is_convolution || values.dim() <= 2)
      return values.dim() == 1 ? values.unsqueeze(1) : values;
    return values.flatten(1, -2).transpose(1, 2);
  }
  if (layout.is_scattered()) {
    // A unit is looked at over all positions: whose they are does not matter.
    const Tensor positions = values.movedim(layout.dim, 0);
    if (positions.dim() == 1) return positions.unsqueeze(1);
    return is_convolution ? positions : positions.unsqueeze(1).flatten(1, -2).transpose(1, 2);
  }
  return samples_first(values, layout).flatten(1, -2).transpose(1, 2);
}

}  // namespace

std::vector<Activation> read_activations(const Capture& capture, const Parameters& parameters) {
  const compat::PassGuard guard;
  std::vector<Activation> activations;
  std::map<std::string, int> used;
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    const CapturedNode& node = capture.nodes[k];
    if (node.side != Side::kBatch || !node.layout.is_batch() || !node.rule) continue;
    const std::optional<BoundedOutput> output = node.rule->bounded_output(capture.view(k));
    if (!output) continue;
    const Feeder feeder = feeder_of(capture, parameters, k);
    std::string layer = feeder.parameter.empty() ? output->op : module_of(feeder.parameter);
    const int count = ++used[layer];
    if (count > 1) layer += "#" + std::to_string(count);
    activations.push_back({output->op,
                           layer,
                           units_second(output->values, node.layout, feeder.is_convolution),
                           output->low,
                           output->high,
                           output->reaches_bounds});
  }
  return activations;
}

}  // namespace flightdeck
