// SPDX-License-Identifier: MIT
// Writes a run's report and says so.
#pragma once

#include <string>

#include "flightdeck/record.h"

namespace flightdeck::cli {

struct ReportFileOptions {
  std::string run;  // its folder
  std::string out;  // empty: report.html, or of the format, in the run's folder
  bool json = false;
  std::string format = "html";  // or one of picture_formats()
};

// Returns the last named folder of the path: "runs/first/" is "first", "." is the current folder.
std::string report_name(const std::string& folder);

// Prints the path, and how much was left out, to the standard output.
void write_report(const RunReader& run, const ReportFileOptions& options);

}  // namespace flightdeck::cli
