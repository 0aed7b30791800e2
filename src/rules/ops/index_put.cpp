// SPDX-License-Identifier: MIT
// Writing values into some entries: every other output entry is the input entry at the same place.
// The label-smoothed cross-entropy blanks ignored samples this way.
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

class IndexPutRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"IndexPutBackward0", "IndexPutImplBackward0"};
  }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    // Where the written values come from depends on the indices.
    return edge == 0 ? out : Layout::unknown();
  }

  bool is_linear(const NodeView&) const override { return true; }
};

}  // namespace

const Rule& index_put() {
  static const IndexPutRule rule;
  return rule;
}

}  // namespace flightdeck::rules
