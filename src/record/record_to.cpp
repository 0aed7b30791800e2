// SPDX-License-Identifier: MIT
// Where the cockpit meets the recorder: the cockpit itself knows sinks only.
#include <memory>

#include "flightdeck/cockpit.h"
#include "flightdeck/ranks.h"
#include "flightdeck/record.h"

namespace flightdeck {

void Cockpit::record_to(const std::string& folder) {
  if (options().ranks && options().ranks->rank() > 0) return;
  RecorderOptions recording;
  recording.on_warning = options().on_warning;
  add_sink(std::make_shared<Recorder>(folder, recording));
  record_folder_ = folder;
}

}  // namespace flightdeck
