// SPDX-License-Identifier: MIT
#include "rules/rule.h"

namespace flightdeck {

Rows Rule::rows(const NodeView&, size_t, const Tensor&, const Layout&) const { return {}; }

bool Rule::carry(const NodeView&, size_t, size_t, Rows&) const { return false; }

Tensor Rule::vjp(const NodeView&, size_t, const Tensor&) const { return {}; }

}  // namespace flightdeck
