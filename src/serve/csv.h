// SPDX-License-Identifier: MIT
// Series of numbers as a CSV file, written piece by piece.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flightdeck/record.h"
#include "serve/http.h"

namespace flightdeck::serve {

// Writes exact values of all steps; the columns are those of `export_csv`.
Response csv_of(std::shared_ptr<const RunReader> run,
                std::vector<SeriesInfo> series,
                const std::string& run_id);

}  // namespace flightdeck::serve
