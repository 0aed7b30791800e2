// SPDX-License-Identifier: MIT
#include "study/slurm.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>

#include "src/base/shell.h"
#include "src/base/whole_file.h"
#include "study/child.h"
#include "study/files.h"
#include "study/json_text.h"
#include "study/lock.h"
#include "study/outcome.h"

namespace flightdeck::study {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUsualLimit = 1000;
constexpr int kNoProgram = 127;

// What the study's folder keeps of the last submission.
struct Submitted {
  std::vector<std::string> options, jobs;
  int64_t progress = -1;
};

std::string path_in(const Study& study, const char* name) {
  return (fs::path(study.folder()) / name).string();
}

Submitted read_submitted(const Study& study) {
  Submitted last;
  const std::string path = path_in(study, "slurm.json");
  if (!fs::exists(path)) return last;
  const Json json = parsed(read_file(path));
  json.at("options").get_to(last.options);
  json.at("jobs").get_to(last.jobs);
  json.at("progress").get_to(last.progress);
  return last;
}

void write_submitted(const Study& study, const Submitted& last) {
  const Json json = {{"options", last.options}, {"jobs", last.jobs}, {"progress", last.progress}};
  replace_file(path_in(study, "slurm.json"), json.dump(1) + "\n");
}

// Returns seconds; 0 if there is no checkpoint.
int64_t time_of_checkpoint(const std::string& run) {
  struct stat status = {};
  const std::string path = run + "/checkpoint.pt";
  return ::stat(path.c_str(), &status) == 0 ? static_cast<int64_t>(status.st_mtime) : 0;
}

// Returns a number that grows with every run that ends, and with every checkpoint.
int64_t progress_of(const Study& study) {
  constexpr int64_t kEnded = int64_t{1} << 33;  // more than any time
  int64_t progress = 0;
  for (const PlannedRun& run : study.plan()) {
    const std::string folder = run_folder(study.folder(), run);
    progress += study.has_ended(run) ? kEnded : time_of_checkpoint(folder);
  }
  return progress;
}

std::vector<int64_t> open_places(const Study& study) {
  std::vector<int64_t> places;
  for (size_t k = 0; k < study.plan().size(); ++k) {
    if (!study.has_ended(study.plan()[k])) places.push_back(static_cast<int64_t>(k));
  }
  return places;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// Runs a program and returns what it prints, without the end of the line.
std::string answer(const std::vector<std::string>& arguments) {
  const ChildOutput answer = output_of(arguments);
  if (answer.status == kNoProgram) {
    throw std::runtime_error(
        "tune: there is no " + arguments[0] +
        " here; submit from a machine of the cluster, or let the runs be started here");
  }
  if (answer.status != 0) {
    throw std::runtime_error("tune: " + arguments[0] + " refused: " + answer.error);
  }
  return answer.out.substr(0, answer.out.find_last_not_of("\n") + 1);
}

// Returns those of the jobs that wait or run, this one not counted.
std::vector<std::string> in_queue(const std::vector<std::string>& jobs) {
  std::vector<std::string> found;
  if (jobs.empty()) return found;
  const char* own = std::getenv("SLURM_JOB_ID");
  // It asks for all jobs of this user, because squeue refuses a list with one forgotten id.
  std::istringstream lines(answer({"squeue", "--noheader", "--me", "--format=%F"}));
  for (std::string line; lines >> line;) {
    const bool is_ours = std::find(jobs.begin(), jobs.end(), line) != jobs.end();
    const bool is_new = std::find(found.begin(), found.end(), line) == found.end();
    if (is_ours && is_new && (own == nullptr || line != own)) found.push_back(line);
  }
  return found;
}

class Submitter {
 public:
  Submitter(const Study& study, std::string program, std::vector<std::string> options)
      : study_(study), program_(std::move(program)) {
    last_.options = std::move(options);
    last_.progress = progress_of(study);
  }

  Submission submit(const std::vector<int64_t>& places) {
    fs::create_directories(path_in(study_, "slurm"));
    Submission submission;
    for (const JobArray& array : job_arrays(places, limit())) {
      const std::string task =
          "\"$((" + std::to_string(array.offset) + " + SLURM_ARRAY_TASK_ID))\"";
      remember(sbatch({"--array=" + array.indices, "--output=" + output("%A_%a.txt")},
                      {"--task", task}));
      submission.runs += array.count;
    }
    const std::string after = "--dependency=afterany:" + joined(last_.jobs, ":");
    remember(sbatch({after, "--output=" + output("%j.txt")}, {"--slurm-next"}));
    submission.jobs = last_.jobs;
    return submission;
  }

 private:
  static int64_t limit() { return array_limit(answer({"scontrol", "show", "config"})); }

  std::string output(const std::string& name) const {
    // sbatch replaces what follows a percent sign.
    std::string folder = fs::absolute(study_.folder()).string();
    for (size_t at = folder.find('%'); at != std::string::npos; at = folder.find('%', at + 2)) {
      folder.insert(at, 1, '%');
    }
    return (fs::path(folder) / "slurm" / name).string();
  }

  // Writes after each job, so that what is in the queue is known even if the next one is refused.
  void remember(const std::string& job) {
    last_.jobs.push_back(job);
    write_submitted(study_, last_);
  }

  std::string sbatch(const std::vector<std::string>& more,
                     const std::vector<std::string>& words) const {
    std::vector<std::string> arguments = {"sbatch", "--parsable", "--job-name=flightdeck-tune"};
    // This stands before the user's options, because the later one counts.
    const auto threads = study_.request().run_options.find("threads");
    if (threads != study_.request().run_options.end()) {
      arguments.push_back("--cpus-per-task=" + threads->second);
    }
    arguments.insert(arguments.end(), last_.options.begin(), last_.options.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string command = "exec " + shell_word(program_) + " tune " +
                                shell_word(fs::absolute(study_.folder()).string()) + " " +
                                joined(words, " ");
    arguments.push_back("--wrap=" + command);
    const std::string job = answer(arguments);
    return job.substr(0, job.find(';'));  // ";CLUSTER" may follow
  }

  const Study& study_;
  std::string program_;
  Submitted last_;
};

Submission submit_open(const Study& study,
                       const std::string& program,
                       const std::vector<std::string>& options,
                       const Submitted& last) {
  Submission submission;
  submission.queued = in_queue(last.jobs);
  const std::vector<int64_t> places = open_places(study);
  if (!submission.queued.empty() || places.empty()) return submission;
  return Submitter(study, program, options).submit(places);
}

FileLock only_submitter(const Study& study) {
  return FileLock::wait_for(path_in(study, "slurm.lock"));
}

}  // namespace

std::vector<JobArray> job_arrays(const std::vector<int64_t>& places, int64_t limit) {
  std::vector<JobArray> arrays;
  for (size_t k = 0; k < places.size();) {
    const int64_t begin = places[k];
    if (arrays.empty() || begin - arrays.back().offset >= limit) arrays.push_back({begin, "", 0});
    JobArray& array = arrays.back();
    int64_t end = begin;  // of a stretch without gaps
    while (k < places.size() && places[k] == end && end - array.offset < limit) ++k, ++end;
    array.count += static_cast<size_t>(end - begin);
    array.indices += (array.indices.empty() ? "" : ",") + std::to_string(begin - array.offset);
    if (end - begin > 1) array.indices += "-" + std::to_string(end - 1 - array.offset);
  }
  return arrays;
}

int64_t array_limit(const std::string& configuration) {
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, equals;
    int64_t value = 0;
    if (words >> name >> equals >> value && name == "MaxArraySize" && value > 0) return value;
  }
  return kUsualLimit;
}

Submission submit(const Study& study,
                  const std::string& program,
                  const std::vector<std::string>& options) {
  const FileLock lock = only_submitter(study);
  return submit_open(study, program, options, read_submitted(study));
}

Submission submit_next(const Study& study, const std::string& program) {
  const FileLock lock = only_submitter(study);
  const Submitted last = read_submitted(study);
  if (!open_places(study).empty() && progress_of(study) <= last.progress) {
    throw std::runtime_error("tune: " + std::to_string(open_places(study).size()) + " runs of " +
                             study.folder() +
                             " are open and the last jobs took none of them further; see the logs "
                             "in its runs/ and slurm/, then submit again");
  }
  return submit_open(study, program, last.options, last);
}

}  // namespace flightdeck::study
