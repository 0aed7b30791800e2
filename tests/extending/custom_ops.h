// SPDX-License-Identifier: MIT
// Ops of a user's own, as C++ autograd functions, with rules that a user would write for them.
#pragma once

#include "flightdeck/custom_function.h"
#include "tensors.h"

namespace flightdeck::tests {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// y = c x W with x [..., I] and W [I, J], and a c that is no tensor.
struct Product : torch::autograd::Function<Product> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& w, double c) {
    ctx->save_for_backward({x, w});
    ctx->saved_data["c"] = c;
    return c * x.matmul(w);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const double c = ctx->saved_data["c"].toDouble();
    const Tensor b = c * gradients[0];
    const Tensor x = saved[0].reshape({-1, saved[0].size(-1)});
    return {b.matmul(saved[1].t()), x.t().mm(b.reshape({-1, b.size(-1)})), Tensor()};
  }
};

// y = x Vᵀ with V [J, I].
struct ProductTransposed : torch::autograd::Function<ProductTransposed> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& v) {
    ctx->save_for_backward({x, v});
    return x.mm(v.t());
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    return {gradients[0].mm(saved[1]), gradients[0].t().mm(saved[0])};
  }
};

// y = x² s + b with s and b broadcast to x.
struct SquareScale : torch::autograd::Function<SquareScale> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& s, const Tensor& b) {
    ctx->save_for_backward({x, s});
    return x.square() * s + b;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const Tensor& x = saved[0];
    return {2 * gradients[0] * x * saved[1],
            at::sum_to(gradients[0] * x.square(), saved[1].sizes()),
            at::sum_to(gradients[0], saved[1].sizes())};
  }
};

// y = lines of a table [V, J] at indices [...].
struct Lookup : torch::autograd::Function<Lookup> {
  static Tensor forward(AutogradContext* ctx, const Tensor& indices, const Tensor& table) {
    ctx->save_for_backward({indices});
    ctx->saved_data["lines"] = table.size(0);
    return at::embedding(table, indices);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const Tensor indices = ctx->get_saved_variables()[0].reshape(-1);
    const int64_t J = gradients[0].size(-1);
    const Tensor table = at::zeros({ctx->saved_data["lines"].toInt(), J}, gradients[0].options());
    return {Tensor(), table.index_add(0, indices, gradients[0].reshape({-1, J}))};
  }
};

// y_n = x_n + x_{n+1 mod N}: a neighbour in the batch.
struct Neighbour : torch::autograd::Function<Neighbour> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x + x.roll(-1, 0); }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {gradients[0] + gradients[0].roll(1, 0)};
  }
};

class ProductRule : public CustomRule {
 public:
  std::string name() const override { return "user_product"; }
  std::vector<std::string> nodes() const override { return {CustomFunction<Product>::node_name()}; }
  Layout input_layout(const OpNode&, size_t edge, const Layout& out) const override {
    return edge == 0 ? out : Layout::free();
  }
  RowFactors rows(const OpNode& node,
                  size_t,
                  const Tensor& gradient,
                  const Layout&) const override {
    return RowFactors::outer(saved(node)[0], c(node) * gradient);
  }
  Tensor columns(const OpNode& node, size_t edge, const Tensor& stack) const override {
    if (edge == 0) return c(node) * stack.matmul(saved(node)[1].t());
    const Tensor x = saved(node)[0].flatten(0, -2);
    return c(node) * at::matmul(x.t(), stack.flatten(1, -2));
  }
  Tensor tangent(const OpNode& node, const std::vector<Tensor>& tangents) const override {
    Tensor total = at::zeros({}, saved(node)[0].options());
    if (tangents[0].defined()) total = total + tangents[0].matmul(saved(node)[1]);
    if (tangents[1].defined()) {
      const Tensor x = saved(node)[0];
      std::vector<Tensor> each;
      for (const Tensor& t : tangents[1].unbind(0)) each.push_back(x.matmul(t));
      total = total + at::stack(each);
    }
    return c(node) * total;
  }
  bool bend(const OpNode& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    const Tensor b = c(node) * gradient;
    if (wanted[0] && tangents[1].defined()) {
      std::vector<Tensor> each;
      for (const Tensor& t : tangents[1].unbind(0)) each.push_back(b.matmul(t.t()));
      bent[0] = at::stack(each);
    }
    if (wanted[1] && tangents[0].defined()) {
      bent[1] = tangents[0].flatten(1, -2).transpose(1, 2).matmul(b.flatten(0, -2));
    }
    return true;
  }
  bool is_linear_in(const OpNode&, size_t) const override { return true; }

 protected:
  static std::vector<Tensor> saved(const OpNode& node) {
    return CustomFunction<Product>::saved(node);
  }
  static double c(const OpNode& node) {
    return CustomFunction<Product>::context(node).saved_data.at("c").toDouble();
  }
};

class ProductTransposedRule : public CustomRule {
 public:
  std::string name() const override { return "user_product_transposed"; }
  std::vector<std::string> nodes() const override {
    return {CustomFunction<ProductTransposed>::node_name()};
  }
  Layout input_layout(const OpNode&, size_t edge, const Layout& out) const override {
    return edge == 0 ? out : Layout::free();
  }
  RowFactors rows(const OpNode& node,
                  size_t,
                  const Tensor& gradient,
                  const Layout&) const override {
    return RowFactors::outer_transposed(CustomFunction<ProductTransposed>::saved(node)[0],
                                        gradient);
  }
};

class SquareScaleRule : public CustomRule {
 public:
  std::string name() const override { return "user_square_scale"; }
  std::vector<std::string> nodes() const override {
    return {CustomFunction<SquareScale>::node_name()};
  }
  Layout input_layout(const OpNode& node, size_t edge, const Layout& out) const override {
    return broadcast_layout(out, node.output_shape(), node.input_shape(edge));
  }
  RowFactors rows(const OpNode& node,
                  size_t edge,
                  const Tensor& gradient,
                  const Layout&) const override {
    if (edge == 2) return RowFactors::sum(gradient);
    return RowFactors::scale(gradient * CustomFunction<SquareScale>::saved(node)[0].square());
  }
  bool is_pointwise() const override { return true; }
};

class LookupRule : public CustomRule {
 public:
  std::string name() const override { return "user_lookup"; }
  std::vector<std::string> nodes() const override { return {CustomFunction<Lookup>::node_name()}; }
  Layout input_layout(const OpNode&, size_t, const Layout&) const override {
    return Layout::free();
  }
  RowFactors rows(const OpNode& node,
                  size_t,
                  const Tensor& gradient,
                  const Layout&) const override {
    return RowFactors::gather(CustomFunction<Lookup>::saved(node)[0], gradient);
  }
  bool is_linear(const OpNode&) const override { return true; }
};

class NeighbourRule : public CustomRule {
 public:
  std::string name() const override { return "user_neighbour"; }
  std::vector<std::string> nodes() const override {
    return {CustomFunction<Neighbour>::node_name()};
  }
  Layout input_layout(const OpNode&, size_t, const Layout&) const override {
    return Layout::mixed();
  }
  bool is_linear(const OpNode&) const override { return true; }
};

}  // namespace flightdeck::tests
