// SPDX-License-Identifier: MIT
// Picking one index of a dimension (select) or all of them as separate outputs (unbind).
#include <ATen/ATen.h>

#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

bool is_unbind(const NodeView& node) { return node.name() == "UnbindBackward0"; }

int64_t dim_of(const NodeView& node) {
  const int64_t dim = is_unbind(node) ? compat::to_int(node.as<nodes::UnbindBackward0>().dim)
                                      : compat::to_int(node.as<nodes::SelectBackward0>().dim);
  return wrap(dim, node.input_shape(0).size());
}

class SelectRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"SelectBackward0", "UnbindBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    return out.at_dim(out.dim >= dim_of(node) ? out.dim + 1 : out.dim);
  }

  bool is_view() const override { return true; }

  bool carry(const NodeView& node, size_t edge, size_t output, Rows& rows) const override {
    const Shape input = node.input_shape(edge);
    const int64_t dim = dim_of(node);
    const int64_t index =
        is_unbind(node) ? static_cast<int64_t>(output)
                        : wrap(compat::to_int(node.as<nodes::SelectBackward0>().index), input[dim]);
    Shape kept = input;
    kept[dim] = 1;
    for (auto& term : rows.terms()) {
      term.placement.undo_reshape(kept);
      term.placement.undo_slice(input, dim, index, 1);
    }
    return true;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (is_unbind(node)) return {};  // several outputs
    Tensor whole = at::zeros(with_lead(stack.size(0), node.input_shape(edge)), stack.options());
    whole.select(dim_of(node) + 1, index_of(node)).copy_(stack);
    return whole;
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    if (is_unbind(node)) return {};
    return tangents[0].select(dim_of(node) + 1, index_of(node));
  }

  bool is_linear(const NodeView&) const override { return true; }

 private:
  static int64_t index_of(const NodeView& node) {
    const int64_t index = compat::to_int(node.as<nodes::SelectBackward0>().index);
    return wrap(index, node.input_shape(0)[dim_of(node)]);
  }
};

}  // namespace

const Rule& select() {
  static const SelectRule rule;
  return rule;
}

}  // namespace flightdeck::rules
