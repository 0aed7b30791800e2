// SPDX-License-Identifier: MIT
// Adding or copying lines of a source to given places along one dimension: what an expert made of
// its tokens goes back to where they came from, and with it to their samples.
#include <ATen/ATen.h>

#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::IndexAddBackward0;
using compat::nodes::IndexCopyBackward0;

constexpr size_t kSource = 1;

bool adds(const NodeView& node) { return node.name() == "IndexAddBackward0"; }

class IndexAddRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"IndexAddBackward0", "IndexCopyBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || edge != kSource) return out;
    if (node.input_shape(edge).size() != node.output_shape().size()) return Layout::unknown();
    return out.dim == dim_of(node) ? written_layout(out, index_of(node)) : out;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const int64_t dim = dim_of(node) + 1;
    if (edge != kSource) return adds(node) ? stack : stack.index_fill(dim, index_of(node), 0);
    const Tensor read = stack.index_select(dim, index_of(node));
    return (adds(node) ? read.mul(alpha_of(node).conj()) : read)
        .reshape(with_lead(stack.size(0), node.input_shape(edge)));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const int64_t dim = dim_of(node) + 1;
    const Tensor& source = tangents[kSource];
    if (!source.defined()) {
      return adds(node) ? tangents[0] : tangents[0].index_fill(dim, index_of(node), 0);
    }
    const Shape sizes = with_lead(source.size(0), node.output_shape());
    const Tensor into = tangents[0].defined() ? tangents[0] : at::zeros(sizes, source.options());
    const Tensor lines = source.dim() == into.dim() ? source : source.unsqueeze(1);
    return adds(node) ? into.index_add(dim, index_of(node), lines, alpha_of(node))
                      : into.index_copy(dim, index_of(node), lines);
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }

  std::optional<double> summand(const NodeView& node, size_t edge) const override {
    if (!adds(node)) return std::nullopt;
    if (edge != kSource) return 1;
    const at::Scalar alpha = alpha_of(node);
    return alpha.isComplex() ? std::nullopt : std::optional<double>(alpha.toDouble());
  }

 private:
  static at::Scalar alpha_of(const NodeView& node) { return node.as<IndexAddBackward0>().alpha; }
  static int64_t dim_of(const NodeView& node) {
    const int64_t dim = adds(node) ? compat::to_int(node.as<IndexAddBackward0>().dim)
                                   : compat::to_int(node.as<IndexCopyBackward0>().dim);
    return wrap(dim, node.output_shape().size());
  }
  static Tensor index_of(const NodeView& node) {
    const auto& saved =
        adds(node) ? node.as<IndexAddBackward0>().index_ : node.as<IndexCopyBackward0>().index_;
    return node.unpack(saved).reshape({-1});
  }
};

}  // namespace

const Rule& index_add() {
  static const IndexAddRule rule;
  return rule;
}

}  // namespace flightdeck::rules
