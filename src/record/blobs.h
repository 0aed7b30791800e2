// SPDX-License-Identifier: MIT
// Lists and histograms as bytes, the same in the journal and in the database
// (docs/wire_format.md, "Blobs").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flightdeck/reading.h"

namespace flightdeck::record {

std::string list_blob(const std::vector<double>& list);
std::vector<double> list_of_blob(std::string_view blob);

/// Axes, counts and what fell outside of a reading of kind kHistogram.
std::string histogram_blob(const Reading& reading);
void read_histogram_blob(std::string_view blob, Reading& reading);

}  // namespace flightdeck::record
