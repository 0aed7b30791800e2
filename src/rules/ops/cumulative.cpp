// SPDX-License-Identifier: MIT
// Running sums, products and log-sums along one dimension.
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

int64_t mixed_dim(const NodeView& node) {
  const std::string name = node.name();
  if (name == "CumsumBackward0") return compat::to_int(node.as<nodes::CumsumBackward0>().dim);
  if (name == "CumprodBackward0") return compat::to_int(node.as<nodes::CumprodBackward0>().dim);
  return compat::to_int(node.as<nodes::LogcumsumexpBackward0>().dim);
}

}  // namespace

const Rule& cumulative() {
  static const AlongDimsRule rule({"CumprodBackward0", "CumsumBackward0", "LogcumsumexpBackward0"},
                                  [](const NodeView& node) { return Shape{mixed_dim(node)}; });
  return rule;
}

}  // namespace flightdeck::rules
