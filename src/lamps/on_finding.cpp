// SPDX-License-Identifier: MIT
// Connects the cockpit with the lamps, since the cockpit itself knows sinks only.
#include <memory>
#include <utility>

#include <c10/util/Exception.h>

#include "flightdeck/cockpit.h"
#include "flightdeck/finding_sink.h"
#include "flightdeck/ranks.h"

namespace flightdeck {

void Cockpit::on_finding(OnFinding call, const FindingSinkOptions& options) {
  const CockpitOptions& own = this->options();
  if (own.ranks && own.ranks->rank() > 0) return;  // the first one records
  TORCH_CHECK(!record_folder_.empty(),
              "on_finding: lamps look at the record, and this cockpit writes none; call "
              "record_to(folder) before it");
  add_sink(std::make_shared<FindingSink>(record_folder_, std::move(call), options));
}

void Cockpit::on_finding(OnFinding call) { on_finding(std::move(call), FindingSinkOptions()); }

}  // namespace flightdeck
