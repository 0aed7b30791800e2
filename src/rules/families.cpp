// SPDX-License-Identifier: MIT
#include "rules/families.h"

#include <algorithm>

namespace flightdeck {

Layout PointwiseRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  return broadcast_layout(out, node.output_shape(), node.input_shape(edge));
}

Layout PointwiseLossRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  const Shape input = node.input_shape(edge);
  if (out.is_reduced() && !input.empty()) return leading_layout(out.N, input, node.name());
  return PointwiseRule::input_layout(node, edge, out);
}

Layout AlongDimsRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  if (!out.is_batch()) return out;
  const size_t rank = node.output_shape().size();
  if (node.input_shape(edge).size() != rank) return Layout::unknown();
  for (int64_t dim : dims_(node)) {
    if (wrap(dim, rank) == out.dim) return Layout::unknown();
  }
  return out;
}

Layout ReductionRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  const Shape input = node.input_shape(edge);
  Reduced reduced = describe_(node);
  Shape dims;
  for (int64_t dim : reduced.dims) dims.push_back(wrap(dim, input.size()));
  const auto is_reduced = [&dims](int64_t dim) {
    return dims.empty() || std::find(dims.begin(), dims.end(), dim) != dims.end();
  };
  if (out.is_reduced()) {
    if (product(input) == 1) return out;
    return is_reduced(0) ? leading_layout(out.N, input, node.name()) : Layout::unknown();
  }
  if (!out.is_batch()) return out;
  // The out.dim-th dimension that is still there.
  int64_t position = 0;
  for (int64_t dim = 0; dim < static_cast<int64_t>(input.size()); ++dim) {
    const bool is_kept = reduced.keepdim || !is_reduced(dim);
    if (!is_kept) continue;
    if (position++ != out.dim) continue;
    return is_reduced(dim) ? Layout::unknown() : out.at_dim(dim);
  }
  return Layout::unknown();
}

}  // namespace flightdeck
