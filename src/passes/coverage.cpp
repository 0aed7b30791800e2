// SPDX-License-Identifier: MIT
#include "flightdeck/coverage.h"

#include <algorithm>
#include <sstream>

#include "base/words.h"
#include "rules/rule.h"

namespace flightdeck {
namespace {

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

const char* to_string(CoverageLevel level) {
  switch (level) {
    case CoverageLevel::kExactFast:
      return "exact-fast";
    case CoverageLevel::kExactSlow:
      return "exact-slow";
    case CoverageLevel::kRefused:
      return "refused";
    case CoverageLevel::kUnused:
      return "unused";
  }
  return "unknown";
}

std::string Coverage::text() const {
  size_t name_width = 9, op_width = 2;
  for (const auto& parameter : parameters) {
    name_width = std::max(name_width, parameter.name.size());
    for (const auto& use : parameter.uses) op_width = std::max(op_width, use.op.size());
  }
  std::vector<std::string> refusals;  // one concerns many parameters, as a rule
  std::ostringstream out;
  out << padded("parameter", name_width) << "  " << padded("level", 10) << "  "
      << padded("op", op_width) << "  " << padded("form", 11) << "  algorithm\n";
  for (const auto& parameter : parameters) {
    const std::string lead =
        padded(parameter.name, name_width) + "  " + padded(to_string(parameter.level), 10) + "  ";
    const bool is_refused = parameter.level == CoverageLevel::kRefused;
    if (parameter.uses.empty()) out << lead << (is_refused ? "" : parameter.reason) << "\n";
    if (is_refused) add_once(refusals, parameter.reason);
    for (size_t k = 0; k < parameter.uses.size(); ++k) {
      // Many uses of one kind (an unrolled recurrence) become one line.
      const auto& use = parameter.uses[k];
      size_t same = 1;
      while (k + 1 < parameter.uses.size() && parameter.uses[k + 1].op == use.op &&
             parameter.uses[k + 1].form == use.form) {
        ++same;
        ++k;
      }
      out << lead << padded(use.op, op_width) << "  " << padded(use.form, 11) << "  "
          << use.algorithm;
      if (same > 1) out << " (" << same << " uses)";
      if (!parameter.reason.empty() && !is_refused) out << " [" << parameter.reason << "]";
      out << "\n";
    }
  }
  for (const std::string& refusal : refusals) out << "refused: " << refusal << "\n";
  for (const auto& parameter : parameters) {
    if (parameter.elsewhere.empty()) continue;
    out << "gradient past the losses reaches " << parameter.name << " from "
        << joined(parameter.elsewhere) << "\n";
  }
  if (!shared_terms.empty()) {
    out << "terms that all samples share, " << (leaves_out_shared_terms ? "left out: " : "kept: ")
        << joined(shared_terms) << "\n";
  }
  if (!couplings.empty()) out << "samples are coupled by " << joined(couplings) << "\n";
  return out.str();
}

std::vector<OpRule> ops_with_rules() {
  std::vector<OpRule> ops;
  for (const CatalogueEntry& entry : rule_catalogue()) {
    OpRule op{std::string(entry.name), {}};
    for (const std::string_view node : entry.rule->nodes()) op.nodes.emplace_back(node);
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace flightdeck
