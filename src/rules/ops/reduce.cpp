// SPDX-License-Identifier: MIT
// Reductions over some or all dimensions.
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;
using Reduced = ReductionRule::Reduced;

template <typename List>
Shape dims_of(const List& dims) {
  return compat::to_ints(dims);
}

template <typename NodeType>
Reduced optional_dims(const NodeView& node) {
  const auto& typed = node.as<NodeType>();
  Reduced reduced{{}, typed.keepdim};
  if (typed.dim.list.has_value()) reduced.dims = dims_of(*typed.dim.list);
  return reduced;
}

template <typename NodeType>
Reduced listed_dims(const NodeView& node) {
  const auto& typed = node.as<NodeType>();
  return {dims_of(typed.dim), typed.keepdim};
}

template <typename NodeType>
Reduced single_dim(const NodeView& node) {
  const auto& typed = node.as<NodeType>();
  return {{compat::to_int(typed.dim)}, typed.keepdim};
}

Reduced describe(const NodeView& node) {
  const std::string name = node.name();
  if (name == "SumBackward1") return optional_dims<nodes::SumBackward1>(node);
  if (name == "MeanBackward1") return optional_dims<nodes::MeanBackward1>(node);
  if (name == "VarBackward0") return optional_dims<nodes::VarBackward0>(node);
  if (name == "StdBackward0") return optional_dims<nodes::StdBackward0>(node);
  if (name == "LinalgVectorNormBackward0") {
    return optional_dims<nodes::LinalgVectorNormBackward0>(node);
  }
  if (name == "AmaxBackward0") return listed_dims<nodes::AmaxBackward0>(node);
  if (name == "AminBackward0") return listed_dims<nodes::AminBackward0>(node);
  if (name == "NormBackward1") return listed_dims<nodes::NormBackward1>(node);
  if (name == "MaxBackward0") return single_dim<nodes::MaxBackward0>(node);
  if (name == "MinBackward0") return single_dim<nodes::MinBackward0>(node);
  if (name == "ProdBackward1") return single_dim<nodes::ProdBackward1>(node);
  return {};  // over all dimensions
}

}  // namespace

const Rule& reduce() {
  static const ReductionRule rule({"AmaxBackward0",
                                   "AminBackward0",
                                   "LinalgVectorNormBackward0",
                                   "MaxBackward0",
                                   "MeanBackward0",
                                   "MeanBackward1",
                                   "MinBackward0",
                                   "NormBackward1",
                                   "ProdBackward1",
                                   "StdBackward0",
                                   "SumBackward0",
                                   "SumBackward1",
                                   "VarBackward0"},
                                  &describe);
  return rule;
}

}  // namespace flightdeck::rules
