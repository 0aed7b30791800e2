// SPDX-License-Identifier: MIT
#include "curvature/loss_head.h"

#include <algorithm>
#include <set>
#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "base/words.h"
#include "curvature/loss_hessians.h"
#include "graph/apply_node.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

using Target = std::pair<size_t, size_t>;  // node, output

LossStart start_of(const CapturedNode& captured) {
  return captured.rule ? captured.rule->loss_start(NodeView(captured.node)) : LossStart::kNone;
}

bool is_head(const CapturedNode& captured) {
  const LossStart start = start_of(captured);
  return start == LossStart::kPointwise || start == LossStart::kLogProbabilities;
}

// Returns the input that leads to parameters. A loss between two outputs has two.
size_t input_edge(const CapturedNode& captured) {
  size_t edge = 0;
  while (edge < captured.next.size() && captured.next[edge] < 0) ++edge;
  return edge;
}

bool has_one_input(const CapturedNode& captured) {
  return std::count_if(captured.next.begin(), captured.next.end(), [](int64_t next) {
           return next >= 0;
         }) == 1;
}

Target target_of(const CapturedNode& captured, size_t edge) {
  return {captured.next[edge], captured.node->next_edge(edge).input_nr};
}

// Returns true for d * d, a square without a power.
bool is_product_with_itself(const CapturedNode& captured) {
  return captured.rule && captured.rule->is_product(NodeView(captured.node)) &&
         captured.next[0] >= 0 && captured.next[1] >= 0 &&
         target_of(captured, 0) == target_of(captured, 1);
}

// Returns the layout of what entered the node. With one sample, that sample is everything.
Layout outputs_layout(const Capture& capture, size_t position, size_t edge) {
  const CapturedNode& captured = capture.nodes[position];
  const NodeView view(captured.node);
  const Shape shape = view.input_shape(edge);
  if (capture.N == 1) return Layout::batch(1, 0, shape.empty() ? 1 : shape[0], 1);
  return captured.rule->input_layout(view, edge, captured.layout);
}

class Finder {
 public:
  Finder(Linearisation& linearisation, const Tensor& losses, double scale)
      : linearisation_(linearisation),
        capture_(linearisation.capture()),
        losses_(losses),
        scale_(scale) {}

  Loss find() {
    std::vector<std::string> blocked = scan();  // finds the heads
    if (!heads_.empty()) blocked = scan();      // stops where they start
    TORCH_CHECK_NOT_IMPLEMENTED(
        !heads_.empty() && blocked.empty(),
        "curvature: the losses come from ",
        blocked.empty() ? capture_.nodes[0].node->name() : blocked.front(),
        ", which is not the end of a loss the engine knows (softmax cross-entropy, NLL, MSE, BCE "
        "with logits, Huber); pass the model's outputs in BatchOptions::outputs, and what lies "
        "between them and the losses is taken as the loss");
    take_gradients();
    remark_shared_terms();
    return std::move(loss_);
  }

  Loss from_outputs(const Tensor& outputs) {
    TORCH_CHECK_VALUE(outputs.grad_fn(),
                      "curvature: options.outputs has no graph (shape ",
                      outputs.sizes(),
                      "); pass the tensor the losses were computed from, as the model returned it");
    const auto* node = outputs.grad_fn().get();
    const auto found = std::find_if(capture_.nodes.begin(),
                                    capture_.nodes.end(),
                                    [node](const CapturedNode& c) { return c.node == node; });
    TORCH_CHECK_VALUE(found != capture_.nodes.end(),
                      "curvature: the losses do not depend on options.outputs (",
                      node->name(),
                      ", shape ",
                      outputs.sizes(),
                      "); pass the tensor they were computed from");
    const size_t position = found - capture_.nodes.begin();
    Layout layout = capture_.N == 1 ? Layout::batch(1, 0, outputs.size(0), 1) : found->layout;
    check_samples_found(layout, position, "options.outputs", outputs.sizes().vec());
    check_all_paths({position, static_cast<size_t>(outputs.output_nr())});
    differentiate_twice(outputs, position, layout);
    remark_shared_terms();
    return std::move(loss_);
  }

 private:
  // Remarks on terms that all samples share, which are no function of outputs.
  void remark_shared_terms() {
    const std::string names = joined(capture_.shared_term_names());
    if (names.empty()) return;
    loss_.remarks.push_back("the GGN has nothing of the terms that all samples share (" + names +
                            "): they are no function of outputs; the Hessian has their curvature");
  }

  // Goes down from the losses through linear nodes; collects heads, and the names of other nodes
  // that are reached without passing one. Nodes of the model come last: a loss that the engine does
  // not know is often linear in the outputs too, and then it is not the model that is to blame.
  std::vector<std::string> scan() {
    std::vector<std::string> blocked, blocked_by_model;
    std::vector<size_t> todo{0};
    std::set<size_t> seen{0};
    while (!todo.empty()) {
      const size_t k = todo.back();
      todo.pop_back();
      const CapturedNode& captured = capture_.nodes[k];
      const NodeView view(captured.node);
      const bool is_known = (is_head(captured) && has_one_input(captured)) ||
                            is_product_with_itself(captured) || is_log_of_softmax(k);
      if (is_known && !view.has_complex()) {
        heads_.insert(k);
        const CapturedNode& bottom = capture_.nodes[bottom_of(k)];
        targets_.insert(target_of(bottom, input_edge(bottom)));
        continue;
      }
      if (captured.parameter >= 0 || !linearisation_.is_linear(k)) {
        (has_uses(captured) ? blocked_by_model : blocked).push_back(view.name());
        continue;
      }
      for (size_t e = 0; e < captured.next.size(); ++e) {
        if (captured.next[e] < 0 || capture_.is_shared_term(k, e)) continue;
        const size_t next = captured.next[e];
        if (targets_.count(target_of(captured, e))) continue;
        if (seen.insert(next).second) todo.push_back(next);
      }
    }
    blocked.insert(blocked.end(), blocked_by_model.begin(), blocked_by_model.end());
    return blocked;
  }

  static bool has_uses(const CapturedNode& captured) {
    return captured.parameter >= 0 ||
           std::find(captured.edges.begin(), captured.edges.end(), EdgeKind::kUse) !=
               captured.edges.end();
  }

  // Returns true for a log-softmax in two ops.
  bool is_log_of_softmax(size_t k) const {
    const CapturedNode& captured = capture_.nodes[k];
    return captured.rule && captured.rule->is_logarithm(NodeView(captured.node)) &&
           captured.next[0] >= 0 &&
           start_of(capture_.nodes[captured.next[0]]) == LossStart::kProbabilities;
  }

  // Returns the last node of the head that begins at k, where the outputs enter.
  size_t bottom_of(size_t k) const { return is_log_of_softmax(k) ? capture_.nodes[k].next[0] : k; }

  void check_samples_found(const Layout& layout,
                           size_t position,
                           const std::string& where,
                           const Shape& shape) const {
    if (layout.is_batch() && !layout.is_scattered()) return;
    // The op that the samples are lost at is above the slow part.
    std::string op = "an op";
    for (size_t k = 0; k <= position && op == "an op"; ++k) {
      const CapturedNode& captured = capture_.nodes[k];
      const auto& edges = captured.edges;
      const bool loses = std::find(edges.begin(), edges.end(), EdgeKind::kSlow) != edges.end();
      const bool scatters =
          !captured.layout.is_scattered() &&
          std::any_of(captured.next.begin(), captured.next.end(), [this](int64_t next) {
            return next >= 0 && capture_.nodes[next].layout.is_scattered();
          });
      if (captured.side == Side::kBatch && (loses || scatters)) op = captured.node->name();
    }
    TORCH_CHECK_VALUE(false,
                      "curvature: the ",
                      capture_.N,
                      " samples cannot be found in ",
                      where,
                      " (shape ",
                      to_string(shape),
                      ") because ",
                      op,
                      " reorders or mixes them on the way to the losses; keep the order of the "
                      "samples from the outputs to the losses, and reorder inputs and labels, or "
                      "the result, instead");
  }

  // Refuses parameters that reach the losses past the outputs: they would be left out without a
  // word.
  void check_all_paths(const Target& outputs) const {
    std::vector<size_t> todo{0};
    std::set<size_t> seen{0};
    while (!todo.empty()) {
      const size_t k = todo.back();
      const CapturedNode& captured = capture_.nodes[k];
      todo.pop_back();
      TORCH_CHECK_VALUE(captured.parameter < 0,
                        "curvature: parameter ",
                        captured.parameter,
                        " (counting from 0) reaches the losses by a way past options.outputs; pass "
                        "outputs that all ways go through, or leave the parameter out");
      for (size_t e = 0; e < captured.next.size(); ++e) {
        if (captured.next[e] < 0 || capture_.is_shared_term(k, e)) continue;
        if (target_of(captured, e) == outputs) continue;
        if (seen.insert(captured.next[e]).second) todo.push_back(captured.next[e]);
      }
    }
  }

  // Runs one backward pass over the loss alone, with the gradient of the individual losses.
  void take_gradients() {
    const auto& root = *capture_.nodes[0].node;
    const Shape shape = compat::shape_of(root, capture_.root_output);
    const auto options = root.input_metadata(capture_.root_output).options();
    const Tensor seed = at::full(with_lead(1, shape), scale_, options);
    std::map<Target, Tensor> gradients;
    walk_columns(
        linearisation_,
        {{0, capture_.root_output, seed, {}}},
        [this](const CapturedNode& captured, size_t e) { return !ends_at(captured, e); },
        [&](size_t k, const variable_list& stacks) {
          if (heads_.count(k)) add_head(k, variable_list{stacks[0].squeeze(0)});
          const CapturedNode& captured = capture_.nodes[k];
          std::vector<bool> wanted(captured.next.size());
          for (size_t e = 0; e < wanted.size(); ++e) wanted[e] = ends_at(captured, e);
          if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return;
          const variable_list results = linearisation_.columns(k, stacks, wanted);
          for (size_t e = 0; e < wanted.size(); ++e) {
            if (!wanted[e] || !results[e].defined()) continue;
            const Target target = target_of(captured, e);
            Tensor& total = gradients[target];
            total = total.defined() ? total + results[e] : results[e];
          }
        });
    for (LossHead& head : loss_.heads) {
      head.gradient = gradients.at({head.position, head.output}).squeeze(0);
    }
  }

  bool ends_at(const CapturedNode& captured, size_t e) const {
    return captured.next[e] >= 0 && targets_.count(target_of(captured, e)) > 0;
  }

  void add_head(size_t k, const variable_list& gradients) {
    const size_t bottom = bottom_of(k);
    const CapturedNode& captured = capture_.nodes[bottom];
    const NodeView view(captured.node);
    const size_t edge = input_edge(captured);
    const Layout layout = outputs_layout(capture_, bottom, edge);
    check_samples_found(layout, bottom, "what enters " + view.name(), view.input_shape(edge));
    const HessianParts parts = hessian_of(k, edge, gradients, layout);
    const Target target = target_of(captured, edge);
    loss_.heads.push_back({target.first, target.second, layout, {}, parts.convex, parts.concave});
  }

  HessianParts hessian_of(size_t k,
                          size_t edge,
                          const variable_list& gradients,
                          const Layout& layout) {
    const CapturedNode& bottom = capture_.nodes[bottom_of(k)];
    if (start_of(bottom) != LossStart::kPointwise && !is_product_with_itself(bottom)) {
      const SoftmaxCurvature found =
          bottom.rule->softmax_curvature(NodeView(bottom.node), gradients[0]);
      return softmax(found, layout, NodeView(capture_.nodes[k].node));
    }
    return pointwise(k, edge, gradients, layout);
  }

  // Returns weight (diag(p) - p pᵀ), the Hessian of a logsumexp.
  HessianParts softmax(const SoftmaxCurvature& found, const Layout& layout, const NodeView& view) {
    const auto& [p, weight, dim] = found;
    HessianParts parts{softmax_hessian(p, weight.clamp_min(0), dim, layout), nullptr};
    if (is_concave(weight, view.name())) {
      parts.concave = softmax_hessian(p, weight.neg().clamp_min(0), dim, layout);
    }
    return parts;
  }

  HessianParts pointwise(size_t k,
                         size_t edge,
                         const variable_list& gradients,
                         const Layout& layout) {
    const NodeView view(capture_.nodes[k].node);
    const Shape shape = view.input_shape(edge);
    variable_list tangents(view.num_inputs());
    const auto& next = view.node()->next_edge(edge);
    const auto options = next.function->input_metadata(next.input_nr).options();
    std::vector<bool> wanted(view.num_inputs(), false);
    for (size_t e = edge; e < wanted.size(); ++e) {  // the factors of a square are two
      if (capture_.nodes[k].next[e] < 0) continue;
      tangents[e] = at::ones(with_lead(1, shape), options);
      wanted[e] = true;
    }
    Tensor h = at::zeros(shape, options);
    for (const Tensor& bent : bend_tangents(view.node(), gradients, tangents, wanted)) {
      if (bent.defined()) h = h + bent.squeeze(0);
    }
    const Rule* rule = capture_.nodes[k].rule;
    HessianParts parts{diagonal_hessian(h.clamp_min(0), rule->label_probability(view), layout),
                       nullptr};
    if (is_concave(h, view.name())) {
      parts.concave = diagonal_hessian(h.neg().clamp_min(0), {}, layout);
    }
    return parts;
  }

  bool is_concave(const Tensor& h, const std::string& name) {
    const int64_t negative = (h < 0).sum().item<int64_t>();
    if (negative == 0) return false;
    loss_.remarks.push_back("the loss (" + name + ") is not convex in its inputs for " +
                            std::to_string(negative) + " of " + std::to_string(h.numel()) +
                            " entries; the GGN uses the positive part of its Hessian");
    return true;
  }

  void differentiate_twice(const Tensor& outputs, size_t position, const Layout& layout) {
    const at::AutoGradMode with_graph(true);
    const OwnPass own;
    const Tensor gradient = torch::autograd::grad({losses_.sum().mul(scale_)},
                                                  {outputs},
                                                  {},
                                                  /*retain_graph=*/true,
                                                  /*create_graph=*/true,
                                                  /*allow_unused=*/true)[0];
    TORCH_CHECK_VALUE(gradient.defined(),
                      "curvature: the losses do not depend on options.outputs of shape ",
                      outputs.sizes(),
                      "; pass the tensor they were computed from");
    const Shape shape = real_entries(outputs.detach()).sizes().vec();
    const auto options = real_options(outputs.options());
    const int64_t m = product(shape) / layout.N;
    std::vector<Tensor> lines;
    for (int64_t i = 0; i < m && gradient.requires_grad(); ++i) {
      Tensor unit = at::zeros({1, layout.N, m}, options);
      unit.select(2, i).fill_(1);
      const Tensor along =
          from_real_entries(from_per_sample(unit, shape, layout), outputs.is_complex());
      const Tensor column = torch::autograd::grad({gradient},
                                                  {outputs},
                                                  {along.squeeze(0)},
                                                  /*retain_graph=*/true,
                                                  /*create_graph=*/false,
                                                  /*allow_unused=*/true)[0];
      if (!column.defined()) break;
      lines.push_back(per_sample(real_entries(column.detach()).unsqueeze(0), layout).squeeze(0));
    }
    const at::NoGradGuard without_graph;
    const Tensor H = lines.empty() ? at::zeros({layout.N, m, m}, options) : at::stack(lines, 2);
    loss_.remarks.push_back(
        "the loss Hessian was taken by differentiating twice between outputs "
        "and losses: " +
        std::to_string(m) + " columns per sample");
    HessianParts parts = dense_hessian(H, shape, layout, loss_.remarks);
    if (outputs.is_complex()) parts = of_complex_outputs(parts);
    loss_.heads.push_back({position,
                           static_cast<size_t>(outputs.output_nr()),
                           layout,
                           gradient.detach(),
                           parts.convex,
                           parts.concave});
  }

  Linearisation& linearisation_;
  const Capture& capture_;
  Tensor losses_;
  double scale_;
  std::set<size_t> heads_;
  std::set<Target> targets_;
  Loss loss_;
};

}  // namespace

Loss Loss::concave() const {
  Loss rest;
  for (LossHead head : heads) {
    if (!head.concave) continue;
    head.hessian = std::move(head.concave);
    head.concave = nullptr;
    rest.heads.push_back(std::move(head));
  }
  return rest;
}

int64_t Loss::columns() const {
  int64_t total = 0;
  for (const LossHead& head : heads) total += head.hessian->columns();
  return total;
}

std::vector<Seed> Loss::factor(int64_t begin, int64_t end) const {
  std::vector<Seed> seeds;
  int64_t first = 0;
  for (const LossHead& head : heads) {
    const int64_t count = head.hessian->columns();
    const int64_t from = std::clamp<int64_t>(begin - first, 0, count);
    const int64_t to = std::clamp<int64_t>(end - first, 0, count);
    if (from < to) {
      // The other heads' columns are zero here.
      const Tensor own = head.hessian->factor(from, to);
      Tensor stack = own;
      if (to - from != end - begin) {
        stack = at::zeros(with_lead(end - begin, head.gradient.sizes().vec()), own.options());
        stack.slice(0, first + from - begin, first + to - begin).copy_(own);
      }
      seeds.push_back({head.position, head.output, stack, head.layout});
    }
    first += count;
  }
  return seeds;
}

std::vector<Seed> Loss::sample(int64_t M, at::Generator& generator) const {
  std::vector<Seed> seeds;
  for (const LossHead& head : heads) {
    seeds.push_back({head.position, head.output, head.hessian->sample(M, generator), head.layout});
  }
  return seeds;
}

std::vector<Seed> Loss::gradients() const {
  std::vector<Seed> seeds;
  std::set<Target> seen;  // a loss may read its outputs in two places
  for (const LossHead& head : heads) {
    if (!seen.insert({head.position, head.output}).second) continue;
    seeds.push_back({head.position, head.output, head.gradient.unsqueeze(0), head.layout});
  }
  return seeds;
}

Loss find_loss(Linearisation& linearisation,
               const Tensor& losses,
               const Tensor& outputs,
               double scale) {
  Finder finder(linearisation, losses, scale);
  return outputs.defined() ? finder.from_outputs(outputs) : finder.find();
}

}  // namespace flightdeck
