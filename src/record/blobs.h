// SPDX-License-Identifier: MIT
// Lists and histograms as bytes, the same in the journal and in the database
// (docs/wire_format.md, "Blobs").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "flightdeck/reading.h"

namespace flightdeck::record {

std::string list_blob(const std::vector<double>& list);
// Reads a list. Throws std::runtime_error if the bytes are no list.
std::vector<double> list_of_blob(std::string_view blob);

// Writes axes, counts and what fell outside of a reading of kind kHistogram.
std::string histogram_blob(const Reading& reading);
// Fills in those and the kind. Throws std::runtime_error if the bytes are no sound histogram, and
// TooManyNumbers if it has more than `most_bins`: a few bytes may stand for many bins.
void read_histogram_blob(std::string_view blob,
                         Reading& reading,
                         int64_t most_bins = limits::kBins);

}  // namespace flightdeck::record
