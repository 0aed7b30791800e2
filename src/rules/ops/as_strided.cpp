// SPDX-License-Identifier: MIT
// Another look at the same memory. Only the one that shows every entry where it was is explained:
// pooling to a single place ends with it.
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

// Returns true if sizes are the same, and so are the strides wherever there are two entries.
template <typename NodeType>
bool changes_nothing_as(const NodeView& node) {
  const auto& strided = node.as<NodeType>();
  const at::TensorGeometry& before = strided.self_geometry;
  const Shape size = compat::to_ints(strided.size), stride = compat::to_ints(strided.stride);
  if (!before.sizes().equals(size)) return false;
  if (compat::to_int_or(strided.storage_offset, before.storage_offset()) !=
      before.storage_offset()) {
    return false;
  }
  for (size_t k = 0; k < size.size(); ++k) {
    if (size[k] > 1 && before.stride(static_cast<int64_t>(k)) != stride[k]) return false;
  }
  return true;
}

bool changes_nothing(const NodeView& node) {
  return node.name() == "AsStridedBackward0" ? changes_nothing_as<nodes::AsStridedBackward0>(node)
                                             : changes_nothing_as<nodes::AsStridedBackward1>(node);
}

class AsStridedRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"AsStridedBackward0", "AsStridedBackward1"};
  }

  Layout input_layout(const NodeView& node, size_t, const Layout& out) const override {
    return changes_nothing(node) ? out : Layout::unknown();
  }

  Tensor columns(const NodeView& node, size_t, const Tensor& stack) const override {
    return changes_nothing(node) ? stack : Tensor();
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    return changes_nothing(node) ? tangents[0] : Tensor();
  }

  bool is_linear(const NodeView&) const override { return true; }
};

}  // namespace

const Rule& as_strided() {
  static const AsStridedRule rule;
  return rule;
}

}  // namespace flightdeck::rules
