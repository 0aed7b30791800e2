// SPDX-License-Identifier: MIT
// A run as a picture or an animation: its page as a browser shows it, or its series in panels that
// the program draws.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/report_file.h"
#include "flightdeck/record.h"
#include "study/figure.h"

namespace flightdeck::cli {

// Returns "png", "svg", "pdf", "gif", "webm".
std::vector<std::string> picture_formats();

// Draws the numbers of the whole model over the steps, a panel each, fifteen at most; over a
// logarithmic axis where quantities were tracked at logarithmic distances.
study::Figure figure_of_run(const RunReader& run, const std::string& name);

// Draws the same, with the diagnosis in one sentence, as one SVG.
std::string svg_of_run(const RunReader& run, const std::string& name);

// Writes the page of the run in `folder` as a PNG, or converts `svg` where there is no browser.
// Returns why there is no PNG; empty if there is one.
std::string png_of_run(const RunReader& run,
                       const std::string& folder,
                       const std::string& svg,
                       const std::string& png);

// Cuts the figure at a share in [0, 1] of the run's steps; limits stay those of the whole.
study::Figure until(study::Figure figure, double share, int64_t last_step);

// Writes options.format, which says the diagnosis in one sentence, and prints the path and by what
// it was made. Throws, naming what to install, if a program is missing that the format needs.
void write_run_picture(const RunReader& run, const ReportFileOptions& options);

}  // namespace flightdeck::cli
