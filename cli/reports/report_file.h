// SPDX-License-Identifier: MIT
// Writes a run's report and says so.
#pragma once

#include <string>

#include "flightdeck/record.h"

namespace flightdeck::cli {

struct ReportFileOptions {
  std::string run;  // its folder
  std::string out;  // empty: report.html in the run's folder
  bool json = false;
};

// Prints the path, and how much was left out, to the standard output.
void write_report(const RunReader& run, const ReportFileOptions& options);

}  // namespace flightdeck::cli
