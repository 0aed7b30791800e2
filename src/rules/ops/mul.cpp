// SPDX-License-Identifier: MIT
// Products and quotients: a scale, a gate, any broadcast factor or divisor.
#include <limits>

#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::DivBackward0;
using compat::nodes::DivBackward1;
using compat::nodes::MulBackward0;
using compat::nodes::MulBackward1;

class MulRule final : public PointwiseRule {
 public:
  MulRule() : PointwiseRule({"DivBackward0", "DivBackward1", "MulBackward0", "MulBackward1"}) {}

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const std::string name = node.name();
    Tensor contribution;
    if (name == "MulBackward0") {
      const auto& mul = node.as<MulBackward0>();
      contribution = gradient * node.unpack(edge == 0 ? mul.other_ : mul.self_).conj();
    } else if (name == "DivBackward0") {
      const auto& div = node.as<DivBackward0>();
      const Tensor divisor = node.unpack(div.other_).conj();
      contribution = gradient / divisor;
      if (edge == 1) contribution = -contribution * node.unpack(div.self_).conj() / divisor;
    } else {
      return {};
    }
    // A factor may have been broadcast against the output on both sides.
    const Tensor full = node.as_input(edge, contribution).expand_as(gradient);
    return broadcast_rows(full, out, node.input_shape(edge), "scale");
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const Tensor other = factor(node, edge);
    if (!other.defined()) return {};
    return sum_stack_to(node.as_input(edge, stack * other.conj()), node.input_shape(edge));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Shape output = node.output_shape();
    Tensor total;
    for (size_t e = 0; e < tangents.size(); ++e) {
      if (!tangents[e].defined()) continue;
      const Tensor other = factor(node, e);
      if (!other.defined()) return {};
      const Tensor part = align_stack(tangents[e], output.size()) * other;
      total = total.defined() ? total.add(part) : part;
    }
    return total.expand(with_lead(total.size(0), output));
  }

  // Returns true for a product or quotient with a constant; a product is linear in each of its
  // factors.
  bool is_linear(const NodeView& node) const override {
    if (node.num_inputs() < 2) return true;
    return !node.has_input(1) || (is_factor(node) && !node.has_input(0));
  }
  bool is_linear_in(const NodeView& node, size_t edge) const override {
    return is_factor(node) || edge == 0;
  }
  bool handles_complex() const override { return true; }
  LayerKind layer_kind(const NodeView& node) const override {
    return is_factor(node) ? LayerKind::kScale : LayerKind::kOther;
  }
  bool is_product(const NodeView& node) const override { return node.name() == "MulBackward0"; }

  bool is_homogeneous(const NodeView& node) const override { return is_linear(node); }

  // Returns the one constant that the input is multiplied by. One per entry could be per sample.
  std::optional<double> summand(const NodeView& node, size_t edge) const override {
    if (!is_linear(node)) return std::nullopt;
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    if (const std::optional<at::Scalar> given = number(node)) {
      return given->isComplex() ? unknown
             : is_factor(node)  ? given->toDouble()
                                : 1 / given->toDouble();
    }
    const Tensor other = factor(node, edge);
    if (!other.defined()) return unknown;
    if (other.numel() != 1) return std::nullopt;
    return other.is_cpu() && !other.is_complex() ? other.item<double>() : unknown;
  }

 private:
  static bool is_factor(const NodeView& node) { return node.name().rfind("Mul", 0) == 0; }

  // Returns the number that is a factor or divisor, where it is no tensor.
  static std::optional<at::Scalar> number(const NodeView& node) {
    if (node.name() == "MulBackward1") return node.as<MulBackward1>().other;
    if (node.name() == "DivBackward1") return node.as<DivBackward1>().other;
    return std::nullopt;
  }

  // Returns what the input at `edge` is multiplied by; undefined for other cases.
  static Tensor factor(const NodeView& node, size_t edge) {
    if (node.name() == "MulBackward0") {
      const auto& mul = node.as<MulBackward0>();
      return node.unpack(edge == 0 ? mul.other_ : mul.self_);
    }
    if (node.name() != "DivBackward0") return {};
    const auto& div = node.as<DivBackward0>();
    const Tensor divisor = node.unpack(div.other_);
    if (edge == 0) return divisor.reciprocal();
    return node.unpack(div.self_).neg() / divisor.square();
  }
};

}  // namespace

const Rule& mul() {
  static const MulRule rule;
  return rule;
}

}  // namespace flightdeck::rules
