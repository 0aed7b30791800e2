// SPDX-License-Identifier: MIT
#include "serve/run_list.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <stdexcept>

#include "base/limits.h"
#include "serve/answers.h"
#include "serve/run_finder.h"

namespace flightdeck::serve {

std::vector<wire::RunSummary> runs_in(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::canonical(folder, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    throw std::invalid_argument("there is no folder '" + folder +
                                "'; record a run into it with flightdeck run, or name another");
  }
  RunFinder finder(path);
  finder.look();
  const std::vector<FoundRun>& found = finder.runs();
  std::vector<wire::RunSummary> runs(found.size());
  std::atomic<size_t> next{0};
  const auto look_at_some = [&] {
    for (size_t k = next++; k < found.size(); k = next++) {
      ReadOptions options;
      options.patience_s = static_cast<double>(limits::kLookSeconds);
      runs[k] = look_at_run((path / found[k].id).string(), found[k].id, options);
    }
  };
  // Two threads look: opening a database mostly waits, and one may be slow.
  const std::future<void> second = std::async(std::launch::async, look_at_some);
  look_at_some();
  second.wait();
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return runs;
}

bool has_runs(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::canonical(folder, error);
  if (error) return false;
  RunFinder finder(path);
  finder.look();
  return !finder.runs().empty();
}

}  // namespace flightdeck::serve
