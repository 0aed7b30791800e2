// SPDX-License-Identifier: MIT
// flightdeck faultbench: injects faults into trainings and counts how often diagnoses are right.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/shown_number.h"
#include "cli/command.h"
#include "cli/machine/environment.h"
#include "cli/options/errors.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/terminal.h"
#include "cli/text/work_line.h"
#include "flightdeck/quantity.h"
#include "run/fault_bench.h"
#include "study/child.h"

namespace flightdeck::cli {
namespace {

struct FaultBenchWords {
  std::vector<std::string> faults, files, problems;
  std::string split = "test", preset, track, keep, part;
  int64_t interval = 0;  // 0: not given
  bool json = false, matrix = false, faulty_only = false;
  int jobs = 1;
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
  std::printf("%s %5lld %8lld %9s %7s %7s %6s %7s\n",
              pad_right(name, width).c_str(),
              static_cast<long long>(score.runs),
              static_cast<long long>(score.harmless),
              percent_of_runs(score.detected, score.runs).c_str(),
              percent_of_runs(score.first, score.runs).c_str(),
              percent_of_runs(score.among_three, score.runs).c_str(),
              found.c_str(),
              percent_of_runs(score.mended, score.followed).c_str());
}

void print_scores(const std::string& title, const std::map<std::string, run::FaultScore>& scores) {
  size_t width = title.size();
  for (const auto& [name, score] : scores) width = std::max(width, name.size());
  std::printf("\n%s %5s %8s %9s %7s %7s %6s %7s\n",
              pad_right(title, width).c_str(),
              "runs",
              "harmless",
              "detected",
              "first",
              "three",
              "steps",
              "mended");
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
  if (total.harmless > 0) {
    std::printf(
        "harmless     %lld: settings whose trainings end as well as healthy ones, left out\n",
        static_cast<long long>(total.harmless));
  }
  if (total.followed > 0) {
    std::printf(
        "advice       followed in %lld harmed runs: mended %s, at once %s, without a person %s\n",
        static_cast<long long>(total.followed),
        percent_of_runs(total.mended, total.followed).c_str(),
        percent_of_runs(total.mended_at_once, total.followed).c_str(),
        percent_of_runs(total.mended_alone, total.followed).c_str());
  }
  std::printf("healthy runs %lld: a lamp of severity warning or more in %lld, called faulty %lld\n",
              static_cast<long long>(result.healthy_runs()),
              static_cast<long long>(result.healthy_with_alarm()),
              static_cast<long long>(result.healthy_called_faulty()));
  if (const double cost = result.watching_cost(); cost > 0) {
    std::printf("cost         healthy trainings take %s times as long under the cockpit\n",
                short_number(cost).c_str());
  }
  std::printf("time         %s\n", duration(result.seconds()).c_str());
}

Json json_of(const run::FaultScore& score) {
  return Json::object()
      .field("runs", score.runs)
      .field("detected", score.detected)
      .field("first", score.first)
      .field("among_three", score.among_three)
      .field("median_found_at", measured(score.median_found_at))
      .field("harmless", score.harmless)
      .field("followed", score.followed)
      .field("mended", score.mended)
      .field("mended_at_once", score.mended_at_once)
      .field("mended_alone", score.mended_alone);
}

Json json_of(const run::FaultCase& one) {
  Json lamps = Json::object();
  for (const auto& [name, severity] : one.lamps) lamps.field(name, to_string(severity));
  Json json = Json::object()
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
                  .field("accuracy", measured(one.accuracy))
                  .field("healthy_accuracy", measured(one.healthy_accuracy))
                  .field("scored", one.is_scored())
                  .field("harmed", one.is_harmed())
                  .field("seconds", measured(one.seconds))
                  .field("watched_seconds", measured(one.watched_seconds))
                  .field("plain_seconds", measured(one.plain_seconds));
  if (!one.is_followed) return json;
  return json.field("followed",
                    Json::object()
                        .field("rounds", one.followed.rounds)
                        .field("changes", one.followed.changes)
                        .field("by_hand", one.followed.is_by_hand)
                        .field("accuracy", measured(one.followed.accuracy))
                        .field("first_accuracy", measured(one.followed.first_accuracy))
                        .field("mended", one.is_mended()));
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
                  .field("watching_cost", measured(result.watching_cost()))
                  .field("seconds", measured(result.seconds()))
                  .text()
                  .c_str());
}

// ---- several processes --------------------------------------------------------------------------

// Returns the words of this command for one of several processes.
std::vector<std::string> words_of_part(const FaultBenchWords& options,
                                       const std::string& folder,
                                       int part) {
  std::vector<std::string> words = {this_program(), "faultbench", "--quiet", "--json"};
  const auto add = [&](const std::string& name, const std::string& value) {
    words.push_back(name);
    words.push_back(value);
  };
  for (const std::string& fault : options.faults) add("--fault", fault);
  for (const std::string& file : options.files) add("--fault-file", file);
  for (const std::string& problem : options.problems) add("--problem", problem);
  add("--split", options.split);
  add("--seeds", std::to_string(options.bench.seeds));
  add("--track", options.bench.due.text());
  if (options.bench.steps > 0) add("--steps", std::to_string(options.bench.steps));
  if (!options.preset.empty()) add("--preset", options.preset);
  if (options.bench.quick) words.emplace_back("--quick");
  if (options.faulty_only) words.emplace_back("--faulty-only");
  if (options.bench.follows) words.emplace_back("--follow");
  add(options.bench.keeps_records ? "--keep" : "--out", folder);
  add("--part", std::to_string(part) + "/" + std::to_string(options.jobs));
  return words;
}

// Runs the parts beside one another, and returns when all of them have ended.
void run_parts(const FaultBenchWords& options, const std::string& folder) {
  std::vector<std::pair<pid_t, std::string>> children;
  for (int part = 0; part < options.jobs; ++part) {
    const std::string log = folder + "/part-" + std::to_string(part) + ".txt";
    std::error_code ignored;
    std::filesystem::remove(log, ignored);
    children.emplace_back(
        study::start_child(words_of_part(options, folder, part),
                           log,
                           [] { ::setenv("OMP_NUM_THREADS", "1", /*overwrite=*/0); }),
        log);
  }
  WorkLine line("faultbench");
  while (!children.empty()) {
    for (size_t k = 0; k < children.size();) {
      const std::optional<std::string> ending = study::ending_of(children[k].first);
      if (!ending) {
        ++k;
        continue;
      }
      if (*ending != "exit status 0") {
        throw std::runtime_error("faultbench: one of the processes ended with " + *ending + ":\n" +
                                 study::last_lines(children[k].second, 5));
      }
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(k));
    }
    line.show(static_cast<int64_t>(run::read_cases(folder).size()), 0, "runs are done");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

// Reads "1/4" as the second of four.
void read_part(FaultBenchWords& options) {
  if (options.part.empty()) return;
  const size_t slash = options.part.find('/');
  try {
    options.bench.part = std::stoll(options.part);
    options.bench.parts =
        slash == std::string::npos ? 0 : std::stoll(options.part.substr(slash + 1));
  } catch (const std::exception&) {
    options.bench.parts = 0;
  }
  if (options.bench.part < 0 || options.bench.part >= options.bench.parts) {
    throw UsageError("faultbench: --part is '" + options.part +
                     "'; write part/parts, such as 0/4 for the first of four parts");
  }
}

DueSteps tracked_steps(const FaultBenchWords& options) {
  if (options.track.empty()) return DueSteps::every(std::max<int64_t>(1, options.interval));
  if (options.interval > 0) {
    throw UsageError("--interval and --track exclude each other; give one of them");
  }
  if (options.track != "own") return DueSteps::parse(options.track);
  if (options.preset.empty()) {
    throw UsageError("--track own is of a preset, and none is named; add --preset");
  }
  return find_preset(options.preset).due.value_or(DueSteps());
}

void read_words(FaultBenchWords& options) {
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
    options.bench.due = tracked_steps(options);
    if (options.preset.empty()) return;
    for (const Quantity& quantity : preset(options.preset)) {
      options.bench.quantities.push_back(quantity.name());
    }
  });
  read_part(options);
  for (const run::Split split : {run::Split::kTune, run::Split::kTest, run::Split::kFinal}) {
    if (options.split == run::to_string(split)) options.bench.split = split;
  }
  options.bench.has_healthy = !options.faulty_only;
  if (!options.keep.empty() && !options.bench.folder.empty()) {
    throw UsageError("faultbench: --keep and --out both name a folder; give one of them");
  }
  options.bench.keeps_records = !options.keep.empty();
  if (options.bench.keeps_records) options.bench.folder = options.keep;
}

// A folder for the processes to write to, if nobody named one.
class SharedFolder {
 public:
  explicit SharedFolder(const std::string& given) : path_(given), is_given_(!given.empty()) {
    if (!is_given_) {
      path_ = (std::filesystem::temp_directory_path() / "flightdeck-faultbench-XXXXXX").string();
      if (mkdtemp(path_.data()) == nullptr) {
        throw std::runtime_error("faultbench: cannot make the folder " + path_ +
                                 "; name one with --out");
      }
    }
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) {
      throw std::runtime_error("faultbench: cannot make the folder " + path_ + " (" +
                               error.message() + "); choose another one");
    }
  }
  ~SharedFolder() {
    std::error_code ignored;
    if (!is_given_) std::filesystem::remove_all(path_, ignored);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_given_;
};

void run_faultbench(FaultBenchWords& options) {
  read_words(options);
  run::FaultBenchResult result;
  if (options.jobs > 1 && !options.bench.only_diagnoses) {
    const SharedFolder folder(options.bench.folder);
    run_parts(options, folder.path());
    // All cases are in the folder now; the bench takes those that the words ask for from there.
    options.bench.folder = folder.path();
    result = run::run_fault_bench(options.bench);
  } else {
    WorkLine line("faultbench");
    options.bench.on_progress = [&](int64_t done, int64_t of, const std::string& text) {
      line.show(done, of, text);
    };
    result = run::run_fault_bench(options.bench);
  }
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
      ->add_option("--split",
                   options->split,
                   "tune: that thresholds are settled on, test or final; default test")
      ->check(CLI::IsMember({"tune", "test", "final"}));
  command->add_option("--seeds", options->bench.seeds, "Runs of each kind; default 5")
      ->check(CLI::PositiveNumber);
  command->add_flag("--quick", options->bench.quick, "One run for each fault: a look, no score");
  command->add_flag("--faulty-only", options->faulty_only, "Leave out healthy runs");
  command->add_flag("--matrix", options->matrix, "Print what was said of each cause");
  command->add_flag("--follow",
                    options->bench.follows,
                    "Change harmed trainings as the diagnosis advises, and train again");
  command->add_option("--preset", options->preset, "Track this; default: all that lamps read");
  command->add_option("--interval", options->interval, "Steps between tracked ones; default 1")
      ->check(CLI::PositiveNumber);
  command->add_option(
      "--track",
      options->track,
      "Instead: steps in words as run takes them, or own: those that --preset is meant for");
  command->add_option("--steps", options->bench.steps, "Of a training without a fault; default 100")
      ->check(CLI::PositiveNumber);
  command->add_option("--jobs", options->jobs, "Processes beside one another; default 1")
      ->check(CLI::Range(1, 256));
  command->add_option(
      "--out", options->bench.folder, "Folder for results; cases that it has are not run again");
  command->add_option("--keep", options->keep, "The same, and the records are kept there");
  command->add_flag("--again",
                    options->bench.only_diagnoses,
                    "Diagnose the records that --keep has kept, without training");
  command->add_option(
      "--part", options->part, "Of the cases, such as 0/4: the first of four parts");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Trains small networks with a fault injected, and healthy ones, diagnoses every record, and\n"
      "counts: something found wrong, the right cause first, or among three, steps until then.\n"
      "Examples:\n"
      "  flightdeck faultbench --quick\n"
      "  flightdeck faultbench --fault softmax_twice --problem waves_mlp --seeds 2\n"
      "  flightdeck faultbench --split test --matrix\n"
      "  flightdeck faultbench --follow --seeds 2 --jobs 2 --out bench    # goes on after Ctrl-C");
  command->callback([options] { run_faultbench(*options); });
}

}  // namespace

Command faultbench_command() {
  return {
      "faultbench", "Inject faults into trainings and score the diagnoses.", 185, &add_faultbench};
}

}  // namespace flightdeck::cli
