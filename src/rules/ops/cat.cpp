// SPDX-License-Identifier: MIT
// Joining tensors along a dimension (cat) or along a fresh one (stack).
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

class CatRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"CatBackward0", "StackBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const bool is_stack = node.name() == "StackBackward0";
    const int64_t given = is_stack ? compat::to_int(node.as<nodes::StackBackward0>().dim)
                                   : compat::to_int(node.as<nodes::CatBackward0>().dim);
    const int64_t dim = wrap(given, node.output_shape().size());
    if (dim == out.dim) return Layout::unknown();
    return is_stack && out.dim > dim ? out.at_dim(out.dim - 1) : out;
  }

  bool is_linear(const NodeView&) const override { return true; }
};

}  // namespace

const Rule& cat() {
  static const CatRule rule;
  return rule;
}

}  // namespace flightdeck::rules
