// SPDX-License-Identifier: MIT
// Picking or reordering entries along one dimension.
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

Shape touched_dims(const NodeView& node) {
  const std::string name = node.name();
  if (name == "FlipBackward0") return compat::to_ints(node.as<nodes::FlipBackward0>().dims);
  if (name == "GatherBackward0") {
    const auto& gather = node.as<nodes::GatherBackward0>();
    // An index that covers only some samples leaves out the rest: no layout then.
    Shape dims{compat::to_int(gather.dim)};
    const Shape input = node.input_shape(0), output = node.output_shape();
    for (size_t k = 0; k < input.size(); ++k) {
      if (input[k] != output[k]) dims.push_back(static_cast<int64_t>(k));
    }
    return dims;
  }
  if (name == "RollBackward0") {
    const Shape dims = compat::to_ints(node.as<nodes::RollBackward0>().dims);
    if (!dims.empty()) return dims;
    Shape all(node.output_shape().size());
    for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int64_t>(k);
    return all;
  }
  return {compat::to_int(node.as<nodes::IndexSelectBackward0>().dim)};
}

}  // namespace

const Rule& index() {
  static const AlongDimsRule rule(
      {"FlipBackward0", "GatherBackward0", "IndexSelectBackward0", "RollBackward0"},
      &touched_dims,
      /*is_linear=*/true);
  return rule;
}

}  // namespace flightdeck::rules
