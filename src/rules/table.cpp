// SPDX-License-Identifier: MIT
// The table of rules, generated from the catalogue in ops/CMakeLists.txt.
#include <unordered_map>

#include "rules/rule.h"

namespace flightdeck {
namespace rules {
#define FLIGHTDECK_ENTRY(name) const Rule& name();
#include "flightdeck/rules.inc"
#undef FLIGHTDECK_ENTRY
}  // namespace rules

const std::vector<CatalogueEntry>& rule_catalogue() {
  static const std::vector<CatalogueEntry> entries{
#define FLIGHTDECK_ENTRY(name) {#name, &rules::name()},
#include "flightdeck/rules.inc"
#undef FLIGHTDECK_ENTRY
  };
  return entries;
}

const Rule* find_rule(const std::string& node) {
  static const auto* by_node = [] {
    auto* map = new std::unordered_map<std::string, const Rule*>();
    for (const CatalogueEntry& entry : rule_catalogue()) {
      for (std::string_view name : entry.rule->nodes()) {
        const bool is_new = map->emplace(name, entry.rule).second;
        TORCH_INTERNAL_ASSERT(is_new, "node ", std::string(name), " has two rules");
      }
    }
    return map;
  }();
  const auto found = by_node->find(node);
  return found == by_node->end() ? nullptr : found->second;
}

}  // namespace flightdeck
