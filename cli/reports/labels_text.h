// SPDX-License-Identifier: MIT
// Labels as the commands change and tell them.
#pragma once

#include <functional>
#include <string>

#include "record/labels.h"

namespace flightdeck::cli {

// Changes the labels of the run in `folder` and prints them. Throws UsageError if there is no run
// or the change is refused.
void label_run(const std::string& command,
               const std::string& folder,
               bool json,
               const std::function<void(record::Labels&)>& change);

// Returns those of a run that is shown. Damaged ones are told on the standard error and count as
// none.
record::Labels labels_to_show(const std::string& command, const std::string& folder);

}  // namespace flightdeck::cli
