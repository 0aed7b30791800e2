// SPDX-License-Identifier: MIT
// The runs under the served folder, looked at again and again by a thread of its own. It writes
// nothing but labels.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flightdeck/record.h"
#include "record/labels.h"
#include "serve/wire.h"

namespace flightdeck::serve {

// Holds what happened behind a change, by ascending change.
struct ShelfChanges {
  std::vector<wire::RunSummary> runs;
  std::vector<wire::Gone> gone;
  int64_t change = 0;       // the largest so far
  bool is_complete = true;  // false if too much was forgotten: begin anew
};

class RunShelf {
 public:
  // Starts looking. Throws if the path is no folder. The runs are there when the first look is
  // over.
  RunShelf(const std::string& folder, int64_t refresh_ms);
  ~RunShelf();

  const std::string& folder() const;  // absolute
  int64_t count() const;              // of runs that are known by now
  bool has_looked() const;            // the first look is over
  // These wait for the end of the first look, but not for long.
  wire::RunList list() const;  // newest first
  std::optional<wire::RunSummary> find(const std::string& id) const;
  // Returns a reader that may be shared among threads. Returns null if there is no such run, and
  // throws if it cannot be read.
  std::shared_ptr<const RunReader> open(const std::string& id) const;

  // Changes the labels of a run, in its folder and here. Returns nothing if there is no such run;
  // throws as record::change_labels.
  std::optional<wire::RunSummary> label(const std::string& id,
                                        const std::function<void(record::Labels&)>& change);

  ShelfChanges since(int64_t change) const;
  // Returns when something happened behind `change`, or after the time; false if the shelf stops.
  bool wait_behind(int64_t change, int64_t at_most_ms) const;
  // Ends the looking, and all waiting.
  void stop();

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace flightdeck::serve
