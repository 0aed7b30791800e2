// SPDX-License-Identifier: MIT
// Joining tensors along a dimension (cat) or along a fresh one (stack).
#include <ATen/ATen.h>

#include "graph/apply_node.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

class CatRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"CatBackward0", "StackBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const int64_t dim = dim_of(node);
    if (dim == out.dim) {
      if (is_stack(node)) return Layout::unknown();
      const std::optional<int64_t> first = first_line(node, edge);
      const Shape input = node.input_shape(edge);
      if (!first || input.size() != node.output_shape().size()) return Layout::unknown();
      const int64_t begin = first.value_or(0);  // not *first: GCC 12 takes it for unset
      return written_layout(out, at::arange(begin, begin + input[dim], at::kLong));
    }
    return is_stack(node) && out.dim > dim ? out.at_dim(out.dim - 1) : out;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const int64_t dim = dim_of(node) + 1;
    if (is_stack(node)) return stack.select(dim, static_cast<int64_t>(edge));
    const std::optional<int64_t> first = first_line(node, edge);
    return first ? stack.narrow(dim, *first, node.input_shape(edge)[dim - 1]) : Tensor();
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const int64_t V = stack_size(tangents);
    std::vector<Tensor> parts;
    for (size_t e = 0; e < tangents.size(); ++e) {
      if (!node.has_input(e)) return {};
      const auto& next = node.node()->next_edge(e);
      const auto options = next.function->input_metadata(next.input_nr).options();
      parts.push_back(tangents[e].defined()
                          ? tangents[e]
                          : at::zeros(with_lead(V, node.input_shape(e)), options));
    }
    return is_stack(node) ? at::stack(parts, dim_of(node) + 1) : at::cat(parts, dim_of(node) + 1);
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }

 private:
  // Returns where an input of cat begins in the output; unknown behind one whose size is not
  // recorded.
  static std::optional<int64_t> first_line(const NodeView& node, size_t edge) {
    int64_t first = 0;
    for (size_t e = 0; e < edge; ++e) {
      if (!node.has_input(e)) return std::nullopt;
      const Shape input = node.input_shape(e);
      if (input.size() != node.output_shape().size()) return std::nullopt;  // an empty vector
      first += input[dim_of(node)];
    }
    return first;
  }
  static bool is_stack(const NodeView& node) { return node.name() == "StackBackward0"; }
  static int64_t dim_of(const NodeView& node) {
    const int64_t given = is_stack(node) ? compat::to_int(node.as<nodes::StackBackward0>().dim)
                                         : compat::to_int(node.as<nodes::CatBackward0>().dim);
    return wrap(given, node.output_shape().size());
  }
};

}  // namespace

const Rule& cat() {
  static const CatRule rule;
  return rule;
}

}  // namespace flightdeck::rules
