// SPDX-License-Identifier: MIT
// The suite's catalogues: an entry by name, with the nearest offered, and new entries checked.
#pragma once

#include <string>
#include <utility>

#include <c10/util/Exception.h>

#include "src/base/registry.h"
#include "suite/find_entry.h"

namespace flightdeck::suite {

template <typename Entry>
const Entry& find_entry(const Registry<Entry>& registry,
                        const std::string& name,
                        const std::string& kind) {
  if (const Entry* entry = registry.find(name)) return *entry;
  refuse_name(name, registry.names(), kind);
}

// Adds an entry; returns true. Throws c10::ValueError, in the name of `function`, if the entry's
// name is taken or cannot be a name.
template <typename Entry>
bool add_entry(Registry<Entry>& registry,
               Entry entry,
               const char* function,
               const std::string& kind) {
  const std::string name = entry.name, summary = entry.summary;
  const std::string fault = fault_of_name(name);
  TORCH_CHECK_VALUE(fault.empty(), function, ": ", fault);
  const Entry* same = registry.add(std::move(entry));
  TORCH_CHECK_VALUE(!same, function, ": ", taken_name(kind, name, same->summary, summary));
  return true;
}

}  // namespace flightdeck::suite
