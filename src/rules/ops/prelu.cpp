// SPDX-License-Identifier: MIT
// PReLU as one op (LibTorch 1.13): its slopes are aligned with dimension 1, not with the last.
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

class PreluRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"PreluBackward0"}; }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || out.dim == 1) return Layout::unknown();
    return edge == 0 ? out : Layout::free();
  }

  bool is_linear_in(const NodeView&, size_t) const override { return true; }  // in pieces
};

}  // namespace

const Rule& prelu() {
  static const PreluRule rule;
  return rule;
}

}  // namespace flightdeck::rules
