// SPDX-License-Identifier: MIT
// Experiments: findings of the papers as commands. Entries live in experiments/, one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <c10/core/Device.h>

#include "run/table.h"
#include "study/figure.h"

namespace flightdeck::run {

struct ExperimentOptions {
  bool quick = false;      ///< test-sized: seconds instead of minutes
  bool published = false;  ///< as long as published, where the default is not: hours or days
  bool synthetic = false;  ///< generated data even where files are found
  uint64_t seed = 42;
  /// Chosen sizes of experiments that allow it, also beside `published`; 0: as the experiment has
  /// it.
  int64_t steps = 0, seeds = 0, samples = 0;
  c10::Device device = c10::kCPU;  ///< of what is trained; what measures time is for the CPU
  /// Where runs are recorded whose screens belong to the finding, a folder for each. Empty:
  /// experiments that show screens are refused.
  std::string folder;
  /// Returns the most bytes of tensor memory on the CPU that work held, beyond what was held
  /// before; nothing if it cannot be counted. Empty: experiments about memory are refused.
  std::function<std::optional<int64_t>(const std::function<void()>& work)> peak_bytes;
  std::function<void(const std::string&)> on_progress = [](const std::string&) {};

  int64_t steps_or(int64_t own) const { return steps > 0 ? steps : own; }
};

/// A number that the verdict rests on, beside what was published.
struct Compared {
  std::string what;
  double here = 0;
  std::string published;  ///< a number, or what the text says where it gives none
};

using Picture = std::variant<study::Figure, study::Heatmap>;

struct ExperimentResult {
  explicit ExperimentResult(std::vector<std::string> columns) : table(std::move(columns)) {}

  Table table;                              ///< small: what the finding is read from
  std::map<std::string, Table> figures;     ///< data of the figure, by name of the file
  std::map<std::string, Picture> pictures;  ///< the figure itself, by name of the file
  std::map<std::string, std::string> runs;  ///< folders of recorded runs, by what is trained
  std::vector<Compared> compared;           ///< what `holds` was decided by
  std::vector<std::string> data;            ///< problems and where their data come from
  bool is_synthetic = false;                ///< generated data stand in for files
  bool holds = false;                       ///< the papers' finding shows in these numbers
  std::string finding;                      ///< one sentence with the numbers, either way
};

/// Sizes that can be chosen: steps of each training, repeats, samples of the training part.
enum class Size { kSteps, kSeeds, kSamples };

struct Experiment {
  std::string name, summary;
  std::string reference;  ///< section of the thesis
  std::function<ExperimentResult(const ExperimentOptions&)> run;
  std::set<Size> sizes = {};
  std::string published = "";  ///< what `options.published` is; empty: no more than the default
};

/// Throws on sizes that the experiment does not have, that are negative or that exclude each other.
void check_sizes(const Experiment& experiment, const ExperimentOptions& options);

/// Runs the experiment, and names its size among the data where it is not the default.
ExperimentResult repeated(const Experiment& experiment, const ExperimentOptions& options);

/// Returns all entries, by name.
const std::vector<Experiment>& all_experiments();

}  // namespace flightdeck::run
