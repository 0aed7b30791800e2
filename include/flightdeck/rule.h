// SPDX-License-Identifier: MIT
// A fast rule for an op of your own. Without one the engine applies the op's node once per sample:
// exact, slow and reported. A rule says where the samples sit and gives the rows of a parameter in
// factored form; flightdeck/check_rule.h holds it against the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/layout.h"

namespace torch::autograd {
struct Node;
class SavedVariable;
}  // namespace torch::autograd

namespace flightdeck {

/// A read-only look at one autograd node. "Output" and "inputs" are those of the forward op: the
/// gradient of the output is what the node is given, input e is what its edge e leads to. Of a
/// `torch::autograd::Function` the inputs are the tensors among the arguments of `forward`, in
/// order; flightdeck/custom_function.h reads what it saved.
class OpNode {
 public:
  explicit OpNode(torch::autograd::Node* node) : node_(node) {}

  std::string name() const;
  torch::autograd::Node* node() const { return node_; }
  size_t num_inputs() const;
  /// False for an input that needs no gradient.
  bool has_input(size_t edge) const;
  std::vector<int64_t> input_shape(size_t edge) const;
  std::vector<int64_t> output_shape() const;
  /// What a node of your own class keeps in a SavedVariable, without a graph. It stays saved.
  /// Throws PyTorch's error if the graph was freed or the tensor was overwritten.
  Tensor unpack(const torch::autograd::SavedVariable& saved) const;

 private:
  torch::autograd::Node* node_;
};

/// The rows of a parameter at one use, one per sample, as factors. Tensors that "lie as the output"
/// have the samples where the output has them; the engine brings them to the front.
class [[nodiscard]] RowFactors {
 public:
  enum class Form { kNone, kOuter, kSum, kScale, kGather, kDense };

  /// None: asks for the default, the node once per sample.
  RowFactors() = default;

  /// g_n = sum_t a_ntᵀ b_nt, a parameter [I, J]: `a` [..., I] is what the op multiplied it by, `b`
  /// [..., J] the gradient of what came out. Both lie as the output in all but the last dimension;
  /// every position t of a sample adds a product.
  static RowFactors outer(Tensor a, Tensor b) { return {Form::kOuter, std::move(a), std::move(b)}; }
  /// The same for a parameter [J, I].
  static RowFactors outer_transposed(Tensor a, Tensor b) {
    RowFactors rows = outer(std::move(a), std::move(b));
    rows.is_transposed_ = true;
    return rows;
  }

  /// g_n = the contributions of sample n, summed to the shape of a parameter that was broadcast to
  /// the output; `contributions` has shape and samples of the output. Two names for one thing: the
  /// coverage says "sum" of a summand and "scale" of a factor.
  static RowFactors sum(Tensor contributions) { return {Form::kSum, std::move(contributions), {}}; }
  static RowFactors scale(Tensor contributions) {
    return {Form::kScale, std::move(contributions), {}};
  }

  /// g_n has b_nt added to its line indices_nt, a parameter [V, J]: `indices` int64 and `b` [...,
  /// J] lie as the output in all but b's last dimension.
  static RowFactors gather(Tensor indices, Tensor b) {
    return {Form::kGather, std::move(indices), std::move(b)};
  }

  /// The rows themselves, [N, *shape].
  static RowFactors dense(Tensor rows) { return {Form::kDense, std::move(rows), {}}; }

  Form form() const { return form_; }
  const Tensor& first() const { return first_; }
  const Tensor& second() const { return second_; }
  bool is_transposed() const { return is_transposed_; }

 private:
  RowFactors(Form form, Tensor first, Tensor second)
      : form_(form), first_(std::move(first)), second_(std::move(second)) {}

  Form form_ = Form::kNone;
  Tensor first_, second_;
  bool is_transposed_ = false;
};

/// Explains the autograd nodes of one op that has one output. Rules hold no state and are called
/// from any thread, without gradient mode. Everything but the first three is optional: what a rule
/// leaves out is exact all the same, computed by the node itself, once per sample or per column.
class CustomRule {
 public:
  virtual ~CustomRule() = default;

  /// For lists: "my_linear".
  virtual std::string name() const = 0;

  /// The names of the nodes it explains, as `output.grad_fn()->name()` has them.
  virtual std::vector<std::string> nodes() const = 0;

  /// Where the samples sit in the input at `edge`, given where they sit in the output: mostly `out`
  /// itself, or Layout::free() for a parameter; else out.at_dim(...), broadcast_layout(...),
  /// Layout::mixed() if an output entry depends on several samples, Layout::unknown() in cases that
  /// the rule does not cover.
  virtual Layout input_layout(const OpNode& node, size_t edge, const Layout& out) const = 0;

  /// Rows with respect to a free input, from the gradient of the output.
  virtual RowFactors rows(const OpNode& node,
                          size_t edge,
                          const Tensor& gradient,
                          const Layout& out) const;

  // ---- for curvature; undefined or false asks for the default ----

  /// Jᵀ on a stack [K, *output shape] for the input at `edge`: [K, *input shape].
  virtual Tensor columns(const OpNode& node, size_t edge, const Tensor& stack) const;

  /// J on tangents [V, *input shape], one per edge (undefined: zero): [V, *output shape].
  virtual Tensor tangent(const OpNode& node, const std::vector<Tensor>& tangents) const;

  /// The second derivative of <gradient, output> times the tangents: one [V, *input shape] in
  /// `bent` per edge in `wanted`, left undefined where it vanishes.
  virtual bool bend(const OpNode& node,
                    const Tensor& gradient,
                    const std::vector<Tensor>& tangents,
                    const std::vector<bool>& wanted,
                    std::vector<Tensor>& bent) const;

  /// True if the output is linear in all differentiable inputs together: no second derivative.
  virtual bool is_linear(const OpNode& node) const;

  /// True if the output is linear in the input at `edge` when the others are held.
  virtual bool is_linear_in(const OpNode& node, size_t edge) const;

  /// True if every output entry depends only on the input entries at its (broadcast) position.
  virtual bool is_pointwise() const { return false; }

  /// True if every output is the input at its place. The node, which may do work of the program's
  /// (start a collective), is then called by the program's own backward pass and by check_rule
  /// alone. Such an op may have several outputs.
  virtual bool hands_on() const { return false; }
};

/// Adds a rule to the catalogue of this program, for every graph that is looked at from now on.
/// Throws if there is a rule of that name, or one that explains one of its nodes, naming both. Safe
/// to call from any thread. Always true, so that a constant outside of functions can hold the call.
bool register_rule(std::unique_ptr<const CustomRule> rule);

}  // namespace flightdeck
