// SPDX-License-Identifier: MIT
// Complex numbers seen as pairs of real ones in one more dimension [..., 2], and the other way
// round.
#include "rows/dense.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

class ComplexViewRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"ViewAsComplexBackward0", "ViewAsRealBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    const bool is_pair = out.is_batch() && !to_complex(node) &&
                         out.dim == static_cast<int64_t>(node.input_shape(edge).size());
    return is_pair ? Layout::unknown() : out;
  }

  Tensor columns(const NodeView& node, size_t, const Tensor& stack) const override {
    return to_complex(node) ? real_entries(stack) : from_real_entries(stack, true);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    return to_complex(node) ? from_real_entries(tangents[0], true) : real_entries(tangents[0]);
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }

  bool carry(const NodeView& node, size_t edge, size_t, Rows& rows) const override {
    const Tensor written = columns(node, edge, rows.dense(0, rows.N()));
    rows = Rows(std::make_shared<DenseForm>(written, "dense"));
    return true;
  }

 private:
  static bool to_complex(const NodeView& node) { return node.name() == "ViewAsComplexBackward0"; }
};

}  // namespace

const Rule& complex_view() {
  static const ComplexViewRule rule;
  return rule;
}

}  // namespace flightdeck::rules
