// SPDX-License-Identifier: MIT
// The report as one HTML file that needs nothing else: no scripts, no fonts, no requests.
#pragma once

#include <string>

#include "study/analysis/report.h"

namespace flightdeck::study {

std::string to_html(const AnalysisReport& report);

}  // namespace flightdeck::study
