// SPDX-License-Identifier: MIT
// What `flightdeck tune` prints: a bar on a terminal, lines elsewhere, JSON events for programs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "flightdeck/ending.h"
#include "study/estimate.h"
#include "study/execution.h"
#include "study/slurm.h"
#include "study/study.h"

namespace flightdeck::cli {

class TunePrinter {
 public:
  explicit TunePrinter(bool json);

  void start(const study::Study& study);
  // Tells the estimate for `jobs` runs at a time; `cost_per_hour` is that of each, 0: not asked
  // for.
  void estimate(const study::Estimate& estimate, int jobs, double cost_per_hour);
  void event(const study::RunEvent& event);
  void progress(const study::Progress& progress);
  void submitted(const study::Study& study, const study::Submission& submission);
  // Prints the table of what was found, and what is left to do. Without an ending it was only
  // planned.
  void end(const study::Study& study, std::optional<Ending> ending);

 private:
  void print(const std::string& line);
  void show(const study::Progress& progress);
  void clear_bar();

  bool json_, has_bar_, utf8_;
  bool bar_is_shown_ = false;
  study::Progress last_;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace flightdeck::cli
