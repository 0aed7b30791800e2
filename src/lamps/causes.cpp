// SPDX-License-Identifier: MIT
// The causes by name. Entries live in causes/, one file each.
#include <stdexcept>
#include <utility>

#include "base/registry.h"
#include "flightdeck/diagnosis.h"

namespace flightdeck {
namespace causes {

#define FLIGHTDECK_ENTRY(name) Cause name();
#include "flightdeck/causes.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace causes

namespace {

Cause with_page(Cause cause) {
  if (cause.page.empty()) cause.page = "docs/causes.md#" + cause.name;
  return cause;
}

Registry<Cause>& cause_registry() {
  static auto* registry = new Registry<Cause>({
#define FLIGHTDECK_ENTRY(name) with_page(causes::name()),
#include "flightdeck/causes.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

}  // namespace

std::vector<Cause> cause_catalogue() { return cause_registry().all(); }

bool register_cause(Cause cause) {
  if (cause.name.empty() || cause.sentence.empty() || cause.lights.empty()) {
    throw std::invalid_argument("register_cause: cause '" + cause.name +
                                "' lacks a name, a sentence or a lamp that it lights; set all "
                                "three");
  }
  const std::string fault = fault_of_name(cause.name);
  if (!fault.empty()) throw std::invalid_argument("register_cause: " + fault);
  if (!(cause.weight > 0)) {
    throw std::invalid_argument("register_cause: the weight of '" + cause.name + "' is " +
                                std::to_string(cause.weight) + " but must be above 0");
  }
  for (const auto& [lamp, share] : cause.lights) {
    if (share >= 0 && share <= 1) continue;
    throw std::invalid_argument("register_cause: '" + cause.name + "' lights the lamp '" + lamp +
                                "' in a share of " + std::to_string(share) +
                                " of the runs; give one between 0 and 1");
  }
  const std::string name = cause.name, sentence = cause.sentence;
  if (const Cause* same = cause_registry().add(std::move(cause))) {
    throw std::invalid_argument("register_cause: " +
                                taken_name("cause", name, same->sentence, sentence));
  }
  return true;
}

}  // namespace flightdeck
