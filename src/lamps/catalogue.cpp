// SPDX-License-Identifier: MIT
// The lamps by name. Entries live in catalogue/, one file each.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "flightdeck/lamp.h"

namespace flightdeck {
namespace lamps {

#define FLIGHTDECK_ENTRY(name) Lamp name();
#include "flightdeck/lamps.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace lamps

namespace {

std::vector<Lamp>& table() {
  static std::vector<Lamp> lamps = {
#define FLIGHTDECK_ENTRY(name) lamps::name(),
#include "flightdeck/lamps.inc"
#undef FLIGHTDECK_ENTRY
  };
  return lamps;
}

}  // namespace

const std::vector<Lamp>& lamp_catalogue() { return table(); }

void register_lamp(Lamp lamp) {
  if (lamp.name.empty() || lamp.summary.empty() || !lamp.look) {
    throw std::invalid_argument("register_lamp: lamp '" + lamp.name +
                                "' lacks a name, a summary or its function look; set all three");
  }
  const bool is_taken = std::any_of(
      table().begin(), table().end(), [&](const Lamp& other) { return other.name == lamp.name; });
  if (is_taken) {
    throw std::invalid_argument("register_lamp: there is a lamp '" + lamp.name +
                                "' already; give this one another name");
  }
  table().push_back(std::move(lamp));
}

}  // namespace flightdeck
