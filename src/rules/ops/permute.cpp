// SPDX-License-Identifier: MIT
// Ops that reorder dimensions.
#include <numeric>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

template <typename NodeType>
void swap_dims(const NodeType& transpose, Shape& order) {
  std::swap(order[wrap(compat::to_int(transpose.dim0), order.size())],
            order[wrap(compat::to_int(transpose.dim1), order.size())]);
}

// Returns the order in which output dimension k is input dimension order[k].
Shape order_of(const NodeView& node) {
  const std::string name = node.name();
  Shape order(node.output_shape().size());
  std::iota(order.begin(), order.end(), 0);
  if (name == "PermuteBackward0") {
    const Shape dims = compat::to_ints(node.as<nodes::PermuteBackward0>().dims);
    for (size_t k = 0; k < order.size(); ++k) order[k] = wrap(dims[k], order.size());
  } else if (name == "TransposeBackward0") {
    swap_dims(node.as<nodes::TransposeBackward0>(), order);
  } else if (name == "TransposeBackward1") {
    swap_dims(node.as<nodes::TransposeBackward1>(), order);
  } else if (order.size() == 2) {
    std::swap(order[0], order[1]);
  }
  return order;
}

class PermuteRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {
        "PermuteBackward0", "TBackward0", "TBackward1", "TransposeBackward0", "TransposeBackward1"};
  }

  Layout input_layout(const NodeView& node, size_t, const Layout& out) const override {
    return out.is_batch() ? out.at_dim(order_of(node)[out.dim]) : out;
  }

  bool is_view() const override { return true; }

  Tensor columns(const NodeView& node, size_t, const Tensor& stack) const override {
    const Shape order = order_of(node);
    Shape back(order.size() + 1, 0);
    for (size_t k = 0; k < order.size(); ++k) back[order[k] + 1] = static_cast<int64_t>(k) + 1;
    return stack.permute(back);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    Shape dims{0};
    for (int64_t dim : order_of(node)) dims.push_back(dim + 1);
    return tangents[0].permute(dims);
  }

  bool is_linear(const NodeView&) const override { return true; }

  bool carry(const NodeView& node, size_t, size_t, Rows& rows) const override {
    for (auto& term : rows.terms()) term.placement.undo_permute(order_of(node));
    return true;
  }
};

}  // namespace

const Rule& permute() {
  static const PermuteRule rule;
  return rule;
}

}  // namespace flightdeck::rules
