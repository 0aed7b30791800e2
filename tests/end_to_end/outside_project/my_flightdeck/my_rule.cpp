// SPDX-License-Identifier: MIT
#include "my_op.h"
#include <flightdeck/custom_function.h>

namespace {

using flightdeck::Layout;
using flightdeck::OpNode;
using flightdeck::RowFactors;
using torch::Tensor;
using Op = flightdeck::CustomFunction<ScaledProduct>;

class ScaledProductRule : public flightdeck::CustomRule {
 public:
  std::string name() const override { return "my_rule"; }
  std::vector<std::string> nodes() const override { return {Op::node_name()}; }

  // x has its samples where y has them; W has none.
  Layout input_layout(const OpNode&, size_t edge, const Layout& out) const override {
    return edge == 0 ? out : Layout::free();
  }

  // Row n of W is x_nᵀ b_n with b the gradient of the output, scaled.
  RowFactors rows(const OpNode& node,
                  size_t,
                  const Tensor& gradient,
                  const Layout&) const override {
    return RowFactors::outer(Op::saved(node)[0], scale(node) * gradient);
  }

  // For curvature: what goes back to x, and the product is linear in either input.
  Tensor columns(const OpNode& node, size_t edge, const Tensor& stack) const override {
    if (edge != 0) return {};
    return scale(node) * stack.matmul(Op::saved(node)[1].t());
  }
  bool is_linear_in(const OpNode&, size_t) const override { return true; }

 private:
  static double scale(const OpNode& node) {
    return Op::context(node).saved_data.at("scale").toDouble();
  }
};

const bool kHasMyRule = flightdeck::register_rule(std::make_unique<ScaledProductRule>());

}  // namespace
