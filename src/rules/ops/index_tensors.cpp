// SPDX-License-Identifier: MIT
// Picking entries by tensors of indices: x[:, i], table[i], x[range, i], x[mask]. Where the lines
// of x are picked in any order, a line belongs to the sample that reads it.
#include <ATen/ATen.h>

#include "rows/gather.h"
#include "rules/picking.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::IndexBackward0;

Picking read_places(const NodeView& node) {
  return picking_of(node, node.as<IndexBackward0>().indices_, node.input_shape(0));
}

// Returns true for 0, 1, ..., size - 1: every line picks in itself.
bool counts_lines(const Tensor& places, int64_t size) {
  return places.size(0) == size && places.equal(at::arange(size, places.options()));
}

// Returns the layout of x, where the samples sit in the one dimension of the indices.
Layout read_by(const Picking& picking, const Shape& input, const Layout& out) {
  Layout found = Layout::unknown();
  for (size_t k = 0; k < input.size(); ++k) {
    if (!picking.picks(k)) continue;
    const auto dim = static_cast<int64_t>(k);
    if (!out.is_scattered() && counts_lines(picking.places[k], input[k])) return out.at_dim(dim);
    // Few samples may pick different entries by chance, least of all in a short dimension.
    const bool is_longer = !found.is_batch() || input[k] > input[found.dim];
    const Layout layout = read_layout(out, picking.places[k], input[k]).at_dim(dim);
    if (layout.is_batch() && is_longer) found = layout;
  }
  return found;
}

class IndexTensorsRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"IndexBackward0"}; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const Picking picking = read_places(node);
    const Shape input = node.input_shape(edge);
    // With one position in all, any dimension of size 1 may be said to carry it.
    const bool is_one = out.is_scattered() && out.length() == 1 && picking.rank == 1 &&
                        node.output_shape()[picking.first] == 1;
    if (is_one) return read_by(picking, input, out.at_dim(picking.first));
    if (!picking.contains(out.dim)) return out.at_dim(picking.whole_dim(out.dim));
    return picking.rank == 1 ? read_by(picking, input, out) : Layout::unknown();
  }

  // Returns the rows of a table whose lines the samples choose.
  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const Picking picking = read_places(node);
    const Shape table = node.input_shape(edge);
    if (picking.count() != 1 || !picking.picks(0) || !picking.contains(out.dim)) return {};
    const Tensor lines = samples_first(picking.places[0], out).reshape({out.N, -1});
    const Tensor b =
        samples_first(gradient, out)
            .reshape({out.N, lines.size(1), product(table) / std::max<int64_t>(1, table[0])});
    Rows rows(
        std::make_shared<GatherForm>(lines.remainder(table[0]), b, table[0], /*padding_index=*/-1));
    if (table.size() != 2) rows.terms().front().placement.undo_reshape(table);
    return rows;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const Picking picking = read_places(node);
    const Tensor whole =
        at::zeros(with_lead(stack.size(0), node.input_shape(edge)), stack.options());
    const Tensor values = picking.is_in_front ? stack.movedim(0, picking.rank) : stack;
    return at::index_put(whole, picking.behind_stack(), values, /*accumulate=*/true);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Picking picking = read_places(node);
    const Tensor picked = at::index(tangents[0], picking.behind_stack());
    return picking.is_in_front ? picked.movedim(picking.rank, 0) : picked;
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return false; }
};

}  // namespace

const Rule& index_tensors() {
  static const IndexTensorsRule rule;
  return rule;
}

}  // namespace flightdeck::rules
