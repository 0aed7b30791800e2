// SPDX-License-Identifier: MIT
// Works a study off with Slurm: the open runs as job arrays, and behind them a job that plans what
// follows and submits again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/study.h"

namespace flightdeck::study {

// A job array: the task with index i does the run at place offset + i of the plan.
struct JobArray {
  int64_t offset = 0;
  std::string indices;  // "0-7,9"
  size_t count = 0;
};

// Makes arrays for these places, which ascend, with indices below `limit`.
std::vector<JobArray> job_arrays(const std::vector<int64_t>& places, int64_t limit);

// Finds MaxArraySize in what `scontrol show config` prints; 1000 if it is not there.
int64_t array_limit(const std::string& configuration);

struct Submission {
  std::vector<std::string> jobs;    // ids
  size_t runs = 0;                  // submitted; 0: nothing is left, or see `queued`
  std::vector<std::string> queued;  // jobs of an earlier submission that are not done
};

// Submits what is open in the study. Nothing is submitted while an earlier submission has jobs in
// the queue. Throws std::runtime_error with Slurm's words if it refuses, or if there is no Slurm.
// `program` is how a job calls this one; `options` are passed on to sbatch.
Submission submit(const Study& study,
                  const std::string& program,
                  const std::vector<std::string>& options);

// Does the same from the job that a submission puts behind its arrays. Throws std::runtime_error if
// they came to nothing: else a run that fails would be submitted for ever.
Submission submit_next(const Study& study, const std::string& program);

}  // namespace flightdeck::study
