// SPDX-License-Identifier: MIT
// Ops that keep every entry in row-major order: views, squeezes, copies, casts.
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

class ViewRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"AliasBackward0",
            "CloneBackward0",
            "LiftBackward0",
            "LiftFreshBackward0",
            "MkldnnReshapeBackward0",
            "ReshapeAliasBackward0",
            "SqueezeBackward0",
            "SqueezeBackward1",
            "SqueezeBackward2",
            "SqueezeBackward3",
            "SqueezeBackward4",
            "SqueezeBackward5",
            "ToCopyBackward0",
            "UnsafeViewBackward0",
            "UnsqueezeBackward0",
            "UnsqueezeBackward1",
            "ViewBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    return reshape_layout(out, node.output_shape(), node.input_shape(edge));
  }

  bool is_view() const override { return true; }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (is_cast(node)) return {};
    return stack.reshape(with_lead(stack.size(0), node.input_shape(edge)));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    if (is_cast(node)) return {};
    return tangents[0].reshape(with_lead(tangents[0].size(0), node.output_shape()));
  }

  bool is_linear(const NodeView&) const override { return true; }

  bool carry(const NodeView& node, size_t edge, size_t, Rows& rows) const override {
    if (is_complex(node.input_options(edge)) != is_complex(node.output_options())) return false;
    for (auto& term : rows.terms()) term.placement.undo_reshape(node.input_shape(edge));
    return true;
  }

 private:
  static bool is_cast(const NodeView& node) { return node.name() == "ToCopyBackward0"; }
};

}  // namespace

const Rule& view() {
  static const ViewRule rule;
  return rule;
}

}  // namespace flightdeck::rules
