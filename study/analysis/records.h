// SPDX-License-Identifier: MIT
// The analysis as tidy tables, one row for each observation.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "study/analysis/analysis.h"

namespace flightdeck::study {

using Value = std::variant<std::string, double, int64_t>;

struct Records {
  std::string name;  // of the file, without ".csv"
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
};

// Follows RFC 4180, with all digits. A number that does not exist is empty, infinity is inf.
std::string to_csv(const Records& records);

Records performance_records(const Analysis& analysis);
Records speed_records(const Analysis& analysis);
Records target_records(const Analysis& analysis);
Records tuneability_records(const Analysis& analysis);
Records sensitivity_records(const Analysis& analysis);
Records curve_records(const Analysis& analysis);
Records improvement_records(const Analysis& analysis);
Records gain_records(const Analysis& analysis);
Records gain_summary_records(const Analysis& analysis);
Records profile_records(const Analysis& analysis);
Records profile_score_records(const Analysis& analysis);
// These three are empty where settings were run with one seed each, or on one problem, or nothing
// was tuned twice.
Records seed_records(const Analysis& analysis);
Records coordinate_records(const Analysis& analysis);
Records retuning_records(const Analysis& analysis);

// Returns all of them, but those three only if they have a row.
std::vector<Records> all_records(const Analysis& analysis);

}  // namespace flightdeck::study
