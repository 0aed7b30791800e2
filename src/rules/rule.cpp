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

bool Rule::is_linear_in(const NodeView& node, size_t) const { return is_linear(node); }

Tensor Rule::vjp(const NodeView&, size_t, const Tensor&) const { return {}; }

}  // namespace flightdeck
