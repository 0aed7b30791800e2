// SPDX-License-Identifier: MIT
// Convolutions of one to three spatial dimensions, strided, padded, dilated, grouped, transposed.
#include "rows/convolution.h"

#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::ConvolutionBackward0;

constexpr size_t kInput = 0, kWeight = 1;

// Several images per sample ([N*F, C, H, W]) are one image with a further spatial dimension F that
// the kernel does not extend over: [N, C, F, H, W].
Tensor frames_as_space(const Tensor& images, const Layout& layout) {
  Shape sizes{layout.N, layout.outer * layout.inner};
  const auto rest = images.sizes().slice(1);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return samples_first(images, layout).reshape(sizes).transpose(1, 2);
}

class ConvolutionRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"ConvolutionBackward0"}; }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || out.dim != 0) return Layout::unknown();
    return edge == kInput ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (edge != kWeight) return channel_rows(gradient, out, "sum");
    const auto& conv = node.as<ConvolutionBackward0>();
    const Shape weight_shape = node.input_shape(edge);
    const auto per_dim = [&weight_shape](const auto& values) {
      Shape ints = compat::to_ints(values);
      if (ints.size() == 1) ints.assign(weight_shape.size() - 2, ints[0]);
      return ints;
    };
    ConvolutionGeometry geometry{per_dim(conv.stride),
                                 per_dim(conv.padding),
                                 per_dim(conv.dilation),
                                 compat::to_int(conv.groups)};
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
};

}  // namespace

const Rule& convolution() {
  static const ConvolutionRule rule;
  return rule;
}

}  // namespace flightdeck::rules
