// SPDX-License-Identifier: MIT
// A run as one HTML file: the page with the run's values and its diagnosis inside.
#pragma once

#include <cstdint>
#include <string>

#include "flightdeck/record.h"
#include "record/labels.h"
#include "serve/wire.h"

namespace flightdeck::serve {

struct ReportOptions {
  int64_t max_bytes = 4'500'000;  // values are reduced until the file is no larger
  // These are the most that is kept before values are reduced.
  int64_t points = 2000;        // entries of a series of the whole model
  int64_t group_points = 1000;  // of a series of a group
  int64_t frames = 400;         // lists or histograms of a series of the whole model
  int64_t group_frames = 100;   // of a series of a group
  record::Labels labels;        // what people say of the run
};

struct ReportFile {
  std::string html;
  wire::Report content;  // how much was kept, among others
};

// Makes the file. `name` is what the page calls the run. Throws if the program was built without
// its page.
ReportFile make_report(const RunReader& run,
                       const std::string& name,
                       const ReportOptions& options = {});

}  // namespace flightdeck::serve
