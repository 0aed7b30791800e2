// SPDX-License-Identifier: MIT
// flightdeck analyze: what the runs of a comparison say about its optimizers.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>

#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/reports/analyze_summary.h"
#include "cli/text/next_commands.h"
#include "cli/text/quiet.h"
#include "cli/text/work_line.h"
#include "record/text.h"
#include "study/analysis/write.h"
#include "study/baselines.h"
#include "study/pack.h"
#include "suite/problem.h"

namespace flightdeck::cli {
namespace {

namespace fs = std::filesystem;

struct AnalyzeOptions {
  std::vector<std::string> studies, formats = study::analysis_formats(), targets;
  std::string out, metric = "test", curves = "mean", pack;
  bool has_no_baselines = false, is_apart = false, json = false;
};

std::vector<study::NamedStudy> read_all(const AnalyzeOptions& options,
                                        std::vector<std::string>& problems) {
  std::vector<study::NamedStudy> studies;
  bool has_any = false;
  WorkLine progress("analyze");
  for (size_t k = 0; k < options.studies.size(); ++k) {
    const std::string& path = options.studies[k];
    progress.show(
        static_cast<int64_t>(k), static_cast<int64_t>(options.studies.size()), "reading " + path);
    if (!fs::exists(path)) throw UsageError("analyze: there is no " + path);
    studies.push_back({path, study::find_outcomes(path, problems)});
    has_any = has_any || !studies.back().outcomes.empty();
    if (options.is_apart && studies.back().outcomes.empty()) {
      throw UsageError("analyze: no run in " + path + " has an outcome; leave it out");
    }
  }
  if (!has_any) {
    throw std::runtime_error("analyze: no run in " + joined(options.studies) + " has an outcome" +
                             (problems.empty() ? "" : "; " + problems.front()));
  }
  return studies;
}

std::vector<study::Outcome> joined_outcomes(const std::vector<study::NamedStudy>& studies) {
  std::vector<study::Outcome> outcomes;
  for (const study::NamedStudy& one : studies) {
    outcomes.insert(outcomes.end(), one.outcomes.begin(), one.outcomes.end());
  }
  return outcomes;
}

std::set<std::string> problems_of(const std::vector<study::Outcome>& outcomes) {
  std::set<std::string> names;
  for (const study::Outcome& outcome : outcomes) names.insert(outcome.setting.problem);
  return names;
}

std::map<std::string, double> targets_of(const AnalyzeOptions& options,
                                         const std::set<std::string>& problems) {
  std::map<std::string, double> targets;
  for (const std::string& text : options.targets) {
    const size_t equals = text.find('=');
    char* end = nullptr;
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0') {
      throw UsageError("analyze: --target " + text + " is not PROBLEM=VALUE (mnist_mlp=0.97)");
    }
    const std::string problem = text.substr(0, equals);
    check_name("problem of these runs", problem, {problems.begin(), problems.end()});
    targets[problem] = value;
  }
  return targets;
}

// Adds what the suite knows of the published comparison.
void add_benchmark(study::AnalysisOptions& request) {
  std::map<int64_t, std::string> places;
  for (const suite::Problem& problem : suite::all_problems()) {
    if (problem.benchmark_place > 0) places[problem.benchmark_place] = problem.name;
    if (problem.target) request.published_targets[problem.name] = *problem.target;
  }
  for (const auto& [place, name] : places) request.benchmark.push_back(name);
}

// Returns a folder beside the first study's runs, or beside the file if it is one.
std::string folder_of(const AnalyzeOptions& options) {
  if (!options.out.empty()) return options.out;
  const fs::path first = options.studies.front();
  return (fs::is_directory(first) ? first : first.parent_path()) / "analysis";
}

void pack(const AnalyzeOptions& options, const std::vector<study::Outcome>& outcomes) {
  const std::string lines = study::packed(outcomes);
  replace_file(options.pack, lines, Place::kGiven);
  if (!options.json && !is_quiet()) {
    std::cout << "packed " << outcomes.size() << " outcomes into " << options.pack << " ("
              << (lines.size() + 999) / 1000 << " kB)\n";
  }
}

// Names commands that look at the runs of the first folder; files of outcomes have none.
std::vector<std::string> commands_after(const std::vector<std::string>& studies) {
  for (const std::string& path : studies) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) continue;
    return {command_for("serve", path), command_for("runs", path)};
  }
  return {};
}

void analyze(const AnalyzeOptions& options) {
  for (const std::string& format : options.formats) {
    check_name("format", format, study::analysis_formats());
  }
  check_name("metric",
             options.metric,
             {"test", "valid", "train", "test_loss", "valid_loss", "train_loss"});
  check_name("kind of curves", options.curves, {"mean", "median"});
  if (options.is_apart && options.studies.size() < 2) {
    throw UsageError("analyze: --apart compares tunings that were repeated; give two studies");
  }
  std::vector<std::string> unreadable;
  const std::vector<study::NamedStudy> studies = read_all(options, unreadable);
  const std::vector<study::Outcome> outcomes = joined_outcomes(studies);
  const std::set<std::string> problems = problems_of(outcomes);
  study::AnalysisOptions request;
  const size_t loss = options.metric.find("_loss");
  request.part = study::part_of(options.metric.substr(0, loss));
  request.is_of_losses = loss != std::string::npos;
  request.has_median_curves = options.curves == "median";
  request.targets = targets_of(options, problems);
  add_benchmark(request);
  if (!options.pack.empty()) pack(options, outcomes);

  std::vector<study::Outcome> baselines;
  if (!options.has_no_baselines) baselines = study::baselines_of(problems);
  WorkLine progress("analyze");
  progress.show(0, 2, "comparing " + std::to_string(outcomes.size()) + " runs");
  study::Analysis analysis = options.is_apart ? study::analyze_apart(studies, baselines, request)
                                              : study::analyze(outcomes, baselines, request);
  if (analysis.trials.empty()) {
    throw std::runtime_error("analyze: none of the runs can be compared: " +
                             analysis.warnings.front());
  }
  analysis.warnings.insert(analysis.warnings.end(), unreadable.begin(), unreadable.end());
  progress.show(1, 2, "drawing and writing");
  const std::vector<std::string> files = study::write_analysis(
      analysis, folder_of(options), {options.formats.begin(), options.formats.end()});
  progress.clear();
  const std::vector<std::string> next = commands_after(options.studies);
  const std::string text = options.json ? analysis_json(analysis, files, next)
                           : is_quiet() ? folder_of(options) + "\n"
                                        : analysis_text(analysis, files, next);
  std::cout << record::printable(text, record::Lines::kKept);
}

void add_analyze(CLI::App* command) {
  const auto options = std::make_shared<AnalyzeOptions>();
  command
      ->add_option("STUDY",
                   options->studies,
                   "Folder of a study, folder of runs, or file with one outcome to a line; several "
                   "are joined")
      ->required();
  command->add_option("-o,--out", options->out, "Folder to write to; default is STUDY/analysis");
  command->add_option("--format", options->formats, "html, csv, latex; default is all")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--metric",
                      options->metric,
                      "Part of the data that performance is measured on: test, valid, train; with "
                      "_loss behind it by the loss, also where there is an accuracy");
  command->add_option("--curves",
                      options->curves,
                      "Learning curves as mean and deviation (default) or median and quartiles");
  command->add_flag("--apart",
                    options->is_apart,
                    "Keep the studies apart: the same tuning done again, and how far it moves");
  command
      ->add_option(
          "--target",
          options->targets,
          "PROBLEM=VALUE: convergence performance for speed and profiles (accuracy in [0, 1])")
      ->allow_extra_args(false);
  command->add_flag(
      "--no-baselines", options->has_no_baselines, "Leave out the runs that come with flightdeck");
  command->add_option(
      "--pack", options->pack, "Also write the outcomes to one small file of JSON lines");
  command->add_flag("--json", options->json, "Print the tables as JSON");
  command->footer(
      "Examples:\n"
      "  flightdeck analyze studies/first\n"
      "  flightdeck analyze runs --target mnist_mlp=0.97 --format html\n"
      "  flightdeck analyze studies/first studies/again --apart --curves median");
  command->callback([options] { analyze(*options); });
}

}  // namespace

Command analyze_command() {
  return {"analyze",
          "Compare the optimizers of a study: tables and figures as HTML, CSV and LaTeX.",
          80,
          &add_analyze};
}

}  // namespace flightdeck::cli
