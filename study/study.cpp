// SPDX-License-Identifier: MIT
#include "study/study.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "src/base/exact_text.h"
#include "src/base/whole_file.h"
#include "study/files.h"
#include "study/lock.h"
#include "study/outcome.h"

namespace flightdeck::study {
namespace {

namespace fs = std::filesystem;

std::string in(const std::string& study, const char* name) {
  return (fs::path(study) / name).string();
}
std::string request_file(const std::string& study) { return in(study, "study.json"); }
std::string plan_file(const std::string& study) { return in(study, "plan.jsonl"); }
std::string lock_file(const std::string& study) { return in(study, "lock"); }

// Recognises what a study that another process is just beginning has: a lock, and a file that has
// no name yet.
bool is_of_a_study(const std::string& name) {
  return name == "lock" || name.rfind("study.json", 0) == 0;
}

void refuse_others_things(const std::string& folder) {
  if (!fs::exists(folder)) return;
  bool is_free = fs::is_directory(folder);
  if (is_free) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      is_free = is_free && is_of_a_study(entry.path().filename().string());
    }
  }
  if (is_free) return;
  throw std::invalid_argument(folder +
                              " is there already and holds no study; choose another folder");
}

// Returns an empty text if there is no plan yet.
std::string plan_text(const std::string& study) {
  const std::string path = plan_file(study);
  return fs::exists(path) ? read_file(path) : "";
}

// Reads `text`, the lines of the plan behind the first `before`.
std::vector<PlannedRun> parsed_plan(const std::string& study,
                                    const std::string& text,
                                    size_t before) {
  std::vector<PlannedRun> plan;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    try {
      plan.push_back(planned_run_from_json(line));
    } catch (const std::exception& error) {
      throw std::runtime_error("study: " + plan_file(study) + ":" +
                               std::to_string(before + plan.size() + 1) + ": " + error.what() +
                               "; remove the file to have it planned anew");
    }
  }
  return plan;
}

}  // namespace

bool Study::is_study(const std::string& folder) { return fs::exists(request_file(folder)); }

void Study::make(const std::string& folder, const Request& request) {
  if (!is_study(folder)) refuse_others_things(folder);
  const FileLock lock = FileLock::wait_for(lock_file(folder));
  if (!is_study(folder)) {
    replace_file(request_file(folder), to_json(request) + "\n");
    return;
  }
  const std::vector<std::string> lines = differences(read_request(folder), request);
  if (lines.empty()) return;
  std::string text = folder + " holds a study of something else";
  for (const std::string& line : lines) text += "\n  " + line;
  throw std::invalid_argument(text + "\ngo on with it by 'flightdeck tune " + folder +
                              "', or choose another folder");
}

Study::Study(const std::string& folder) : folder_(folder), request_(read_request(folder)) {
  read_plan();
  extend(combinations(request_));
}

bool Study::look_at(const PlannedRun& run) {
  if (has_ended(run)) return true;
  read_outcome(run);
  if (!has_ended(run)) return false;
  extend({{run.problem, run.optimizer, run.schedule}});
  return true;
}

// Reads only what is new, because a long plan grows often.
void Study::read_plan() {
  const std::string text = plan_text(folder_);
  const bool has_grown = text.size() >= plan_bytes_;
  std::vector<PlannedRun> found = has_grown
                                      ? parsed_plan(folder_, text.substr(plan_bytes_), plan_.size())
                                      : parsed_plan(folder_, text, 0);
  plan_bytes_ = text.size();
  for (PlannedRun& run : found) {
    if (!places_.emplace(run.id, plan_.size()).second) continue;
    plan_.push_back(std::move(run));
    read_outcome(plan_.back());
  }
}

void Study::read_outcome(const PlannedRun& run) {
  const std::optional<Outcome> outcome = ended_outcome(run_folder(folder_, run));
  if (outcome) scores_[run.id] = score_of(*outcome);
}

void Study::extend(const std::vector<Combination>& ones) {
  const auto missing = [&] {
    std::vector<PlannedRun> found;
    for (const Combination& one : ones) {
      for (PlannedRun& run : planned_runs(request_, one, scores_)) {
        if (places_.count(run.id) == 0) found.push_back(std::move(run));
      }
    }
    return found;
  };
  if (missing().empty()) return;
  const FileLock lock = FileLock::wait_for(lock_file(folder_));
  read_plan();  // another process may have been here before
  std::string text = plan_text(folder_);
  // Planned runs may have ended already if a plan was lost: then the next stage follows at once.
  for (std::vector<PlannedRun> found = missing(); !found.empty(); found = missing()) {
    for (PlannedRun& run : found) {
      text += to_json(run) + "\n";
      places_.emplace(run.id, plan_.size());
      plan_.push_back(std::move(run));
      read_outcome(plan_.back());
    }
  }
  replace_file(plan_file(folder_), text);
  plan_bytes_ = text.size();
}

Request read_request(const std::string& study) {
  const std::string path = request_file(study);
  try {
    return request_from_json(read_file(path));
  } catch (const std::exception& error) {
    throw std::runtime_error("study: " + path + " is no request of a study: " + error.what());
  }
}

std::vector<PlannedRun> read_plan(const std::string& study) {
  return parsed_plan(study, plan_text(study), 0);
}

std::optional<Outcome> readable_outcome(const std::string& run_folder) {
  if (!has_outcome(run_folder)) return std::nullopt;
  try {
    return read_outcome(run_folder);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::optional<Outcome> ended_outcome(const std::string& run_folder) {
  const std::optional<Outcome> outcome = readable_outcome(run_folder);
  return outcome && has_ended(*outcome) ? outcome : std::nullopt;
}

void remove_damaged_outcome(const std::string& run_folder) {
  if (!readable_outcome(run_folder)) fs::remove(outcome_file(run_folder));
}

std::string run_folder(const std::string& study, const PlannedRun& run) {
  return (fs::path(study) / "runs" / run.id).string();
}

std::string run_lock(const std::string& study, const PlannedRun& run) {
  return in(run_folder(study, run), "tune.lock");
}

std::string run_log(const std::string& study, const PlannedRun& run) {
  return in(run_folder(study, run), "log.txt");
}

std::vector<std::string> run_arguments(const std::string& study,
                                       const Request& request,
                                       const PlannedRun& run,
                                       int threads) {
  std::vector<std::string> words = {run.problem, "--optimizer", run.optimizer};
  for (const auto& [name, value] : run.hyperparameters) {
    words.insert(words.end(), {"--set", name + "=" + exact_text(value)});
  }
  words.insert(words.end(), {"--schedule", run.schedule, "--seed", std::to_string(run.seed)});
  for (const auto& [name, value] : request.run_options) {
    words.push_back("--" + name);
    if (!value.empty()) words.push_back(value);
  }
  if (threads > 0 && request.run_options.count("threads") == 0) {
    words.insert(words.end(), {"--threads", std::to_string(threads)});
  }
  words.insert(words.end(), {"--preset", "none", "--out", run_folder(study, run), "--resume"});
  words.insert(words.end(), {"--tag", "sample=" + run.sample});
  return words;
}

}  // namespace flightdeck::study
