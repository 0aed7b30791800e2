// SPDX-License-Identifier: MIT
// The fused weight norm w = v g / |v|, with a norm for each index of one dimension. It lies between
// its parameters and the op that uses w.
#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::WeightNormInterfaceBackward0;

class WeightNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"WeightNormInterfaceBackward0"}; }

  // Leaves a direction that samples have computed to the node.
  Layout input_layout(const NodeView&, size_t, const Layout&) const override {
    return Layout::unknown();
  }

  // Computes dg = <dw, v> / |v| and dv = g / |v| (dw - v <dw, v> / |v|^2), for the rows dw of all
  // samples. The norms are the second output; rows that come there are left to the node.
  bool carry(const NodeView& node, size_t edge, size_t output, Rows& rows) const override {
    if (output != 0) return false;
    const auto& saved = node.as<WeightNormInterfaceBackward0>();
    const Tensor dw = rows.dense(0, rows.N());
    const auto read = [&](const compat::ag::SavedVariable& tensor) {
      return node.unpack(tensor).to(dw.scalar_type());
    };
    const Tensor v = read(saved.v_), norms = read(saved.result1_);
    const Tensor along = (dw * v).sum(summed_dims(saved.dim, v.dim()), /*keepdim=*/true) / norms;
    const Tensor carried = edge == 1 ? along.reshape(with_lead(rows.N(), node.input_shape(edge)))
                                     : (dw - along * (v / norms)) * (read(saved.g_) / norms);
    rows = Rows(std::make_shared<DenseForm>(carried, "dense"));
    return true;
  }

 private:
  // Returns all dimensions of a stack of weights but the first and that of the norms.
  static Shape summed_dims(int64_t kept, int64_t rank) {
    Shape dims;
    for (int64_t k = 0; k < rank; ++k) {
      if (k != wrap(kept, static_cast<size_t>(rank))) dims.push_back(k + 1);
    }
    return dims;
  }
};

}  // namespace

const Rule& weight_norm() {
  static const WeightNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
