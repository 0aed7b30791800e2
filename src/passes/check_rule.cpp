// SPDX-License-Identifier: MIT
#include "flightdeck/check_rule.h"

#include <algorithm>

#include <c10/util/Exception.h>

#include "base/nearest.h"
#include "base/words.h"
#include "passes/capture.h"
#include "passes/node_check.h"

namespace flightdeck {
namespace {

const Rule& rule_called(const std::string& name) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : rule_catalogue()) {
    if (entry.name == name) return *entry.rule;
    names.emplace_back(entry.name);
  }
  const std::string near = nearest_name(name, names);
  TORCH_CHECK_VALUE(false,
                    "check_rule: there is no rule '",
                    name,
                    "'; ",
                    near.empty() ? "" : "did you mean '" + near + "'? ",
                    "Call register_rule first, or choose one of ",
                    joined(names));
}

}  // namespace

std::string RuleCheck::text() const {
  std::string text = "rule '" + rule + "'\n";
  for (const std::string& what : checked) {
    const auto differs =
        std::find_if(differences.begin(), differences.end(), [&](const RuleDifference& one) {
          return one.node + ": " + one.what == what;
        });
    text +=
        "  " + what +
        (differs == differences.end() ? ": as the node computes" : ": WRONG, " + differs->detail) +
        "\n";
  }
  return text;
}

RuleCheck check_rule(const std::string& name, const Tensor& losses, const Parameters& parameters) {
  RuleCheck check;
  check.rule = name;
  const Rule& rule = rule_called(name);
  const compat::PassGuard guard;
  const Capture capture = capture_graph(losses, parameters, {});
  TORCH_CHECK_VALUE(capture.N >= 2,
                    "check_rule: losses has ",
                    capture.N,
                    " sample but must have at least 2, to tell samples apart");
  bool is_found = false;
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    const CapturedNode& captured = capture.nodes[k];
    if (captured.rule != &rule) continue;
    is_found = true;
    check_node(rule, captured.node, captured.layout, /*seed=*/k, check);
  }
  std::vector<std::string> nodes, seen;
  for (const std::string_view node : rule.nodes()) nodes.emplace_back(node);
  for (const CapturedNode& captured : capture.nodes) add_once(seen, captured.node->name());
  TORCH_CHECK_VALUE(is_found,
                    "check_rule: none of the nodes of the rule '",
                    name,
                    "' (",
                    joined(nodes),
                    ") is behind the losses, which are made of ",
                    joined(seen),
                    "; pass losses that are computed with the op");
  return check;
}

}  // namespace flightdeck
