// SPDX-License-Identifier: MIT
// Finds the runs under a folder, and finds out cheaply that nothing has changed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace flightdeck::serve {

struct FoundRun {
  std::string id;        // relative to the folder, with slashes; "." is the folder itself
  std::string identity;  // of its folder: differs after it was removed and made again
};

// Looks into folders to a depth of limits::kFolderDepth, not into runs, hidden folders or symbolic
// links.
class RunFinder {
 public:
  // Ends a look that goes on when anybody sets `stop`, which may be null.
  explicit RunFinder(std::filesystem::path folder,
                     std::shared_ptr<const std::atomic<bool>> stop = nullptr)
      : folder_(std::move(folder)), stop_(std::move(stop)) {}

  // Reads again what has changed since the last call; returns true if anything was read. If there
  // is no room for that (too many open files, no memory), all stays as it was until the next call.
  bool look();
  const std::vector<FoundRun>& runs() const { return runs_; }
  std::filesystem::path path_of(const std::string& id) const { return folder_ / id; }

 private:
  struct Folder {
    std::string stamp;  // of its time of change and its place on the disk
    bool is_fresh = false;
  };

  bool is_unchanged() const;
  // Returns false if there was no room to read a folder, or it was stopped.
  bool walk(const std::filesystem::path& folder, const std::string& id, int depth);

  std::filesystem::path folder_;
  std::shared_ptr<const std::atomic<bool>> stop_;
  std::map<std::string, Folder> folders_;  // those that are no runs, by path
  std::vector<FoundRun> runs_;
  std::chrono::steady_clock::time_point last_walk_{};
};

}  // namespace flightdeck::serve
