// SPDX-License-Identifier: MIT
// Looks an entry of a catalogue up by name; a name that is not there gets the nearest one offered.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::suite {

/// Throws c10::ValueError: there is no `kind` called `name`. Offers the nearest of `names` if it is
/// near, and lists all.
[[noreturn]] void refuse_name(const std::string& name,
                              const std::vector<std::string>& names,
                              const std::string& kind);

template <typename Entry>
const Entry& find_entry(const std::vector<Entry>& entries,
                        const std::string& name,
                        const std::string& kind) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  refuse_name(name, names, kind);
}

}  // namespace flightdeck::suite
