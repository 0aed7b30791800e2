// SPDX-License-Identifier: MIT
#include "rules/rule.h"

namespace flightdeck {

Rows Rule::rows(const NodeView&, size_t, const Tensor&, const Layout&) const { return {}; }

bool Rule::carry(const NodeView&, size_t, size_t, Rows&) const { return false; }

Tensor Rule::columns(const NodeView&, size_t, const Tensor&) const { return {}; }

Tensor Rule::tangent(const NodeView&, const std::vector<Tensor>&) const { return {}; }

bool Rule::bend(const NodeView&,
                const Tensor&,
                const std::vector<Tensor>&,
                const std::vector<bool>&,
                std::vector<Tensor>&) const {
  return false;
}

bool Rule::is_linear(const NodeView&) const { return false; }

std::optional<double> Rule::summand(const NodeView&, size_t) const {
  return is_view() ? std::optional<double>(1) : std::nullopt;
}

std::optional<Reduction> Rule::reduction(const NodeView&) const { return std::nullopt; }

Tensor Rule::summed_values(const NodeView&) const { return {}; }

bool Rule::is_homogeneous(const NodeView&) const { return is_view(); }

bool Rule::is_linear_in(const NodeView& node, size_t) const { return is_linear(node); }

LayerKind Rule::layer_kind(const NodeView&) const { return LayerKind::kOther; }

bool Rule::has_bias(const NodeView&) const { return false; }

bool Rule::has_constant_jacobian(const NodeView&) const { return is_view(); }

bool Rule::keeps_channels(const NodeView&) const { return false; }

Shape Rule::padding(const NodeView&) const { return {}; }

std::optional<BoundedOutput> Rule::bounded_output(const NodeView&) const { return std::nullopt; }

bool Rule::is_product(const NodeView&) const { return false; }

bool Rule::is_logarithm(const NodeView&) const { return false; }

LossStart Rule::loss_start(const NodeView&) const { return LossStart::kNone; }

SoftmaxCurvature Rule::softmax_curvature(const NodeView& node, const Tensor&) const {
  TORCH_INTERNAL_ASSERT(false, node.name(), " has no softmax");
}

Tensor Rule::label_probability(const NodeView&) const { return {}; }

const char* to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::kAddition:
      return "addition";
    case LayerKind::kConvolution:
      return "convolution";
    case LayerKind::kEmbedding:
      return "embedding";
    case LayerKind::kLinear:
      return "linear";
    case LayerKind::kNorm:
      return "norm";
    case LayerKind::kScale:
      return "scale";
    case LayerKind::kOther:
      break;
  }
  return "other";
}

Tensor Rule::vjp(const NodeView&, size_t, const Tensor&) const { return {}; }

}  // namespace flightdeck
