// SPDX-License-Identifier: MIT
// How one op is understood by the engine. Everything built on rules is written once against this
// interface, so the cost of growth is ops + quantities, not ops times quantities.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flightdeck/batch.h"
#include "graph/node_view.h"
#include "rows/rows.h"

namespace flightdeck {

// Names the kind of layer that a parameter belongs to which enters an op.
enum class LayerKind { kOther, kAddition, kConvolution, kEmbedding, kLinear, kNorm, kScale };
const char* to_string(LayerKind kind);

// Holds the output of a nonlinearity that has bounds.
struct BoundedOutput {
  const char* op;  // "relu"
  Tensor values;
  double low, high;
  bool reaches_bounds;  // and has no slope there, as relu does and tanh does not
};

// Says how a loss may begin with an op, the model's outputs being its one input.
enum class LossStart {
  kNone,
  kPointwise,         // a loss per entry
  kLogProbabilities,  // log-softmax or logsumexp: see softmax_curvature
  kProbabilities,     // softmax, where a logarithm follows
};

// Holds the Hessian weight (diag(p) - p pᵀ) along dimension `dim`.
struct SoftmaxCurvature {
  Tensor p;
  Tensor weight;
  int64_t dim;
};

// Explains the autograd nodes of one op. Rules hold no state. Whatever a rule leaves out has an
// exact generic default: the node itself, applied once per sample or once per column.
class Rule {
 public:
  virtual ~Rule() = default;

  // Returns the names of the nodes it explains, e.g. "AddmmBackward0".
  virtual std::vector<std::string_view> nodes() const = 0;

  // Returns where the samples sit in the input at `edge`, given where they sit in the output:
  // batch, free (the input has no samples: a parameter side), reduced, mixed, coupled or unknown.
  virtual Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const = 0;

  // Returns rows with respect to a free input: one per sample, from the gradient of output 0. An
  // empty result asks for the generic default.
  virtual Rows rows(const NodeView& node,
                    size_t edge,
                    const Tensor& gradient,
                    const Layout& out) const;

  // Returns true for pure rearrangements of entries, whose `carry` keeps rows factored.
  virtual bool is_view() const { return false; }

  // Turns rows with respect to output `output` into rows with respect to the input at `edge`, in
  // factored form, on the parameter side. False asks for the generic default.
  virtual bool carry(const NodeView& node, size_t edge, size_t output, Rows& rows) const;

  // Applies the node to a stack [K, *output shape] of gradients of its one output, for the input at
  // `edge`: [K, *input shape]. Undefined asks for the generic default: the node, K times.
  virtual Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const;

  // Computes the derivative of the one output along tangents [V, *input shape] of the inputs
  // (undefined: zero): [V, *output shape]. Undefined asks for the generic default.
  virtual Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const;

  // Computes the second derivative of <gradient, output> times the tangents, one stack per edge in
  // `wanted`, undefined where it vanishes. False asks for the generic default.
  virtual bool bend(const NodeView& node,
                    const Tensor& gradient,
                    const std::vector<Tensor>& tangents,
                    const std::vector<bool>& wanted,
                    std::vector<Tensor>& bent) const;

  // Returns true if the output is linear in all differentiable inputs together: no second
  // derivative.
  virtual bool is_linear(const NodeView& node) const;

  // Returns true if the output is linear in the input at `edge` when the others are held.
  virtual bool is_linear_in(const NodeView& node, size_t edge) const;

  // Returns a number if the input at `edge`, rearranged, broadcast or added up and times that
  // number, is a summand of the output beside what does not depend on it; NaN if the number is not
  // known on the host.
  virtual std::optional<double> summand(const NodeView& node, size_t edge) const;

  // Says which it is if the one output is the mean or the sum of something per entry.
  virtual std::optional<Reduction> reduction(const NodeView& node) const;

  // Returns the values that the one output is the sum of, samples in the leading dimension, or, of
  // an op that reduces nothing, the output. Undefined if the node has not kept what it takes.
  virtual Tensor summed_values(const NodeView& node) const;

  // Returns true if the output is zero where all differentiable inputs are zero, and linear in
  // them: the Jacobian times the inputs is then the output.
  virtual bool is_homogeneous(const NodeView& node) const;

  // Returns true if every output entry depends only on the input entries at its (broadcast)
  // position.
  virtual bool is_pointwise() const { return false; }

  // Returns true if every output is the input at its place and the node is never to be called: it
  // does work of the program's.
  virtual bool hands_on() const { return false; }

  // Returns true if everything above is right for complex entries, too: columns take the conjugate
  // of what tangents are multiplied by. Rearrangements are.
  virtual bool handles_complex() const { return is_view(); }

  // Returns true if the rule's arithmetic may be used on this node; where its samples sit, a rule
  // tells in any case.
  bool fits(const NodeView& node) const { return handles_complex() || !node.has_complex(); }

  // ---- what the op is, for those who treat some ops in a way of their own ----

  virtual LayerKind layer_kind(const NodeView& node) const;

  // Returns true if a bias is one of the inputs: it enters in another term than the weight.
  virtual bool has_bias(const NodeView& node) const;

  // Returns true if the Jacobian of every sample is the same, whatever its inputs.
  virtual bool has_constant_jacobian(const NodeView& node) const;

  // Returns true if each channel of a [N, C, ...] output depends on that channel of the input
  // alone.
  virtual bool keeps_channels(const NodeView& node) const;

  // Returns true if every output entry is a copy of an input entry of the same channel, and the
  // inputs decide which.
  virtual bool picks_entries() const { return false; }

  // Returns the entries added at both ends of the last dimensions, as at::constant_pad_nd has them;
  // empty for all other ops.
  virtual Shape padding(const NodeView& node) const;

  // Returns what a nonlinearity with bounds has put out.
  virtual std::optional<BoundedOutput> bounded_output(const NodeView& node) const;

  // Returns true for x y, both of them inputs that may be differentiated by.
  virtual bool is_product(const NodeView& node) const;

  // Returns true for the natural logarithm.
  virtual bool is_logarithm(const NodeView& node) const;

  virtual LossStart loss_start(const NodeView& node) const;

  // Returns the curvature of an op that starts a loss with (log-)probabilities, under the gradient
  // of the losses with respect to the logarithms (of a logsumexp: to its output).
  virtual SoftmaxCurvature softmax_curvature(const NodeView& node, const Tensor& gradient) const;

  // Returns the probability of a pointwise loss that is the likelihood of a Bernoulli variable.
  // Undefined for all others.
  virtual Tensor label_probability(const NodeView& node) const;

  // Computes the gradient of the input at `edge` where it differs from what the node computes
  // (batch statistics held constant). Undefined means: apply the node.
  virtual Tensor vjp(const NodeView& node, size_t edge, const Tensor& gradient) const;
};

// Returns the rule for a node of this name, or null.
const Rule* find_rule(const std::string& node);

// Names one rule: of the catalogue, or one that the program has added.
struct CatalogueEntry {
  std::string_view name;
  const Rule* rule;
};
std::vector<CatalogueEntry> rule_catalogue();

}  // namespace flightdeck
