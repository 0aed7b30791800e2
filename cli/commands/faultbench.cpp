// SPDX-License-Identifier: MIT
// flightdeck faultbench: injects faults into trainings and counts how often diagnoses are right.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/terminal.h"
#include "cli/text/work_line.h"
#include "run/fault_bench.h"

namespace flightdeck::cli {
namespace {

struct FaultBenchWords {
  std::vector<std::string> faults, files, problems;
  std::string split = "test";
  bool json = false, matrix = false, faulty_only = false;
  run::FaultBenchOptions bench;
};

std::string percent_of_runs(int64_t part, int64_t all) {
  if (all == 0) return "-";
  return std::to_string(std::lround(100.0 * static_cast<double>(part) / static_cast<double>(all))) +
         " %";
}

void print_score(const std::string& name, const run::FaultScore& score, size_t width) {
  const std::string found =
      score.median_found_at < 0 ? "-" : std::to_string(std::lround(score.median_found_at));
  std::printf("%s %5lld %9s %7s %7s %6s\n",
              pad_right(name, width).c_str(),
              static_cast<long long>(score.runs),
              percent_of_runs(score.detected, score.runs).c_str(),
              percent_of_runs(score.first, score.runs).c_str(),
              percent_of_runs(score.among_three, score.runs).c_str(),
              found.c_str());
}

void print_scores(const std::string& title, const std::map<std::string, run::FaultScore>& scores) {
  size_t width = title.size();
  for (const auto& [name, score] : scores) width = std::max(width, name.size());
  std::printf("\n%s %5s %9s %7s %7s %6s\n",
              pad_right(title, width).c_str(),
              "runs",
              "detected",
              "first",
              "three",
              "steps");
  for (const auto& [name, score] : scores) print_score(name, score, width);
}

void print_confusion(const run::FaultBenchResult& result) {
  std::printf("\ncause and what was said\n");
  for (const auto& [cause, said] : result.confusion()) {
    std::string text;
    for (const auto& [name, count] : said) {
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    std::printf("  %s: %s\n", cause.c_str(), text.c_str());
  }
}

void print_bench(const run::FaultBenchResult& result, const FaultBenchWords& options) {
  const run::FaultScore total = result.total();
  print_scores("fault", result.by_fault());
  print_scores("problem", result.by_subject());
  if (options.matrix) print_confusion(result);
  std::printf("\nfaulty runs  %lld: detected %s, cause first %s, among three %s\n",
              static_cast<long long>(total.runs),
              percent_of_runs(total.detected, total.runs).c_str(),
              percent_of_runs(total.first, total.runs).c_str(),
              percent_of_runs(total.among_three, total.runs).c_str());
  std::printf("healthy runs %lld: a lamp of severity warning or more in %lld, called faulty %lld\n",
              static_cast<long long>(result.healthy_runs()),
              static_cast<long long>(result.healthy_with_alarm()),
              static_cast<long long>(result.healthy_called_faulty()));
  std::printf("time         %s\n", duration(result.seconds()).c_str());
}

Json json_of(const run::FaultScore& score) {
  return Json::object()
      .field("runs", score.runs)
      .field("detected", score.detected)
      .field("first", score.first)
      .field("among_three", score.among_three)
      .field("median_found_at", measured(score.median_found_at));
}

Json json_of(const run::FaultCase& one) {
  Json lamps = Json::object();
  for (const auto& [name, severity] : one.lamps) lamps.field(name, to_string(severity));
  return Json::object()
      .field("problem", one.subject)
      .field("optimizer", one.optimizer)
      .field("fault", one.fault)
      .field("cause", one.cause)
      .field("severity", one.severity)
      .field("rate_share", one.rate_share)
      .field("seed", static_cast<int64_t>(one.seed))
      .field("verdict", to_string(one.verdict))
      .field("causes", one.causes)
      .field("lamps", lamps)
      .field("detected", one.is_detected())
      .field("first", one.is_first())
      .field("among_three", one.is_among_three())
      .field("found_at", one.found_at)
      .field("steps", one.steps)
      .field("first_loss", measured(one.first_loss))
      .field("last_loss", measured(one.last_loss))
      .field("seconds", measured(one.seconds));
}

void print_bench_json(const run::FaultBenchResult& result, const FaultBenchWords& options) {
  Json by_fault = Json::object(), by_problem = Json::object(), cases = Json::array();
  for (const auto& [name, score] : result.by_fault()) by_fault.field(name, json_of(score));
  for (const auto& [name, score] : result.by_subject()) by_problem.field(name, json_of(score));
  for (const run::FaultCase& one : result.cases) cases.add(json_of(one));
  std::printf("%s\n",
              Json::object()
                  .field("split", options.split)
                  .field("total", json_of(result.total()))
                  .field("healthy_runs", result.healthy_runs())
                  .field("healthy_with_alarm", result.healthy_with_alarm())
                  .field("healthy_called_faulty", result.healthy_called_faulty())
                  .field("by_fault", by_fault)
                  .field("by_problem", by_problem)
                  .field("confusion", result.confusion())
                  .field("lamp_rates", result.lamp_rates())
                  .field("cases", cases)
                  .field("seconds", measured(result.seconds()))
                  .text()
                  .c_str());
}

void run_faultbench(FaultBenchWords& options) {
  read_arguments("faultbench", [&] {
    for (const std::string& name : options.faults) {
      options.bench.faults.push_back(run::find_fault(name));
    }
    for (const std::string& path : options.files) {
      options.bench.faults.push_back(run::read_fault(path));
    }
    for (const std::string& name : options.problems) {
      options.bench.subjects.push_back(run::find_subject(name));
    }
  });
  options.bench.split = options.split == "tune" ? run::Split::kTune : run::Split::kTest;
  options.bench.has_healthy = !options.faulty_only;
  WorkLine line("faultbench");
  int64_t done = 0;
  options.bench.on_progress = [&](const std::string& text) { line.show(++done, 0, text); };
  const run::FaultBenchResult result = run::run_fault_bench(options.bench);
  line.clear();
  if (options.json) {
    print_bench_json(result, options);
  } else {
    print_bench(result, options);
  }
}

void add_faultbench(CLI::App* command) {
  const auto options = std::make_shared<FaultBenchWords>();
  command->add_option("--fault", options->faults, "Only this; repeatable")->allow_extra_args(false);
  command
      ->add_option("--fault-file",
                   options->files,
                   "A fault of your own: a file of lines key = value; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--problem", options->problems, "Only this one of FaultBench or of the suite; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--split", options->split, "tune: that thresholds are settled on, or test; default test")
      ->check(CLI::IsMember({"tune", "test"}));
  command->add_option("--seeds", options->bench.seeds, "Runs of each kind; default 5")
      ->check(CLI::PositiveNumber);
  command->add_flag("--quick", options->bench.quick, "One run for each fault: a look, no score");
  command->add_flag("--faulty-only", options->faulty_only, "Leave out healthy runs");
  command->add_flag("--matrix", options->matrix, "Print what was said of each cause");
  command->add_option("--keep", options->bench.folder, "Folder to keep the records in");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Trains small networks with a fault injected, and healthy ones, diagnoses every record, and\n"
      "counts: something found wrong, the right cause first, or among three, steps until then.\n"
      "Examples:\n"
      "  flightdeck faultbench --quick\n"
      "  flightdeck faultbench --fault softmax_twice --problem waves_mlp --seeds 2\n"
      "  flightdeck faultbench --split test --matrix");
  command->callback([options] { run_faultbench(*options); });
}

}  // namespace

Command faultbench_command() {
  return {
      "faultbench", "Inject faults into trainings and score the diagnoses.", 185, &add_faultbench};
}

}  // namespace flightdeck::cli
