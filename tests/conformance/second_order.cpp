// SPDX-License-Identifier: MIT
#include "conformance/second_order.h"

#include <algorithm>

#include <torch/torch.h>

#include "oracle.h"
#include "passes/linearisation.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

using torch::autograd::grad;

// Rounding grows with depth and with the spread of second derivatives.
constexpr double kTolerance = 1e-8;
constexpr int64_t kMostOutputs = 60;

std::vector<Tensor> leaves_of(const RandomModel& model) {
  std::vector<Tensor> leaves;
  for (const NamedParameter& parameter : model.parameters) leaves.push_back(parameter.tensor);
  return leaves;
}

// Undefined gradients are zero.
Tensor flatten(const std::vector<Tensor>& parts, const std::vector<Tensor>& like) {
  std::vector<Tensor> lines;
  for (size_t i = 0; i < like.size(); ++i) {
    lines.push_back(
        (parts[i].defined() ? parts[i] : at::zeros_like(like[i])).detach().reshape({-1}));
  }
  return at::cat(lines);
}

std::vector<Tensor> unflatten(const Tensor& vector, const std::vector<Tensor>& like) {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const Tensor& tensor : like) {
    // A copy: PyTorch's view_as_complex refuses odd offsets.
    parts.push_back(vector.slice(0, begin, begin + tensor.numel()).clone().view(tensor.sizes()));
    begin += tensor.numel();
  }
  return parts;
}

// d/dx <f, c> for functions that may not depend on x.
std::vector<Tensor> gradients_along(const std::vector<Tensor>& functions,
                                    const std::vector<Tensor>& of,
                                    const std::vector<Tensor>& along,
                                    bool keeps_graph = false) {
  std::vector<Tensor> used, weights;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!functions[i].defined() || !functions[i].requires_grad()) continue;
    used.push_back(functions[i]);
    weights.push_back(along[i]);
  }
  if (used.empty()) return std::vector<Tensor>(of.size());
  return grad(used, of, weights, /*retain_graph=*/true, keeps_graph, /*allow_unused=*/true);
}

Tensor hessian_product(const RandomModel& model, const Tensor& v) {
  const std::vector<Tensor> leaves = leaves_of(model);
  const std::vector<Tensor> gradient =
      grad({model.losses.mean()}, leaves, {}, true, /*create_graph=*/true, true);
  return flatten(gradients_along(gradient, leaves, unflatten(v, leaves)), leaves);
}

// J v by differentiating u -> Jᵀ u, which is linear, with respect to u.
Tensor jacobian_product(const Tensor& outputs, const std::vector<Tensor>& leaves, const Tensor& v) {
  const Tensor u = at::zeros_like(outputs).requires_grad_(true);
  const std::vector<Tensor> pulled = grad({outputs}, leaves, {u}, true, true, true);
  const Tensor pushed = gradients_along(pulled, {u}, unflatten(v, leaves))[0];
  return pushed.defined() ? pushed : at::zeros_like(outputs);
}

Tensor ggn_product(const RandomModel& model, const Tensor& v) {
  const std::vector<Tensor> leaves = leaves_of(model);
  const Tensor tangent = jacobian_product(model.outputs, leaves, v).detach();
  const Tensor gradient = grad({model.losses.mean()}, {model.outputs}, {}, true, true)[0];
  const Tensor bent = gradients_along({gradient}, {model.outputs}, {tangent})[0];
  if (!bent.defined()) return at::zeros_like(v);
  return flatten(grad({model.outputs}, leaves, {bent}, true, false, true), leaves);
}

Tensor fisher_product(const RandomModel& model, const Tensor& v) {
  const std::vector<Tensor> leaves = leaves_of(model);
  const Tensor dots = jacobian_product(model.losses, leaves, v).detach();
  const double N = static_cast<double>(model.losses.size(0));
  return flatten(grad({model.losses}, leaves, {dots / N}, true, false, true), leaves);
}

class SecondOrderCheck {
 public:
  SecondOrderCheck(const RandomModel& model, Sketch& dice) : model_(model), dice_(dice) {
    for (const NamedParameter& parameter : model.parameters) D_ += parameter.tensor.numel();
    if (dice.chance(0.5) && knows_loss()) return;
    said_.outputs = model.outputs;
  }

  std::vector<std::string> run() {
    check_nodes();
    check_products();
    // The columns of a loss the engine does not know are as many as the outputs.
    if (model_.outputs.numel() / model_.losses.size(0) > kMostOutputs) return lines_;
    check_diagonals();
    check_gram();
    return lines_;
  }

 private:
  // Most losses are found without help; the others say that they need it.
  bool knows_loss() const {
    try {
      static_cast<void>(curvature_operator(model_.losses, model_.parameters, CurvatureKind::kGgn));
      return true;
    } catch (const c10::NotImplementedError& error) {
      return std::string(error.what()).find("BatchOptions::outputs") == std::string::npos;
    }
  }

  Batch batch() const { return {model_.losses, model_.parameters, said_}; }

  void expect(const Tensor& actual, const Tensor& expected, double scale, const std::string& what) {
    const double error = (actual - expected).abs().max().item<double>();
    const double allowed = kTolerance * std::max(scale, 1e-6);
    if (error <= allowed) return;
    lines_.push_back(what + " is off by " + std::to_string(error) + ", allowed " +
                     std::to_string(allowed));
  }

  void check_nodes() {
    const Capture capture = capture_graph(model_.losses, model_.parameters);
    Linearisation linearisation(capture, BatchNormPolicy::kRefuse);
    const compat::PassGuard guard;
    for (size_t k = 0; k < capture.nodes.size(); ++k) {
      const CapturedNode& captured = capture.nodes[k];
      if (captured.parameter >= 0 || captured.node->num_inputs() != 1) continue;
      const NodeView view(captured.node);
      std::vector<bool> wanted(captured.next.size());
      variable_list tangents(captured.next.size());
      bool any = false;
      for (size_t e = 0; e < wanted.size(); ++e) {
        wanted[e] = captured.next[e] >= 0;
        if (!wanted[e]) continue;
        any = true;
        tangents[e] = stack_of(view.input_shape(e), view.input_options(e));
      }
      if (!any) continue;
      const Tensor u = stack_of(view.output_shape(), view.output_options());
      const variable_list pulled = linearisation.columns(k, {u}, wanted);
      const Tensor pushed = linearisation.tangents(k, tangents)[0];
      const Tensor forward = pushed.defined() ? dots(pushed, u) : zeros();
      Tensor backward = zeros();
      for (size_t e = 0; e < wanted.size(); ++e) {
        if (wanted[e] && pulled[e].defined()) {
          backward = backward + dots(pulled[e], tangents[e]);
        }
      }
      expect(forward, backward, std::max(1.0, forward.abs().max().item<double>()), view.name());
    }
  }

  static Tensor stack_of(const Shape& shape, const at::TensorOptions& options) {
    Shape sizes{2};
    sizes.insert(sizes.end(), shape.begin(), shape.end());
    return is_complex(options) ? at::complex(random(sizes), random(sizes)) : random(sizes);
  }
  // Of the real numbers, column by column.
  static Tensor dots(const Tensor& a, const Tensor& b) {
    return (real_entries(a) * real_entries(b)).flatten(1).sum(1);
  }
  static Tensor zeros() { return at::zeros({2}, doubles()); }

  void check_products() {
    const Tensor v = random({2, D_});
    const Batch batch = this->batch();
    const auto compare = [&](CurvatureKind kind, const auto& oracle, const char* name) {
      const Tensor expected = at::stack({oracle(model_, v[0]), oracle(model_, v[1])});
      const auto op = curvature_operator(batch, kind);
      expect(op->multiply(v), expected, expected.abs().max().item<double>(), name);
    };
    compare(CurvatureKind::kHessian, &hessian_product, "Hessian product");
    compare(CurvatureKind::kGgn, &ggn_product, "GGN product");
    compare(CurvatureKind::kEmpiricalFisher, &fisher_product, "Fisher product");
  }

  // A few entries of the diagonals by products with unit vectors.
  void check_diagonals() {
    if (dice_.chance(0.3)) said_.memory.stack_bytes = 1;
    CurvatureOptions options;
    options.max_slow_entries = 400;
    const bool has_hessian = D_ <= options.max_slow_entries;
    CurvatureNeeds what = CurvatureNeed::kDiagGgn | CurvatureNeed::kTraceGgn;
    if (has_hessian) what = what | CurvatureNeed::kDiagHessian;
    const Curvature answers = curvature(batch(), what, options);
    const Tensor ggn = answers.concatenated(&ParameterCurvature::diag_ggn);
    trace_ = answers.total.trace_ggn;
    expect(ggn.sum(), trace_, std::max(1.0, trace_.abs().item<double>()), "GGN trace");
    for (int64_t draw = 0; draw < 3; ++draw) {
      const int64_t i = dice_.integer(0, D_ - 1);
      Tensor unit = at::zeros({D_}, doubles());
      unit[i] = 1;
      const std::string entry = "entry " + std::to_string(i) + " of the diagonal of the ";
      expect(ggn[i], ggn_product(model_, unit)[i], ggn.max().item<double>(), entry + "GGN");
      if (!has_hessian) continue;
      const Tensor hessian = answers.concatenated(&ParameterCurvature::diag_hessian);
      expect(hessian[i],
             hessian_product(model_, unit)[i],
             std::max(ggn.max().item<double>(), hessian.abs().max().item<double>()),
             entry + "Hessian");
    }
  }

  void check_gram() {
    said_.memory.stack_bytes = dice_.chance(0.3) ? 1 : MemoryLimits().stack_bytes;
    const Vivit vivit(batch());
    const double scale = std::max(1.0, trace_.abs().item<double>());
    expect(vivit.gram_eigenvalues().sum(), trace_, scale, "sum of the Gram eigenvalues");
  }

  const RandomModel& model_;
  Sketch& dice_;
  int64_t D_ = 0;
  BatchOptions said_;
  Tensor trace_;
  std::vector<std::string> lines_;
};

}  // namespace

namespace {

// cuDNN's recurrent kernels have no second derivative: neither engine nor oracle has an answer.
bool is_once_differentiable(const RandomModel& model) {
  const Capture capture = capture_graph(model.losses, model.parameters);
  return std::any_of(capture.nodes.begin(), capture.nodes.end(), [](const CapturedNode& captured) {
    return captured.node->name().find("CudnnRnn") != std::string::npos;
  });
}

}  // namespace

std::vector<std::string> second_order_differences(const RandomModel& model, Sketch& dice) {
  if (is_once_differentiable(model)) return {};
  return SecondOrderCheck(model, dice).run();
}

}  // namespace flightdeck::tests
