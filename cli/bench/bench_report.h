// SPDX-License-Identifier: MIT
// What a benchmark prints: a table for people, or one JSON object per line.
#pragma once

#include <cstdint>
#include <string>

#include "cli/bench/turns.h"

namespace flightdeck::cli {

// A measurement with what it belongs to.
struct BenchLine {
  std::string bench, problem, device;
  int64_t batch = 0;
  int threads = 0;
  std::string blas, quantity;
  Timing timing;
  std::string data, preset;  // of a training; empty elsewhere
  int64_t interval = 0;      // of a training
  std::string error;         // why there is no timing; empty where there is one
};

// Writes one JSON object; numbers that do not exist are null.
std::string json(const BenchLine& line);

// Returns the two lines above the rows of one problem.
std::string table_heading(const BenchLine& line);
std::string table_row(const BenchLine& line);

}  // namespace flightdeck::cli
