// SPDX-License-Identifier: MIT
// Below the loss, each op adds to the Hessian of what enters it the second derivative of
// <output gradient, output>. For elementwise ops that is diagonal, for others a small matrix per
// sample; its symmetric factor, positive and negative part apart, is a stack of columns like any
// other. The rows these columns leave at a parameter complete the diagonal if the parameter enters
// linearly and feeds no input of an op it is itself used in. Otherwise one Hessian-vector product
// per entry is exact. Where the loss is not a known one, the losses themselves stand for the
// outputs: they are linear in these, and all curvature is that of ops.
#include "curvature/residuals.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "curvature/columns_pass.h"
#include "curvature/eigh.h"
#include "curvature/loss_hessians.h"
#include "flightdeck/products.h"
#include "passes/apply_captured.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

// The slow way takes so many vectors per product.
constexpr int64_t kVectorsAtOnce = 16;
// Second derivatives of an op as matrices may take this many times what a stack may.
constexpr double kMatrixShare = 2;

class Residuals {
 public:
  Residuals(CurvatureContext& context,
            const ResidualOptions& options,
            std::vector<Diagonal>& diagonals)
      : context_(context),
        linearisation_(context.linearisation()),
        capture_(context.capture()),
        options_(options),
        diagonals_(diagonals),
        pass_(linearisation_, context.parameters(), context.samples(), nullptr) {}

  void run() {
    is_fast_.assign(context_.parameters().size(), true);
    starts_at_losses_ = !context_.knows_loss();
    find_separable_terms();
    find_slow_parameters();
    check_slow_entries();
    propagate();
    check_slow_entries();  // a second time, since an op may have been too large for columns
    add_separable_terms();
    if (options_.is_rehearsal) return;
    for (size_t p = 0; p < is_fast_.size(); ++p) {
      if (!is_fast_[p] && capture_.parameters[p].leaf >= 0) take_products(p);
    }
  }

 private:
  // ---- which parameters the columns complete ----

  void find_slow_parameters() {
    for (size_t p = 0; p < is_fast_.size(); ++p) {
      if (capture_.parameters[p].leaf < 0) continue;
      if (starts_at_losses_ && (capture_.is_scalar || !capture_.couplings.empty())) {
        set_slow(p, "the loss is not one the engine knows, and samples meet in it");
        continue;
      }
      if (capture_.parameters[p].is_slow) {
        set_slow(p, "rows need one backward pass per sample");
        continue;
      }
      check_uses(p);
    }
  }

  void set_slow(size_t p, const std::string& reason) {
    is_fast_[p] = false;
    if (!options_.coverage) return;
    auto& covered = options_.coverage->parameters[p];
    covered.level = CoverageLevel::kExactSlow;
    covered.reason = "Hessian diagonal by one product per entry: " + reason;
  }

  void check_uses(size_t p) {
    // These are the nodes from which the parameter can be reached.
    std::vector<bool> reaches(capture_.nodes.size(), false);
    reaches[capture_.parameters[p].leaf] = true;
    for (size_t k = capture_.nodes.size(); k-- > 0;) {
      const CapturedNode& captured = capture_.nodes[k];
      for (int64_t next : captured.next) {
        if (next >= 0 && reaches[next]) reaches[k] = true;
      }
    }
    for (size_t k = 0; k < capture_.nodes.size() && is_fast_[p]; ++k) {
      const CapturedNode& captured = capture_.nodes[k];
      if (!reaches[k] || captured.parameter >= 0 || is_separable_[k]) continue;
      const NodeView view(captured.node);
      size_t moving = 0, uses = 0;
      for (size_t e = 0; e < captured.next.size(); ++e) {
        if (captured.next[e] < 0 || !reaches[captured.next[e]]) continue;
        ++moving;
        if (captured.edges[e] == EdgeKind::kBatch) continue;
        ++uses;
        const bool is_linear = captured.rule && captured.rule->is_linear_in(view, e);
        if (!is_linear) set_slow(p, view.name() + " is not linear in it");
      }
      if (is_fast_[p] && uses > 0 && moving > 1 && !linearisation_.is_linear(k)) {
        set_slow(p, "it feeds an input of " + view.name() + ", where it is used again");
      }
    }
  }

  // ---- terms that all samples share ----

  // Finds elementwise ops on a parameter's own entries with nothing but linear ops between them and
  // the losses, as in sums of squares: their second derivative is diagonal as it stands.
  void find_separable_terms() {
    is_separable_.assign(capture_.nodes.size(), false);
    std::vector<bool> is_linear_above(capture_.nodes.size(), true), is_below(capture_.nodes.size());
    for (const SharedTerm& term : capture_.shared_terms) {
      is_below[capture_.nodes[term.position].next[term.edge]] = true;
    }
    for (size_t k = 0; k < capture_.nodes.size(); ++k) {
      const CapturedNode& captured = capture_.nodes[k];
      const bool is_term = is_below[k] && captured.side == Side::kFree;
      is_separable_[k] = is_term && is_linear_above[k] && captured.parameter < 0 &&
                         !linearisation_.is_linear(k) && linearisation_.is_elementwise(k) &&
                         parameter_under_views(k) >= 0;
      const bool passes_on = is_term && is_linear_above[k] && linearisation_.is_linear(k);
      for (size_t e = 0; e < captured.next.size(); ++e) {
        if (captured.next[e] < 0 || capture_.is_shared_term(k, e)) continue;
        is_below[captured.next[e]] = is_below[captured.next[e]] || is_term;
        if (!passes_on) is_linear_above[captured.next[e]] = false;
      }
    }
  }

  // Returns the parameter whose view enters the elementwise node, or -1.
  int64_t parameter_under_views(size_t k) const {
    int64_t next = capture_.nodes[k].next[linearisation_.elementwise_edge(k)];
    while (next >= 0 && capture_.nodes[next].parameter < 0) {
      const CapturedNode& captured = capture_.nodes[next];
      if (!captured.rule || !captured.rule->is_view() || captured.next.size() != 1) return -1;
      next = captured.next[0];
    }
    return next < 0 ? -1 : capture_.nodes[next].parameter;
  }

  void add_separable_terms() {
    std::vector<bool> leads = is_separable_;
    for (size_t k = capture_.nodes.size(); k-- > 0;) {
      for (int64_t next : capture_.nodes[k].next) leads[k] = leads[k] || (next >= 0 && leads[next]);
    }
    if (!leads[0]) return;
    // Each sample has the same share of such a term.
    const auto& root = *capture_.nodes[0].node;
    const Tensor seed = at::full(with_lead(1, compat::shape_of(root, capture_.root_output)),
                                 context_.scale() / static_cast<double>(capture_.N),
                                 root.input_metadata(capture_.root_output).options());
    walk_columns(
        linearisation_,
        {{0, capture_.root_output, seed, {}}},
        [&](const CapturedNode& captured, size_t e) { return leads[captured.next[e]]; },
        [&](size_t k, const variable_list& stacks) {
          if (is_separable_[k]) add_separable_term(k, stacks[0].squeeze(0));
        });
  }

  void add_separable_term(size_t k, const Tensor& gradient) {
    const int64_t p = parameter_under_views(k);
    Tensor bent = linearisation_.elementwise_bend(k, {gradient});
    if (!is_fast_[p] || !bent.defined()) return;
    size_t node = capture_.nodes[k].next[linearisation_.elementwise_edge(k)];
    for (; capture_.nodes[node].parameter < 0; node = capture_.nodes[node].next[0]) {
      bent = apply_captured(capture_.nodes[node], {bent}, {true})[0];
    }
    const int64_t S = context_.count();
    Diagonal term;
    term.diagonal = bent;
    term.trace = bent.sum();
    if (options_.needs.per_sample) {
      term.per_sample =
          (bent / static_cast<double>(S)).unsqueeze(0).expand(with_lead(S, bent.sizes().vec()));
    }
    if (!options_.needs.diagonal) term.diagonal = Tensor();
    if (!options_.needs.trace) term.trace = Tensor();
    add(diagonals_[p], term);
  }

  // ---- columns of residuals ----

  void propagate() {
    if (std::find(is_fast_.begin(), is_fast_.end(), true) == is_fast_.end()) return;
    const std::vector<bool> is_below =
        starts_at_losses_ ? std::vector<bool>(capture_.nodes.size(), true) : context_.below_heads();
    walk_columns(
        linearisation_,
        starts_at_losses_ ? context_.seeds_at_losses() : context_.loss().gradients(),
        [](const CapturedNode& captured, size_t e) {
          return captured.edges[e] == EdgeKind::kBatch;
        },
        [&](size_t k, const variable_list& stacks) {
          if (is_below[k] && capture_.nodes[k].side == Side::kBatch) add_node(k, stacks);
        });
  }

  void add_node(size_t k, const variable_list& stacks) {
    if (linearisation_.is_linear(k)) return;
    variable_list gradients;
    for (const Tensor& stack : stacks) {
      gradients.push_back(stack.defined() ? stack.squeeze(0) : stack);
    }
    if (linearisation_.is_elementwise(k)) {
      const Tensor curved = linearisation_.elementwise_bend(k, gradients);
      if (curved.defined()) add_elementwise(k, curved);
      return;
    }
    add_matrix(k, gradients);
  }

  Layout layout_of(size_t k, size_t edge) const {
    const CapturedNode& captured = capture_.nodes[k];
    return captured.rule->input_layout(NodeView(captured.node), edge, captured.layout);
  }

  void add_elementwise(size_t k, const Tensor& curved) {
    const size_t edge = linearisation_.elementwise_edge(k);
    const CapturedNode& captured = capture_.nodes[k];
    if (captured.edges[edge] != EdgeKind::kBatch) return;
    const Layout layout = layout_of(k, edge);
    if (layout.is_scattered()) {
      give_up_below(k, scattered_reason(k));
      return;
    }
    for (const double sign : {1.0, -1.0}) {
      const Tensor part = curved.mul(sign).clamp_min(0);
      if (!part.any().item<bool>()) continue;
      const auto root = diagonal_hessian(part, {}, layout);
      if (options_.budget) options_.budget->spend(root->columns());
      run_columns(root->columns(), sign, [&](int64_t begin, int64_t end) {
        return std::vector<Seed>{{static_cast<size_t>(captured.next[edge]),
                                  captured.node->next_edge(edge).input_nr,
                                  root->factor(begin, end),
                                  layout}};
      });
    }
  }

  // Describes an input that carries samples, and its place among the real numbers of all of them.
  struct Input {
    size_t edge;
    Layout layout;
    Shape shape;  // of its real numbers
    bool is_complex;
    int64_t first, size;

    // Gives its part [count, N, size] of stacks its own shape.
    Tensor shaped(const Tensor& stack) const {
      return from_real_entries(from_per_sample(stack, shape, layout), is_complex);
    }
  };

  // A complex entry counts as two: its real and its imaginary part.
  std::vector<Input> inputs_with_samples(size_t k) const {
    const CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    std::vector<Input> inputs;
    int64_t first = 0;
    for (size_t e = 0; e < captured.next.size(); ++e) {
      if (captured.next[e] < 0 || captured.edges[e] != EdgeKind::kBatch) continue;
      Shape shape = view.input_shape(e);
      const bool has_two = is_complex(view.input_options(e));
      if (has_two) shape.push_back(2);
      inputs.push_back({e, layout_of(k, e), shape, has_two, first, product(shape) / capture_.N});
      first += inputs.back().size;
    }
    return inputs;
  }

  // Treats ops that mix entries or inputs: their second derivative is one matrix per sample over
  // all inputs that carry samples.
  void add_matrix(size_t k, const variable_list& gradients) {
    const CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    const std::vector<Input> inputs = inputs_with_samples(k);
    const bool is_bilinear_at_most =
        inputs.size() == 1 && captured.rule && captured.rule->is_linear_in(view, inputs[0].edge);
    if (inputs.empty() || is_bilinear_at_most) return;
    const bool is_scattered = std::any_of(inputs.begin(), inputs.end(), [](const Input& input) {
      return input.layout.is_scattered();
    });
    if (is_scattered) {
      give_up_below(k, scattered_reason(k));
      return;
    }
    const int64_t m = inputs.back().first + inputs.back().size;
    const auto options = real_options(view.output_options());
    const double bytes =
        double(capture_.N) * double(m) * double(m) * double(options.dtype().itemsize());
    if (bytes > kMatrixShare * double(context_.memory().stack_bytes)) {
      give_up_below(k,
                    view.name() + " has a second derivative of " + std::to_string(m) + " x " +
                        std::to_string(m) + " entries per sample");
      return;
    }
    if (options_.budget) options_.budget->spend(m);
    const Tensor matrix = second_derivative(k, gradients, inputs, m, options);
    if (matrix.defined()) add_factors(k, inputs, matrix);
  }

  // Returns [N, m, m]; undefined if it is zero, and in a rehearsal.
  Tensor second_derivative(size_t k,
                           const variable_list& gradients,
                           const std::vector<Input>& inputs,
                           int64_t m,
                           const at::TensorOptions& options) {
    const size_t edges = capture_.nodes[k].next.size();
    std::vector<bool> wanted(edges, false);
    for (const Input& input : inputs) wanted[input.edge] = true;
    Tensor matrix;
    for (const Input& input : inputs) {
      for (int64_t i = 0; i < input.size; i += kVectorsAtOnce) {
        const int64_t count = std::min(kVectorsAtOnce, input.size - i);
        Tensor units = at::zeros({count, capture_.N, input.size}, options);
        for (int64_t v = 0; v < count; ++v) units.select(0, v).select(1, i + v).fill_(1);
        variable_list tangents(edges);
        tangents[input.edge] = input.shaped(units);
        const variable_list bent = linearisation_.bends(k, gradients, tangents, wanted);
        if (options_.is_rehearsal) break;  // what it remarks is known now
        for (const Input& other : inputs) {
          if (other.edge >= bent.size() || !bent[other.edge].defined()) continue;
          if (!matrix.defined()) matrix = at::zeros({capture_.N, m, m}, options);
          // [count, N, size]
          const Tensor lines = per_sample(real_entries(bent[other.edge]), other.layout);
          matrix.narrow(1, input.first + i, count)
              .narrow(2, other.first, other.size)
              .add_(lines.transpose(0, 1));
        }
      }
    }
    return matrix;
  }

  // Sends the matrix [N, m, m] back as columns, those of its positive and those of its negative
  // eigenvalues apart.
  void add_factors(size_t k, const std::vector<Input>& inputs, const Tensor& matrix) {
    const CapturedNode& captured = capture_.nodes[k];
    const auto [values, vectors] = eigh((matrix + matrix.transpose(1, 2)) / 2);
    for (const double sign : {1.0, -1.0}) {
      const Tensor roots = values.mul(sign).clamp_min(0).sqrt();
      const Tensor factor = (vectors * roots.unsqueeze(1)).permute({2, 0, 1});  // [m, N, m]
      run_columns(matrix.size(1), sign, [&](int64_t begin, int64_t end) {
        std::vector<Seed> seeds;
        for (const Input& input : inputs) {
          const Tensor lines =
              factor.slice(0, begin, end).slice(2, input.first, input.first + input.size);
          seeds.push_back({static_cast<size_t>(captured.next[input.edge]),
                           captured.node->next_edge(input.edge).input_nr,
                           input.shaped(lines),
                           input.layout});
        }
        return seeds;
      });
    }
  }

  std::string scattered_reason(size_t k) const {
    return capture_.nodes[k].node->name() + " has its samples in any order";
  }

  // Sends parameters below a node the slow way after all.
  void give_up_below(size_t k, const std::string& reason) {
    std::vector<bool> is_below(capture_.nodes.size(), false);
    is_below[k] = true;
    for (size_t n = k; n < capture_.nodes.size(); ++n) {
      if (!is_below[n]) continue;
      const CapturedNode& captured = capture_.nodes[n];
      if (captured.parameter >= 0) set_slow(captured.parameter, reason);
      for (int64_t next : captured.next) {
        if (next >= 0) is_below[next] = true;
      }
    }
  }

  void run_columns(int64_t count,
                   double sign,
                   const std::function<std::vector<Seed>(int64_t begin, int64_t end)>& seeds) {
    if (options_.is_rehearsal) count = std::min<int64_t>(count, 2);
    const int64_t piece = pass_.columns_at_once(context_.memory().stack_bytes);
    for (int64_t begin = 0; begin < count; begin += piece) {
      pass_.run(
          seeds(begin, std::min(begin + piece, count)),
          [&](size_t p, const std::vector<Rows>& rows) {
            add_columns(diagonals_[p], rows, options_.needs, sign, context_.memory().scratch_bytes);
          },
          is_fast_);
    }
  }

  // ---- the slow way ----

  void check_slow_entries() {
    int64_t entries = 0, count = 0;
    std::string first;
    for (size_t p = 0; p < is_fast_.size(); ++p) {
      if (is_fast_[p] || capture_.parameters[p].leaf < 0) continue;
      if (count++ == 0) first = context_.parameters()[p].name;
      entries += context_.parameters()[p].tensor.numel();
    }
    if (options_.needs.per_sample) entries *= context_.count();
    // An entry's product is no cheaper than a column.
    if (options_.budget) options_.budget->spend(entries - spent_entries_);
    spent_entries_ = entries;
    TORCH_CHECK_VALUE(entries <= options_.max_slow_entries,
                      "curvature: the exact Hessian diagonal of '",
                      first,
                      count > 1 ? "' and others takes " : "' takes ",
                      entries,
                      " products, one per entry",
                      options_.needs.per_sample ? " and sample" : "",
                      ", more than max_slow_entries = ",
                      options_.max_slow_entries,
                      "; raise it, or estimate the diagonal with diagonal() on the Hessian's "
                      "operator");
  }

  void take_products(size_t p) {
    const int64_t samples = options_.needs.per_sample ? context_.count() : 1;
    TORCH_CHECK_VALUE(!capture_.is_scalar || capture_.N == 1 ||
                          (!options_.needs.per_sample && context_.samples().empty()),
                      "curvature: the Hessian diagonal of '",
                      context_.parameters()[p].name,
                      "' for single samples comes from products, and a scalar loss over ",
                      capture_.N,
                      " samples cannot be taken apart; hand over the individual losses [N]");
    Diagonal exact;
    if (options_.needs.per_sample && capture_.N > 1) {
      std::vector<Tensor> rows;
      for (int64_t s = 0; s < samples; ++s) {
        const int64_t n = context_.samples().empty() ? s : context_.samples()[s];
        rows.push_back(diagonal_by_products(p, {n}) / static_cast<double>(samples));
      }
      exact.per_sample = at::stack(rows);
      exact.diagonal = exact.per_sample.sum(0);
    } else {
      exact.diagonal = diagonal_by_products(p, context_.samples());
      exact.per_sample = exact.diagonal.unsqueeze(0);  // used for one sample only
    }
    exact.trace = exact.diagonal.sum();
    diagonals_[p] = exact;
  }

  Tensor diagonal_by_products(size_t p, const std::vector<int64_t>& samples) {
    ProductOptions options;
    options.groups = {{p}};
    const auto hessian =
        curvature_operator(context_.batch().of(samples), CurvatureKind::kHessian, options);
    int64_t first = 0;
    for (size_t q = 0; q < p; ++q) first += context_.parameters()[q].tensor.numel();
    const int64_t d = context_.parameters()[p].tensor.numel();
    std::vector<Tensor> diagonal;
    for (int64_t begin = 0; begin < d; begin += kVectorsAtOnce) {
      const int64_t count = std::min(kVectorsAtOnce, d - begin);
      Tensor units = at::zeros({count, hessian->dim()}, hessian->options());
      units.slice(1, first + begin, first + begin + count).fill_diagonal_(1);
      diagonal.push_back(hessian->multiply(units)
                             .slice(1, first + begin, first + begin + count)
                             .diagonal()
                             .clone());
    }
    return at::cat(diagonal).view(context_.parameters()[p].tensor.sizes());
  }

  CurvatureContext& context_;
  Linearisation& linearisation_;
  const Capture& capture_;
  const ResidualOptions& options_;
  std::vector<Diagonal>& diagonals_;
  ColumnsPass pass_;
  std::vector<bool> is_fast_;
  std::vector<bool> is_separable_;  // nodes
  bool starts_at_losses_ = false;
  int64_t spent_entries_ = 0;  // of the budget
};

}  // namespace

void add_hessian_residuals(CurvatureContext& context,
                           const ResidualOptions& options,
                           std::vector<Diagonal>& diagonals) {
  Residuals(context, options, diagonals).run();
}

}  // namespace flightdeck
