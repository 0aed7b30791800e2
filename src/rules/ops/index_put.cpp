// SPDX-License-Identifier: MIT
// Writing values into some entries: every other output entry is the input entry at the same place.
// The label-smoothed cross-entropy blanks ignored samples this way, and mixtures of experts put
// back what became of their tokens.
#include <ATen/ATen.h>

#include "rules/picking.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::IndexPutBackward0;
using compat::nodes::IndexPutImplBackward0;

constexpr size_t kValues = 1;

Picking written_places(const NodeView& node) {
  const Shape shape = node.output_shape();
  return node.name() == "IndexPutBackward0"
             ? picking_of(node, node.as<IndexPutBackward0>().indices_, shape)
             : picking_of(node, node.as<IndexPutImplBackward0>().indices_, shape);
}

class IndexPutRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"IndexPutBackward0", "IndexPutImplBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || edge != kValues) return out;
    const Picking picking = written_places(node);
    const Shape output = node.output_shape();
    // This is the shape that the values were broadcast to.
    Shape written(picking.rank + output.size() - picking.count());
    for (int64_t dim = 0; dim < static_cast<int64_t>(written.size()); ++dim) {
      written[dim] =
          picking.contains(dim) ? picked_size(picking, dim) : output[picking.whole_dim(dim)];
    }
    if (!picking.picks(out.dim)) {
      const Layout whole = out.at_dim(picking.dim_of_whole(out.dim));
      return broadcast_layout(whole, written, node.input_shape(edge));
    }
    if (picking.rank != 1) return Layout::unknown();
    const Layout layout = written_layout(out, picking.places[out.dim]).at_dim(picking.first);
    return broadcast_layout(layout, written, node.input_shape(edge));
  }

  bool is_linear(const NodeView&) const override { return true; }

 private:
  static int64_t picked_size(const Picking& picking, int64_t dim) {
    for (const Tensor& places : picking.places) {
      if (places.defined()) return places.size(dim - picking.first);
    }
    return 0;
  }
};

}  // namespace

const Rule& index_put() {
  static const IndexPutRule rule;
  return rule;
}

}  // namespace flightdeck::rules
