// SPDX-License-Identifier: MIT
#include "cli/options/recorded_run.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/options/names.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {
namespace {

// Lists runs in `folder` itself, beside it, and in runs/, the newest names first.
std::vector<std::string> runs_near(const std::filesystem::path& folder) {
  std::vector<std::string> runs;
  for (const std::filesystem::path& place :
       {folder, folder.parent_path(), std::filesystem::path("runs")}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
      const std::string path = entry.path().string();
      if (entry.is_directory(error) && RunReader::is_run(path)) runs.push_back(path);
    }
    if (!runs.empty()) break;
  }
  std::sort(runs.rbegin(), runs.rend());
  return runs;
}

}  // namespace

void check_run(const std::string& command, const std::string& folder) {
  if (RunReader::is_run(folder)) return;
  std::vector<std::string> near = runs_near(folder);
  constexpr size_t kListed = 5;
  const bool has_more = near.size() > kListed;
  near.resize(std::min(near.size(), kListed));
  throw UsageError(command + ": " + folder + " holds no run" +
                   (near.empty() ? "; record one with 'flightdeck run'"
                                 : "; there are " + joined(near) + (has_more ? ", ..." : "")));
}

RunReader open_run(const std::string& command, const std::string& folder) {
  check_run(command, folder);
  return RunReader(folder);
}

}  // namespace flightdeck::cli
