// SPDX-License-Identifier: MIT
// Matrix products y = beta c + alpha x W with the samples in the rows of x (or in the columns of
// W): dl_n/dW = alpha sum_t x_nt^T b_nt, an outer form. Of complex x, W and alpha, what goes back
// meets the conjugates.
#include <ATen/ATen.h>

#include "rows/outer.h"
#include "rules/broadcast.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::AddmmBackward0;
using compat::nodes::MmBackward0;

constexpr int64_t kMostDenseBytes = int64_t{256} << 20;

// Returns a sparse factor with its zeros, which is what the forms multiply.
Tensor dense(const Tensor& factor) {
  if (factor.layout() == at::kStrided) return factor;
  const int64_t bytes = factor.numel() * static_cast<int64_t>(factor.element_size());
  TORCH_CHECK_NOT_IMPLEMENTED(bytes <= kMostDenseBytes,
                              "linear: a sparse factor of shape ",
                              factor.sizes(),
                              " would take ",
                              bytes >> 20,
                              " MB with its zeros, more than ",
                              kMostDenseBytes >> 20,
                              "; leave out what asks for individual gradients, or multiply fewer "
                              "lines at a time");
  return factor.to_dense();
}

size_t left_edge(const NodeView& node) { return node.name() == "AddmmBackward0" ? 1 : 0; }

class LinearRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"AddmmBackward0", "MmBackward0"}; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const size_t left = left_edge(node);
    if (edge < left) return broadcast_layout(out, node.output_shape(), node.input_shape(edge));
    const int64_t own_dim = edge == left ? 0 : 1;
    return out.dim == own_dim ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const size_t left = left_edge(node);
    const Tensor b = scaled(gradient, (edge < left ? beta(node) : alpha(node)).conj());
    if (edge < left) return broadcast_rows(b, out, node.input_shape(edge), "sum");
    if (edge == left + 1) {
      const auto a = positions_and_features(saved_left(node).conj(), out);
      return Rows(std::make_shared<OuterForm>(
          a, positions_and_features(b, out), /*is_padded=*/out.is_scattered()));
    }
    // Samples sit in the columns: y^T = W^T x^T turns this into the case above, for the transpose.
    const Layout flipped = out.at_dim(0);
    const auto a = positions_and_features(saved_right(node).mH(), flipped);
    Rows result(std::make_shared<OuterForm>(
        a, positions_and_features(b.t(), flipped), /*is_padded=*/out.is_scattered()));
    result.terms().front().placement.undo_permute({1, 0});
    return result;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const size_t left = left_edge(node);
    if (edge < left) return sum_stack_to(scaled(stack, beta(node).conj()), node.input_shape(edge));
    const at::Scalar factor = alpha(node).conj();
    if (edge == left) {
      const Tensor product = at::mm(fold(stack), saved_right(node).mH());
      return scaled(unfold(product, stack.size(0)), factor);
    }
    return scaled(multiply_each(saved_left(node).mH(), stack), factor);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const size_t left = left_edge(node);
    Tensor total;
    const auto add = [&total](const Tensor& part) {
      total = total.defined() ? total.add(part) : part;
    };
    if (tangents[left].defined()) {
      const Tensor& t = tangents[left];
      add(scaled(unfold(at::mm(fold(t), saved_right(node)), t.size(0)), alpha(node)));
    }
    if (tangents[left + 1].defined()) {
      add(scaled(multiply_each(saved_left(node), tangents[left + 1]), alpha(node)));
    }
    if (left == 1 && tangents[0].defined()) {
      add(scaled(align_stack(tangents[0], 2), beta(node)));
    }
    return total.expand(with_lead(total.size(0), node.output_shape()));
  }

  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    const size_t left = left_edge(node), right = left + 1;
    const at::Scalar factor = alpha(node).conj();
    if (wanted[left] && tangents[right].defined()) {
      bent[left] = scaled(multiply_each(gradient, tangents[right].mH()), factor);
    }
    if (wanted[right] && tangents[left].defined()) {
      bent[right] = scaled(multiply_each(tangents[left].mH(), gradient), factor);
    }
    return true;
  }

  bool is_linear_in(const NodeView&, size_t) const override { return true; }
  bool handles_complex() const override { return true; }
  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kLinear; }
  bool has_bias(const NodeView& node) const override { return left_edge(node) == 1; }
  bool has_constant_jacobian(const NodeView&) const override { return true; }

 private:
  static at::Scalar alpha(const NodeView& node) {
    return left_edge(node) == 1 ? node.as<AddmmBackward0>().alpha : at::Scalar(1);
  }
  static at::Scalar beta(const NodeView& node) {
    return left_edge(node) == 1 ? node.as<AddmmBackward0>().beta : at::Scalar(1);
  }
  static Tensor scaled(const Tensor& tensor, const at::Scalar& factor) {
    return factor.equal(1) ? tensor : tensor.mul(factor);
  }
  static Tensor saved_left(const NodeView& node) {
    return dense(left_edge(node) == 1 ? node.unpack(node.as<AddmmBackward0>().mat1_)
                                      : node.unpack(node.as<MmBackward0>().self_));
  }
  static Tensor saved_right(const NodeView& node) {
    return dense(left_edge(node) == 1 ? node.unpack(node.as<AddmmBackward0>().mat2_)
                                      : node.unpack(node.as<MmBackward0>().mat2_));
  }
};

}  // namespace

const Rule& linear() {
  static const LinearRule rule;
  return rule;
}

}  // namespace flightdeck::rules
