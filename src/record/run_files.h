// SPDX-License-Identifier: MIT
// Moves and deletes a run's folder, and tells which of its files are the run's and what else lies
// there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flightdeck::record {

// Returns true for what recorders, runs, studies, reports and exports put into the folder of a run.
// `path` is relative to it.
bool is_file_of_run(const std::string& path);

struct RunContents {
  int64_t files = 0, bytes = 0;      // all of them
  bool has_checkpoint = false;       // from which the run could go on
  std::vector<std::string> foreign;  // the first few that are not the run's, relative
  int64_t foreign_count = 0;
};

// Lists what lies in a run's folder. Links count as entries and are not followed. Throws
// std::runtime_error if the folder cannot be read.
RunContents contents_of_run(const std::string& folder);

enum class Foreign { kRefuse, kDelete };

// Throws std::invalid_argument if the folder is a link, holds no run, is being recorded to, or
// holds files that are not the run's and may not go.
void check_deletable(const std::string& folder, Foreign foreign = Foreign::kRefuse);

// Deletes the files of a run and then its folder, but nothing outside of it, wherever links lead.
// Throws as check_deletable and then leaves all as it is. Throws std::runtime_error if the disk
// refuses. A run that was deleted in part is still one, and can be deleted again.
void delete_run(const std::string& folder, Foreign foreign = Foreign::kRefuse);

// Gives the folder of a run another name in the place where it is; returns its path. Throws
// std::invalid_argument as delete_run, or if the name will not do or is taken.
std::string rename_run(const std::string& folder, const std::string& name);

}  // namespace flightdeck::record
