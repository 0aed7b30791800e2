// SPDX-License-Identifier: MIT
#include "passes/node_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "base/words.h"
#include "graph/apply_node.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

constexpr int64_t kCheckedStack = 2;  // one column would not show what is wrong with several
constexpr double kDoubleTolerance = 1e-9;
constexpr double kOtherTolerance = 1e-5;
constexpr double kSmallestScale = 1e-6;  // below it a difference is taken as absolute

Tensor or_zeros(const Tensor& tensor, const Tensor& like) {
  return tensor.defined() ? tensor : at::zeros_like(like);
}

class NodeCheck {
 public:
  NodeCheck(const Rule& rule,
            compat::ag::Node* node,
            const Layout& layout,
            uint64_t seed,
            RuleCheck& check)
      : rule_(rule),
        node_(node),
        view_(node),
        layout_(layout),
        generator_(at::detail::createCPUGenerator(seed)),
        check_(check),
        all_(view_.num_inputs()) {
    for (size_t e = 0; e < all_.size(); ++e) all_[e] = view_.has_input(e);
  }

  void run() {
    if (view_.num_outputs() != 1) return;
    if (layout_.is_batch()) check_samples_and_rows();
    if (!rule_.fits(view_)) return;
    check_columns();
    check_tangent();
    check_bend();
    check_slopes();
  }

 private:
  // Compares samples and rows: an input that carries samples gets the gradient of a sample from the
  // outputs of that sample alone. One that does not gets a row from each.
  void check_samples_and_rows() {
    Tensor gradient = random(view_.output_shape(), view_.output_options());
    // Entries that belong to no sample get the gradient zero.
    if (layout_.is_scattered()) gradient = gradient - only_sample(gradient, layout_, -1);
    for (size_t e = 0; e < all_.size(); ++e) {
      if (!all_[e]) continue;
      const Layout input = rule_.input_layout(view_, e, layout_);
      if (input.is_batch()) check_samples(e, input, gradient);
      if (input.is_free() && rule_.fits(view_)) check_rows(e, gradient);
    }
  }

  void check_samples(size_t edge, const Layout& input, const Tensor& gradient) {
    const Tensor whole = applied(gradient, edge);
    for (int64_t n = 0; n < layout_.N; ++n) {
      const Tensor part = applied(only_sample(gradient, layout_, n), edge);
      compare("samples of input " + std::to_string(edge), only_sample(whole, input, n), part);
    }
  }

  void check_rows(size_t edge, const Tensor& gradient) {
    const Rows rows = rule_.rows(view_, edge, gradient, layout_);
    if (rows.empty()) return;
    std::vector<Tensor> expected;
    for (int64_t n = 0; n < layout_.N; ++n) {
      expected.push_back(applied(only_sample(gradient, layout_, n), edge));
    }
    compare("rows of input " + std::to_string(edge), rows.dense(0, layout_.N), at::stack(expected));
  }

  void check_columns() {
    const Tensor stack = random_stack(view_.output_shape(), view_.output_options());
    for (size_t e = 0; e < all_.size(); ++e) {
      if (!all_[e]) continue;
      const Tensor columns = rule_.columns(view_, e, stack);
      if (!columns.defined()) continue;
      std::vector<Tensor> expected;
      for (const Tensor& gradient : stack.unbind(0)) expected.push_back(applied(gradient, e));
      compare("columns of input " + std::to_string(e), columns, at::stack(expected));
    }
  }

  // Compares tangents of one input at a time, then of all.
  void check_tangent() {
    const std::vector<Tensor> both = tangents();
    for (size_t e = 0; e <= all_.size(); ++e) {
      std::vector<Tensor> some(all_.size());
      for (size_t i = 0; i < some.size(); ++i) {
        if (i == e || e == all_.size()) some[i] = both[i];
      }
      if (stack_size(some) == 0) continue;
      const Tensor tangent = rule_.tangent(view_, some);
      if (!tangent.defined()) continue;
      compare("tangent", tangent, or_zeros(push_tangents(node_, some, {true})[0], tangent));
    }
  }

  void check_bend() {
    const Tensor gradient = random(view_.output_shape(), view_.output_options());
    const std::vector<Tensor> along = tangents();
    std::vector<Tensor> bent(all_.size());
    const bool is_linear = rule_.is_linear(view_);
    const bool is_told = rule_.bend(view_, gradient, along, all_, bent);
    if (is_told || is_linear) {
      const variable_list expected = bend_tangents(node_, {gradient}, along, all_);
      for (size_t e = 0; e < all_.size(); ++e) {
        if (!all_[e]) continue;
        compare((is_linear ? "linearity of input " : "bend of input ") + std::to_string(e),
                or_zeros(bent[e], along[e]),
                or_zeros(expected[e], along[e]));
      }
    }
    for (size_t e = 0; e < all_.size() && !is_linear; ++e) {
      if (!all_[e] || is_met_again(e) || !rule_.is_linear_in(view_, e)) continue;
      std::vector<Tensor> only(all_.size());
      only[e] = along[e];
      std::vector<bool> wanted(all_.size(), false);
      wanted[e] = true;
      const Tensor expected = bend_tangents(node_, {gradient}, only, wanted)[e];
      compare("linearity in input " + std::to_string(e),
              at::zeros_like(along[e]),
              or_zeros(expected, along[e]));
    }
  }

  // Returns true if another input is the same tensor, as in x * x: the node's own derivative cannot
  // hold one of them while the other moves.
  bool is_met_again(size_t edge) const {
    const auto& edges = node_->next_edges();
    for (size_t e = 0; e < edges.size(); ++e) {
      if (e != edge && edges[e] == edges[edge]) return true;
    }
    return false;
  }

  // Compares slopes: the gradient of ones is the slope of a pointwise op.
  void check_slopes() {
    if (!rule_.is_pointwise() || view_.has_complex()) return;
    const Tensor gradient = random(view_.output_shape(), view_.output_options());
    for (size_t e = 0; e < all_.size(); ++e) {
      if (!all_[e] || view_.input_shape(e) != view_.output_shape()) continue;
      const Tensor slope = applied(at::ones_like(gradient), e);
      compare("slope of input " + std::to_string(e), slope * gradient, applied(gradient, e));
    }
  }

  // Returns the node's own product for one input, zeros where it has none.
  Tensor applied(const Tensor& gradient, size_t edge) const {
    std::vector<bool> wanted(all_.size(), false);
    wanted[edge] = true;
    const Tensor result = apply_node(node_, {gradient.contiguous()}, wanted)[edge];
    if (result.defined()) return result;
    return at::zeros(view_.input_shape(edge), view_.input_options(edge));
  }

  std::vector<Tensor> tangents() {
    std::vector<Tensor> list(all_.size());
    for (size_t e = 0; e < list.size(); ++e) {
      if (all_[e]) list[e] = random_stack(view_.input_shape(e), view_.input_options(e));
    }
    return list;
  }

  Tensor random_stack(const Shape& shape, const at::TensorOptions& options) {
    return random(flightdeck::with_lead(kCheckedStack, shape), options);
  }

  Tensor random(const Shape& shape, const at::TensorOptions& options) {
    const auto draw = [&] { return at::randn(shape, generator_, at::kDouble); };
    return (is_complex(options) ? at::complex(draw(), draw()) : draw()).to(options);
  }

  void compare(const std::string& what, const Tensor& said, const Tensor& computed) {
    add_once(check_.checked, view_.name() + ": " + what);
    std::ostringstream detail;
    double error = std::numeric_limits<double>::quiet_NaN();
    if (!said.sizes().equals(computed.sizes())) {
      detail << "the rule gives shape " << said.sizes() << ", the node " << computed.sizes();
    } else {
      if (computed.numel() == 0) return;
      const Tensor difference = (said - computed).abs();
      const double scale = std::max(kSmallestScale, computed.abs().max().item<double>());
      error = difference.max().item<double>() / scale;
      const auto type = c10::toRealValueType(computed.scalar_type());
      if (error <= (type == at::kDouble ? kDoubleTolerance : kOtherTolerance)) return;
      const Tensor worst = difference.nan_to_num(std::numeric_limits<double>::infinity()).argmax();
      detail << "the largest difference is " << error << " of the largest entry: the rule gives "
             << said.reshape(-1).index_select(0, worst.reshape(1)).item() << ", the node "
             << computed.reshape(-1).index_select(0, worst.reshape(1)).item();
    }
    note({view_.name(), what, error, detail.str()});
  }

  // Notes one finding for one thing, the worst.
  void note(RuleDifference difference) {
    for (RuleDifference& known : check_.differences) {
      if (known.node != difference.node || known.what != difference.what) continue;
      if (!(difference.error <= known.error)) known = std::move(difference);
      return;
    }
    check_.differences.push_back(std::move(difference));
  }

  const Rule& rule_;
  compat::ag::Node* node_;
  NodeView view_;
  const Layout& layout_;
  at::Generator generator_;
  RuleCheck& check_;
  std::vector<bool> all_;
};

}  // namespace

void check_node(const Rule& rule,
                compat::ag::Node* node,
                const Layout& layout,
                uint64_t seed,
                RuleCheck& check) {
  NodeCheck(rule, node, layout, seed, check).run();
}

}  // namespace flightdeck
