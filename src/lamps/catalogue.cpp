// SPDX-License-Identifier: MIT
// The lamps by name. Entries live in catalogue/, one file each.
#include <stdexcept>
#include <utility>

#include "base/registry.h"
#include "flightdeck/lamp.h"

namespace flightdeck {
namespace lamps {

#define FLIGHTDECK_ENTRY(name) Lamp name();
#include "flightdeck/lamps.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace lamps

namespace {

Lamp with_page(Lamp lamp) {
  if (lamp.page.empty()) lamp.page = "docs/lamps.md#" + lamp.name;
  return lamp;
}

Registry<Lamp>& lamp_registry() {
  static auto* registry = new Registry<Lamp>({
#define FLIGHTDECK_ENTRY(name) with_page(lamps::name()),
#include "flightdeck/lamps.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

}  // namespace

std::vector<Lamp> lamp_catalogue() { return lamp_registry().all(); }

bool register_lamp(Lamp lamp) {
  if (lamp.name.empty() || lamp.summary.empty() || !lamp.look) {
    throw std::invalid_argument("register_lamp: lamp '" + lamp.name +
                                "' lacks a name, a summary or its function look; set all three");
  }
  const std::string fault = fault_of_name(lamp.name);
  if (!fault.empty()) throw std::invalid_argument("register_lamp: " + fault);
  const std::string name = lamp.name, summary = lamp.summary;
  if (const Lamp* same = lamp_registry().add(std::move(lamp))) {
    throw std::invalid_argument("register_lamp: " +
                                taken_name("lamp", name, same->summary, summary));
  }
  return true;
}

}  // namespace flightdeck
