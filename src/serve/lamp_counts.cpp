// SPDX-License-Identifier: MIT
#include "serve/lamp_counts.h"

#include <exception>
#include <utility>

#include "flightdeck/lamp.h"

namespace flightdeck::serve {
namespace {

// A look takes some milliseconds, so this many take a fraction of a second.
constexpr int64_t kLooksOfOneRequest = 50;

LitLamps lit_in(const RunReader& run) {
  LitLamps lit{};
  for (const Finding& finding : findings_in(run)) ++lit[static_cast<size_t>(finding.severity)];
  return lit;
}

}  // namespace

std::map<std::string, LitLamps> LampCounts::of(const RunShelf& shelf, const wire::RunList& list) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, Seen> seen;
  std::map<std::string, LitLamps> counts;
  int64_t looks = 0;
  for (const wire::RunSummary& run : list.runs) {
    const auto before = seen_.find(run.id);
    Seen now = before == seen_.end() ? Seen() : before->second;
    if (now.change != run.change && looks < kLooksOfOneRequest) {
      ++looks;
      try {
        const auto reader = shelf.open(run.id);
        if (reader) now = {run.change, lit_in(*reader)};
      } catch (const std::exception&) {
        continue;  // the list says what is wrong with it
      }
    }
    if (now.change < 0) continue;
    counts[run.id] = now.lit;
    seen[run.id] = now;
  }
  seen_ = std::move(seen);  // without runs that are gone
  return counts;
}

}  // namespace flightdeck::serve
