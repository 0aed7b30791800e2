// SPDX-License-Identifier: MIT
// An op in place on a view: the output is the whole tensor that the view is of, with the op applied
// to the entries of the view. This holds for ops that work entry by entry, as relu_ does.
#include <ATen/ATen.h>

#include "graph/apply_node.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

class CopySlicesRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"torch::autograd::CopySlices"}; }

  Layout input_layout(const NodeView& node, size_t, const Layout& out) const override {
    return is_entrywise(node) ? out : Layout::unknown();
  }

  Tensor columns(const NodeView& node, size_t, const Tensor& stack) const override {
    return is_entrywise(node) ? stack.mul(slope_of(node)) : Tensor();
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    return is_entrywise(node) ? tangents[0].mul(slope_of(node)) : Tensor();
  }

 private:
  // Returns true if each entry depends on the one at its place alone, inside the view or not.
  static bool is_entrywise(const NodeView& node) {
    const auto* copy = dynamic_cast<const compat::ag::CopySlices*>(node.node());
    if (!copy || !copy->fn || node.num_inputs() != 1 || !node.has_input(0)) return false;
    const Rule* rule = find_rule(copy->fn->name());
    return rule && rule->is_pointwise() && node.input_shape(0) == node.output_shape();
  }
  static Tensor slope_of(const NodeView& node) {
    const Tensor ones = at::ones(node.output_shape(), node.output_options());
    const Tensor slope = apply_node(node.node(), {ones}, {true})[0];
    return slope.defined() ? slope : at::zeros_like(ones);
  }
};

}  // namespace

const Rule& copy_slices() {
  static const CopySlicesRule rule;
  return rule;
}

}  // namespace flightdeck::rules
