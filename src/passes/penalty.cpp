// SPDX-License-Identifier: MIT
#include "passes/penalty.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

using compat::ag::AccumulateGrad;
using compat::ag::Node;

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}

bool is_constant_factor(const NodeView& view, size_t missing) {
  if (view.name() == "MulBackward0") {
    const auto& mul = view.as<compat::nodes::MulBackward0>();
    return view.unpack(missing == 1 ? mul.other_ : mul.self_).numel() == 1;
  }
  const auto& div = view.as<compat::nodes::DivBackward0>();
  return missing == 1 && view.unpack(div.other_).numel() == 1;
}

// True if nothing but constants enters beside what its edges lead to.
bool combines_parameters(const NodeView& view) {
  const std::string name = view.name();
  if (is_one_of(name, {"MulBackward0", "DivBackward0"})) {
    for (size_t e = 0; e < view.num_inputs(); ++e) {
      if (!view.has_input(e) && !is_constant_factor(view, e)) return false;  // data enters here
    }
    return true;
  }
  return is_one_of(name, {"AbsBackward0",   "AddBackward0",          "AddBackward1",
                          "CatBackward0",   "DivBackward1",          "LinalgVectorNormBackward0",
                          "MeanBackward0",  "MeanBackward1",         "MulBackward1",
                          "NegBackward0",   "NormBackward0",         "NormBackward1",
                          "PowBackward0",   "ReshapeAliasBackward0", "SqrtBackward0",
                          "StackBackward0", "SubBackward0",          "SubBackward1",
                          "SumBackward0",   "SumBackward1",          "ViewBackward0"});
}

}  // namespace

bool is_additive(const NodeView& view) {
  return is_one_of(view.name(),
                   {"AddBackward0",
                    "AddBackward1",
                    "SubBackward0",
                    "SubBackward1",
                    "MulBackward0",
                    "MulBackward1",
                    "DivBackward0",
                    "DivBackward1",
                    "NegBackward0",
                    "ExpandBackward0",
                    "ViewBackward0"});
}

bool is_parameter_expression(Node* root) {
  std::vector<Node*> todo{root};
  std::unordered_set<const Node*> seen{root};
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    if (dynamic_cast<const AccumulateGrad*>(node)) continue;
    const NodeView view(node);
    if (!combines_parameters(view)) return false;
    for (const auto& edge : node->next_edges()) {
      if (edge.is_valid() && seen.insert(edge.function.get()).second) {
        todo.push_back(edge.function.get());
      }
    }
  }
  return true;
}

}  // namespace flightdeck
