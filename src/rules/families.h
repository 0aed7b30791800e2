// SPDX-License-Identifier: MIT
// Families of ops that differ only in their nodes and in which dimensions they touch.
#pragma once

#include <functional>
#include <optional>

#include "rules/rule.h"

namespace flightdeck {

using NodeNames = std::vector<std::string_view>;

// Each output entry depends on the entries at the same (broadcast) position of the inputs.
class PointwiseRule : public Rule {
 public:
  explicit PointwiseRule(NodeNames nodes) : nodes_(std::move(nodes)) {}
  NodeNames nodes() const override { return nodes_; }
  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override;
  bool is_linear(const NodeView& node) const override;
  std::optional<double> summand(const NodeView& node, size_t edge) const override;
  Tensor summed_values(const NodeView& node) const override;
  bool is_homogeneous(const NodeView& node) const override;
  bool is_pointwise() const override { return true; }

 private:
  NodeNames nodes_;
};

// Explains ops whose input and output have the same rank; only some dimensions are mixed. Samples
// pass if they sit in another one.
class AlongDimsRule : public Rule {
 public:
  using Dims = std::function<Shape(const NodeView&)>;  // mixed dimensions; negative count from last
  // `mixes` means that an output entry depends on several input entries along those dimensions.
  AlongDimsRule(NodeNames nodes, Dims dims, bool is_linear = false, bool mixes = true)
      : nodes_(std::move(nodes)), dims_(std::move(dims)), is_linear_(is_linear), mixes_(mixes) {}
  NodeNames nodes() const override { return nodes_; }
  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override;
  bool is_linear(const NodeView&) const override { return is_linear_; }

 private:
  NodeNames nodes_;
  Dims dims_;
  bool is_linear_;
  bool mixes_;
};

// Explains ops that reduce some dimensions away (all of them if the list is empty).
class ReductionRule : public Rule {
 public:
  struct Reduced {
    Shape dims;
    bool keepdim = false;
  };
  using Describe = std::function<Reduced(const NodeView&)>;
  ReductionRule(NodeNames nodes, Describe describe)
      : nodes_(std::move(nodes)), describe_(std::move(describe)) {}
  NodeNames nodes() const override { return nodes_; }
  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override;
  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override;
  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override;
  bool is_linear(const NodeView& node) const override;
  std::optional<double> summand(const NodeView& node, size_t edge) const override;
  std::optional<Reduction> reduction(const NodeView& node) const override;
  bool is_homogeneous(const NodeView& node) const override { return is_linear(node); }
  bool handles_complex() const override { return true; }
  bool has_constant_jacobian(const NodeView& node) const override { return is_linear(node); }

 private:
  NodeNames nodes_;
  Describe describe_;
};

// Explains a loss per entry, reduced or not: pointwise, or from a scalar to its leading dimension.
class PointwiseLossRule final : public PointwiseRule {
 public:
  using PointwiseRule::PointwiseRule;
  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override;
  bool is_linear(const NodeView&) const override { return false; }
  std::optional<Reduction> reduction(const NodeView& node) const override;
  Tensor summed_values(const NodeView& node) const override;
  bool is_pointwise() const override { return false; }
  LossStart loss_start(const NodeView& node) const override;
  Tensor label_probability(const NodeView& node) const override;
};

// Reads what the field `reduction` of a loss's node says.
std::optional<Reduction> to_reduction(int64_t field);

// Returns dim counted from 0.
inline int64_t wrap(int64_t dim, size_t rank) {
  return dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
}

}  // namespace flightdeck
