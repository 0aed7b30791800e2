// SPDX-License-Identifier: MIT
#include "cli/bench/data_kind.h"

#include "suite/problem.h"

namespace flightdeck::cli {

std::string data_kind(const std::string& problem, const suite::DataOptions& options) {
  const std::string& data_set = suite::find_problem(problem).data_set;
  if (!suite::describe_data(data_set, options.folder).needs_files) return "generated";
  return options.synthetic ? "synthetic" : "real";
}

}  // namespace flightdeck::cli
