// SPDX-License-Identifier: MIT
#include "cockpit/groups.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <regex>
#include <set>

namespace flightdeck {
namespace {

// Returns the deepest node (nearest to the inputs) at which each parameter enters; -1 if it never
// does.
std::vector<int64_t> deepest_uses(const Capture& capture, size_t parameters) {
  // These parameters lie below each parameter-side node; producers come after consumers.
  std::vector<std::set<int64_t>> below(capture.nodes.size());
  std::vector<int64_t> deepest(parameters, -1);
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    const CapturedNode& node = capture.nodes[k];
    if (node.parameter >= 0) below[k].insert(node.parameter);
    for (size_t e = 0; e < node.edges.size(); ++e) {
      if (node.next[e] < 0) continue;
      const auto& found = below[node.next[e]];
      if (node.side == Side::kBatch && node.edges[e] == EdgeKind::kUse) {
        for (int64_t p : found) deepest[p] = std::max(deepest[p], static_cast<int64_t>(k));
      } else if (node.side != Side::kBatch) {
        below[k].insert(found.begin(), found.end());
      }
    }
  }
  return deepest;
}

std::string type_at(const Capture& capture, int64_t place) {
  if (place < 0) return "unused";
  const Rule* rule = capture.nodes[place].rule;
  return to_string(rule ? rule->layer_kind(capture.view(place)) : LayerKind::kOther);
}

std::vector<std::string> by_depth(const std::vector<int64_t>& deepest) {
  const std::set<int64_t, std::greater<>> places(deepest.begin(), deepest.end());
  std::map<int64_t, std::string> names;
  int depth = 0;
  for (int64_t place : places) {
    char name[32];
    std::snprintf(name, sizeof name, "depth %02d", depth++);
    names[place] = name;
  }
  names[-1] = "unused";
  std::vector<std::string> result;
  for (int64_t place : deepest) result.push_back(names[place]);
  return result;
}

std::vector<std::string> by_pattern(const std::vector<std::string>& patterns,
                                    const Parameters& parameters) {
  std::vector<std::regex> compiled(patterns.begin(), patterns.end());
  std::vector<std::string> names;
  for (const NamedParameter& parameter : parameters) {
    size_t k = 0;
    while (k < patterns.size() && !std::regex_search(parameter.name, compiled[k])) ++k;
    names.push_back(k < patterns.size() ? patterns[k] : "other");
  }
  return names;
}

// Returns the group each parameter belongs to.
std::vector<std::string> group_names(const Grouping& grouping,
                                     const Parameters& parameters,
                                     const Capture* capture) {
  std::vector<std::string> names;
  switch (grouping.kind()) {
    case Grouping::Kind::kWhole:
    case Grouping::Kind::kAutomatic:
      break;
    case Grouping::Kind::kParameter:
      for (const NamedParameter& parameter : parameters) names.push_back(parameter.name);
      break;
    case Grouping::Kind::kModule:
      for (const NamedParameter& parameter : parameters) {
        names.push_back(module_of(parameter.name, grouping.levels()));
      }
      break;
    case Grouping::Kind::kLayerType:
      for (int64_t place : deepest_uses(*capture, parameters.size())) {
        names.push_back(type_at(*capture, place));
      }
      break;
    case Grouping::Kind::kDepth:
      names = by_depth(deepest_uses(*capture, parameters.size()));
      break;
    case Grouping::Kind::kPattern:
      names = by_pattern(grouping.patterns(), parameters);
      break;
  }
  return names;
}

}  // namespace

bool needs_graph(const Grouping& grouping) {
  return grouping.kind() == Grouping::Kind::kLayerType || grouping.kind() == Grouping::Kind::kDepth;
}

Grouping settled(const Grouping& grouping, const Parameters& parameters) {
  if (grouping.kind() != Grouping::Kind::kAutomatic) return grouping;
  std::set<std::string> modules;
  bool has_modules = false;  // else every parameter would be a group
  for (const NamedParameter& parameter : parameters) {
    modules.insert(module_of(parameter.name));
    has_modules = has_modules || parameter.name.find('.') != std::string::npos;
  }
  const bool is_few = modules.size() >= 2 && modules.size() <= Grouping::kMostAutomatic;
  return has_modules && is_few ? Grouping::by_module() : Grouping::whole();
}

Groups make_groups(const Grouping& grouping, const Parameters& parameters, const Capture* capture) {
  TORCH_INTERNAL_ASSERT(capture != nullptr || !needs_graph(grouping));
  Groups groups;
  groups.names.push_back("");
  groups.members.emplace_back(parameters.size());
  std::iota(groups.members[0].begin(), groups.members[0].end(), 0);
  const std::vector<std::string> names = group_names(grouping, parameters, capture);
  for (size_t p = 0; p < names.size(); ++p) {
    auto found = std::find(groups.names.begin() + 1, groups.names.end(), names[p]);
    if (found == groups.names.end()) {
      groups.names.push_back(names[p]);
      groups.members.emplace_back();
      found = groups.names.end() - 1;
    }
    groups.members[found - groups.names.begin()].push_back(p);
  }
  return groups;
}

std::string module_of(const std::string& parameter, int64_t levels) {
  size_t end = parameter.rfind('.');
  if (end == std::string::npos) return parameter;
  if (levels > 0) {
    size_t dot = parameter.find('.');
    for (int64_t level = 1; level < levels && dot < end; ++level) {
      dot = parameter.find('.', dot + 1);
    }
    end = std::min(dot, end);
  }
  return parameter.substr(0, end);
}

}  // namespace flightdeck
