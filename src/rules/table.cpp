// SPDX-License-Identifier: MIT
// The table of rules: those of the catalogue in ops/CMakeLists.txt, and those that a program adds.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/registry.h"
#include "base/words.h"
#include "rules/custom_rule.h"
#include "rules/rule.h"

namespace flightdeck {
namespace rules {
#define FLIGHTDECK_ENTRY(name) const Rule& name();
#include "flightdeck/rules.inc"
#undef FLIGHTDECK_ENTRY
}  // namespace rules

namespace {

const std::vector<CatalogueEntry>& compiled_rules() {
  static const std::vector<CatalogueEntry> entries{
#define FLIGHTDECK_ENTRY(name) {#name, &rules::name()},
#include "flightdeck/rules.inc"
#undef FLIGHTDECK_ENTRY
  };
  return entries;
}

using ByNode = std::unordered_map<std::string, CatalogueEntry>;

const ByNode& compiled_nodes() {
  static const auto* by_node = [] {
    auto* map = new ByNode();
    for (const CatalogueEntry& entry : compiled_rules()) {
      for (std::string_view name : entry.rule->nodes()) {
        const bool is_new = map->emplace(name, entry).second;
        TORCH_INTERNAL_ASSERT(is_new, "node ", std::string(name), " has two rules");
      }
    }
    return map;
  }();
  return *by_node;
}

// Keeps rules that a program added. They are never taken away.
class AddedRules {
 public:
  static AddedRules& all() {
    static auto* added = new AddedRules();
    return *added;
  }

  void add(std::unique_ptr<const CheckedCustomRule> rule) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    check(*rule);
    const CatalogueEntry entry{rule->name(), rule.get()};
    for (std::string_view node : rule->nodes()) by_node_.emplace(node, entry);
    by_name_.emplace(rule->name(), std::move(rule));
    is_empty_ = false;
  }

  const Rule* find(const std::string& node) const {
    if (is_empty_) return nullptr;
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = by_node_.find(node);
    return found == by_node_.end() ? nullptr : found->second.rule;
  }

  void list(std::vector<CatalogueEntry>& entries) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const auto& [name, rule] : by_name_) entries.push_back({name, rule.get()});
  }

 private:
  void check(const CheckedCustomRule& rule) const {
    const auto of = [](const Rule& other) {
      std::vector<std::string> nodes;
      for (const std::string_view node : other.nodes()) nodes.emplace_back(node);
      return "for " + joined(nodes);
    };
    for (const CatalogueEntry& entry : compiled_rules()) {
      TORCH_CHECK_VALUE(entry.name != rule.name(),
                        "register_rule: ",
                        taken_name("rule", rule.name(), of(*entry.rule), of(rule)));
    }
    const auto same = by_name_.find(rule.name());
    TORCH_CHECK_VALUE(same == by_name_.end(),
                      "register_rule: ",
                      taken_name("rule", rule.name(), of(*same->second), of(rule)));
    for (std::string_view view : rule.nodes()) {
      const std::string node(view);
      for (const ByNode* known : {&compiled_nodes(), &by_node_}) {
        const auto found = known->find(node);
        TORCH_CHECK_VALUE(found == known->end(),
                          "register_rule: the rule '",
                          rule.name(),
                          "' explains the node ",
                          node,
                          ", which the rule '",
                          std::string(found->second.name),
                          "' explains already; leave that node to it");
      }
    }
  }

  mutable std::shared_mutex mutex_;
  std::atomic<bool> is_empty_{true};
  std::map<std::string, std::unique_ptr<const CheckedCustomRule>> by_name_;
  ByNode by_node_;
};

}  // namespace

std::vector<CatalogueEntry> rule_catalogue() {
  std::vector<CatalogueEntry> entries = compiled_rules();
  AddedRules::all().list(entries);
  std::sort(entries.begin(), entries.end(), [](const CatalogueEntry& a, const CatalogueEntry& b) {
    return a.name < b.name;
  });
  return entries;
}

const Rule* find_rule(const std::string& node) {
  const auto found = compiled_nodes().find(node);
  return found == compiled_nodes().end() ? AddedRules::all().find(node) : found->second.rule;
}

bool register_rule(std::unique_ptr<const CustomRule> rule) {
  TORCH_CHECK_VALUE(rule, "register_rule: the rule is null; pass std::make_unique<YourRule>()");
  auto checked = std::make_unique<CheckedCustomRule>(std::move(rule));
  const std::string fault = fault_of_name(checked->name());
  TORCH_CHECK_VALUE(fault.empty(), "register_rule: ", fault);
  const std::vector<std::string_view> nodes = checked->nodes();
  TORCH_CHECK_VALUE(!nodes.empty(),
                    "register_rule: the rule '",
                    checked->name(),
                    "' explains 0 nodes; name those that output.grad_fn()->name() has");
  AddedRules::all().add(std::move(checked));
  return true;
}

}  // namespace flightdeck
