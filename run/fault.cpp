// SPDX-License-Identifier: MIT
#include "run/fault.h"

#include <utility>

#include <c10/util/Exception.h>

#include "base/registry.h"
#include "suite/find_entry.h"

namespace flightdeck::run {
namespace faults {

#define FLIGHTDECK_ENTRY(name) Fault name();
#include "flightdeck/faults.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace faults

namespace {

Registry<Fault>& fault_registry() {
  static auto* registry = new Registry<Fault>({
#define FLIGHTDECK_ENTRY(name) faults::name(),
#include "flightdeck/faults.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

}  // namespace

std::vector<Fault> all_faults() { return fault_registry().all(); }

Fault find_fault(const std::string& name) {
  const Fault* found = fault_registry().find(name);
  if (found == nullptr) suite::refuse_name(name, fault_registry().names(), "fault");
  return *found;
}

bool register_fault(Fault fault) {
  TORCH_CHECK_VALUE(
      !fault.name.empty() && !fault.summary.empty() && !fault.cause.empty() && fault.inject,
      "register_fault: fault '",
      fault.name,
      "' lacks a name, a summary, a cause or its function inject; set all four");
  TORCH_CHECK_VALUE(!fault.severities.empty() && fault.fits,
                    "register_fault: fault '",
                    fault.name,
                    "' has no severities or no function fits; leave the defaults");
  const std::string wrong = fault_of_name(fault.name);
  TORCH_CHECK_VALUE(wrong.empty(), "register_fault: ", wrong);
  const std::string name = fault.name, summary = fault.summary;
  const Fault* same = fault_registry().add(std::move(fault));
  TORCH_CHECK_VALUE(same == nullptr,
                    "register_fault: ",
                    taken_name("fault", name, same ? same->summary : "", summary));
  return true;
}

}  // namespace flightdeck::run
