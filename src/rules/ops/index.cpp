// SPDX-License-Identifier: MIT
// Picking or reordering entries along one dimension; the largest entries are picked, too.
#include <ATen/ATen.h>

#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

Shape touched_dims(const NodeView& node) {
  const std::string name = node.name();
  if (name == "FlipBackward0") return compat::to_ints(node.as<nodes::FlipBackward0>().dims);
  if (name == "GatherBackward0") {
    const auto& gather = node.as<nodes::GatherBackward0>();
    // An index that covers only some samples leaves out the rest, so that there is no layout then.
    Shape dims{compat::to_int(gather.dim)};
    const Shape input = node.input_shape(0), output = node.output_shape();
    for (size_t k = 0; k < input.size(); ++k) {
      if (input[k] != output[k]) dims.push_back(static_cast<int64_t>(k));
    }
    return dims;
  }
  if (name == "RollBackward0") {
    const Shape dims = compat::to_ints(node.as<nodes::RollBackward0>().dims);
    if (!dims.empty()) return dims;
    Shape all(node.output_shape().size());
    for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int64_t>(k);
    return all;
  }
  if (name == "TopkBackward0") return {compat::to_int(node.as<nodes::TopkBackward0>().dim)};
  return {compat::to_int(node.as<nodes::IndexSelectBackward0>().dim)};
}

// Returns the index of the output's shape by which an op picks, and its dimension.
std::optional<std::pair<Tensor, int64_t>> gathered(const NodeView& node) {
  const std::string name = node.name();
  if (name == "GatherBackward0") {
    const auto& gather = node.as<nodes::GatherBackward0>();
    return std::make_pair(node.unpack(gather.index_), compat::to_int(gather.dim));
  }
  if (name == "TopkBackward0") {
    const auto& topk = node.as<nodes::TopkBackward0>();
    return std::make_pair(node.unpack(topk.indices_), compat::to_int(topk.dim));
  }
  return std::nullopt;
}

int64_t dim_of(const NodeView& node, int64_t given) {
  return wrap(given, node.input_shape(0).size()) + 1;
}

class IndexRule final : public AlongDimsRule {
 public:
  IndexRule()
      : AlongDimsRule({"FlipBackward0",
                       "GatherBackward0",
                       "IndexSelectBackward0",
                       "RollBackward0",
                       "TopkBackward0"},
                      &touched_dims,
                      /*is_linear=*/true,
                      /*mixes=*/false) {}

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (out.is_batch() && node.name() == "IndexSelectBackward0") {
      const auto& select = node.as<nodes::IndexSelectBackward0>();
      const Shape input = node.input_shape(edge);
      if (out.dim == wrap(compat::to_int(select.dim), input.size())) {
        return read_layout(out, node.unpack(select.index_), input[out.dim]);
      }
    }
    return AlongDimsRule::input_layout(node, edge, out);
  }

  // Returns false for the choice of the largest, which is linear for small changes only.
  bool is_linear(const NodeView& node) const override { return node.name() != "TopkBackward0"; }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const std::string name = node.name();
    if (name == "FlipBackward0") return stack.flip(shifted(touched_dims(node), node));
    Tensor whole = at::zeros(with_lead(stack.size(0), node.input_shape(edge)), stack.options());
    if (name == "IndexSelectBackward0") {
      const auto& select = node.as<nodes::IndexSelectBackward0>();
      const int64_t dim = dim_of(node, compat::to_int(select.dim));
      return whole.index_add_(dim, node.unpack(select.index_), stack);
    }
    const auto picked = gathered(node);
    if (!picked) return {};
    const Tensor index = picked->first.unsqueeze(0).expand_as(stack);
    return whole.scatter_add_(dim_of(node, picked->second), index, stack);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const std::string name = node.name();
    if (name == "FlipBackward0") return tangents[0].flip(shifted(touched_dims(node), node));
    if (name == "IndexSelectBackward0") {
      const auto& select = node.as<nodes::IndexSelectBackward0>();
      return tangents[0].index_select(dim_of(node, compat::to_int(select.dim)),
                                      node.unpack(select.index_));
    }
    const auto picked = gathered(node);
    if (!picked) return {};
    const Tensor index = picked->first.unsqueeze(0);
    return tangents[0].gather(dim_of(node, picked->second),
                              index.expand(with_lead(tangents[0].size(0), node.output_shape())));
  }

  // None of them has a second derivative.
  bool bend(const NodeView&,
            const Tensor&,
            const std::vector<Tensor>&,
            const std::vector<bool>&,
            std::vector<Tensor>&) const override {
    return true;
  }

  bool handles_complex() const override { return true; }

 private:
  static Shape shifted(Shape dims, const NodeView& node) {
    for (int64_t& dim : dims) dim = dim_of(node, dim);
    return dims;
  }
};

}  // namespace

const Rule& index() {
  static const IndexRule rule;
  return rule;
}

}  // namespace flightdeck::rules
