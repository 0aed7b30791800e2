// SPDX-License-Identifier: MIT
// Convolutions of one to three spatial dimensions, strided, padded, dilated, grouped, transposed.
#include "rows/convolution.h"

#include <ATen/ATen.h>

#include "rows/sparse_convolution.h"
#include "rules/broadcast.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::ConvolutionBackward0;

constexpr size_t kInput = 0, kWeight = 1, kBias = 2;

// Turns several images per sample ([N*F, C, H, W]) into one image with a further spatial dimension
// F that the kernel does not extend over: [N, C, F, H, W].
Tensor frames_as_space(const Tensor& images, const Layout& layout) {
  Shape sizes{layout.N, layout.outer * layout.inner};
  const auto rest = images.sizes().slice(1);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return samples_first(images, layout).reshape(sizes).transpose(1, 2);
}

class ConvolutionRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"ConvolutionBackward0"}; }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kConvolution; }
  bool has_bias(const NodeView&) const override { return true; }
  bool has_constant_jacobian(const NodeView&) const override { return true; }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || out.dim != 0) return Layout::unknown();
    return edge == kInput ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (edge != kWeight) return channel_rows(gradient, out, "sum");
    if (out.is_scattered()) return {};
    const auto& conv = node.as<ConvolutionBackward0>();
    const Shape weight_shape = node.input_shape(edge);
    ConvolutionGeometry geometry = geometry_of(conv, weight_shape.size() - 2);
    Tensor input = node.unpack(conv.input_);
    Tensor output_gradient = gradient;
    Shape shape = weight_shape;
    if (out.outer * out.inner > 1) {
      if (weight_shape.size() > 4) return {};  // no convolution has four spatial dimensions
      input = frames_as_space(input, out);
      output_gradient = frames_as_space(gradient, out);
      shape.insert(shape.begin() + 2, 1);
      geometry.stride.insert(geometry.stride.begin(), 1);
      geometry.padding.insert(geometry.padding.begin(), 0);
      geometry.dilation.insert(geometry.dilation.begin(), 1);
    }
    if (conv.transposed) std::swap(input, output_gradient);
    Rows result(std::make_shared<ConvolutionForm>(input, output_gradient, shape, geometry));
    result.terms().front().placement.undo_reshape(weight_shape);
    return result;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (edge == kBias) return sum_to_channels(stack);
    const auto& conv = node.as<ConvolutionBackward0>();
    if (edge == kInput) {
      if (!conv.transposed) {
        const ConvolutionGeometry geometry = geometry_of(conv, node.input_shape(kInput).size() - 2);
        const Tensor sent =
            sparse_inputs(stack, node.unpack(conv.weight_), node.input_shape(kInput), geometry);
        if (sent.defined()) return sent;
      }
      // The input is asked for its sizes alone: memory that nobody touches costs nothing.
      Shape sizes = node.input_shape(kInput);
      sizes[0] *= stack.size(0);
      const Tensor folded = fold(stack).contiguous();
      const Tensor sizes_only = at::empty(sizes, stack.options());
      return unfold(backward(conv, folded, sizes_only, node.unpack(conv.weight_), kInput),
                    stack.size(0));
    }
    const Tensor input = node.unpack(conv.input_);
    const Tensor weight = at::empty(node.input_shape(kWeight), stack.options());
    std::vector<Tensor> columns;
    for (const Tensor& gradient : stack.unbind(0)) {
      columns.push_back(backward(conv, gradient.contiguous(), input, weight, kWeight));
    }
    return at::stack(columns);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const auto& conv = node.as<ConvolutionBackward0>();
    Tensor total;
    const auto add = [&total](const Tensor& part) {
      total = total.defined() ? total.add(part) : part;
    };
    if (tangents[kInput].defined()) {
      const Tensor folded = fold(tangents[kInput]).contiguous();
      add(unfold(forward(conv, folded, node.unpack(conv.weight_)), tangents[kInput].size(0)));
    }
    if (tangents[kWeight].defined()) {
      const Tensor input = node.unpack(conv.input_);
      std::vector<Tensor> parts;
      for (const Tensor& weight : tangents[kWeight].unbind(0)) {
        parts.push_back(forward(conv, input, weight.contiguous()));
      }
      add(at::stack(parts));
    }
    if (tangents[kBias].defined()) {
      add(align_channels(tangents[kBias], node.output_shape().size()));
    }
    return total.expand(with_lead(total.size(0), node.output_shape()));
  }

  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    const auto& conv = node.as<ConvolutionBackward0>();
    if (wanted[kInput] && tangents[kWeight].defined()) {
      const Tensor sizes_only = at::empty(node.input_shape(kInput), gradient.options());
      std::vector<Tensor> parts;
      for (const Tensor& weight : tangents[kWeight].unbind(0)) {
        parts.push_back(backward(conv, gradient, sizes_only, weight.contiguous(), kInput));
      }
      bent[kInput] = at::stack(parts);
    }
    if (wanted[kWeight] && tangents[kInput].defined()) {
      const Tensor sizes_only = at::empty(node.input_shape(kWeight), gradient.options());
      std::vector<Tensor> parts;
      for (const Tensor& input : tangents[kInput].unbind(0)) {
        parts.push_back(backward(conv, gradient, input.contiguous(), sizes_only, kWeight));
      }
      bent[kWeight] = at::stack(parts);
    }
    return true;
  }

  bool is_linear_in(const NodeView&, size_t) const override { return true; }

 private:
  static ConvolutionGeometry geometry_of(const ConvolutionBackward0& conv, size_t dims) {
    const auto per_dim = [dims](const auto& values) {
      Shape ints = compat::to_ints(values);
      if (ints.size() == 1) ints.assign(dims, ints[0]);
      return ints;
    };
    return {per_dim(conv.stride),
            per_dim(conv.padding),
            per_dim(conv.dilation),
            compat::to_int(conv.groups),
            conv.transposed};
  }

  static Tensor forward(const ConvolutionBackward0& conv,
                        const Tensor& input,
                        const Tensor& weight) {
    return at::convolution(input,
                           weight,
                           {},
                           compat::to_ints(conv.stride),
                           compat::to_ints(conv.padding),
                           compat::to_ints(conv.dilation),
                           conv.transposed,
                           compat::to_ints(conv.output_padding),
                           compat::to_int(conv.groups));
  }

  // Computes the gradient of either the input or the weight.
  static Tensor backward(const ConvolutionBackward0& conv,
                         const Tensor& gradient,
                         const Tensor& input,
                         const Tensor& weight,
                         size_t edge) {
    const auto results = at::convolution_backward(gradient,
                                                  input,
                                                  weight,
                                                  c10::nullopt,
                                                  compat::to_ints(conv.stride),
                                                  compat::to_ints(conv.padding),
                                                  compat::to_ints(conv.dilation),
                                                  conv.transposed,
                                                  compat::to_ints(conv.output_padding),
                                                  compat::to_int(conv.groups),
                                                  {edge == kInput, edge == kWeight, false});
    return edge == kInput ? std::get<0>(results) : std::get<1>(results);
  }
};

}  // namespace

const Rule& convolution() {
  static const ConvolutionRule rule;
  return rule;
}

}  // namespace flightdeck::rules
