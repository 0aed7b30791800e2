// SPDX-License-Identifier: MIT
// flightdeck bench launches: what a watched step asks of the device and of the host.
#include "cli/bench/launches.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/watched_cases.h"
#include "cli/command.h"
#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

struct LaunchesOptions {
  WatchedBenchOptions watched;
  size_t shown = 0;  // operations that are listed
};

std::string number(const std::optional<double>& value) {
  char text[32] = "-";
  if (value) std::snprintf(text, sizeof text, "%.1f", *value);
  return text;
}

void print_row(const std::string& name, const StepWork& work) {
  std::printf("  %-22s %10.1f %9s %9s %9s %9.3f %9.3f\n",
              name.c_str(),
              work.operations,
              number(work.kernels).c_str(),
              number(work.copies).c_str(),
              number(work.waits).c_str(),
              work.host_ms,
              work.ms);
}

// Returns what the watched step has beyond the plain one, the most frequent first.
std::vector<std::pair<std::string, double>> added_operations(const LaunchCounts& counts) {
  std::vector<std::pair<std::string, double>> added;
  for (const auto& [name, count] : counts.watched.by_operation) {
    const auto plain = counts.plain.by_operation.find(name);
    added.emplace_back(name,
                       count - (plain == counts.plain.by_operation.end() ? 0 : plain->second));
  }
  std::sort(added.begin(), added.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return added;
}

Json json_of(const StepWork& work) {
  const auto maybe = [](const std::optional<double>& value) {
    return value ? Json(measured(*value)) : Json();
  };
  return Json::object()
      .field("operations", measured(work.operations))
      .field("kernels", maybe(work.kernels))
      .field("copies", maybe(work.copies))
      .field("waits", maybe(work.waits))
      .field("host_ms", measured(work.host_ms))
      .field("ms", measured(work.ms));
}

void print(const LaunchesOptions& options,
           const std::string& problem,
           const WatchedCase& one,
           const LaunchCounts& counts,
           bool is_first) {
  const std::string name = one.preset == "none" ? one.quantity : one.preset;
  const auto added = added_operations(counts);
  const size_t shown = std::min(options.shown, added.size());
  if (options.watched.json) {
    Json object = Json::object();
    object.field("bench", "launches")
        .field("problem", problem)
        .field("device", options.watched.device)
        .field("preset", one.preset)
        .field("quantity", one.quantity)
        .field("plain", json_of(counts.plain))
        .field("watched", json_of(counts.watched));
    Json operations = Json::object();
    for (size_t k = 0; k < shown; ++k) operations.field(added[k].first, measured(added[k].second));
    if (shown > 0) object.field("added", operations);
    std::printf("%s\n", object.text().c_str());
    return;
  }
  if (is_first) print_row("plain", counts.plain);
  print_row(name, counts.watched);
  for (size_t k = 0; k < shown; ++k) {
    std::printf("      %8.1f  %s\n", added[k].second, added[k].first.c_str());
  }
}

void run_all(LaunchesOptions& options) {
  prepare_watched_bench("bench launches", options.watched);
  for (const std::string& problem : options.watched.problems) {
    if (!options.watched.json) {
      std::printf("%s on %s, every %ld, per step\n  %-22s %10s %9s %9s %9s %9s %9s\n",
                  problem.c_str(),
                  options.watched.device.c_str(),
                  static_cast<long>(options.watched.overhead.interval),
                  "tracked",
                  "operations",
                  "kernels",
                  "copies",
                  "waits",
                  "host ms",
                  "ms");
    }
    const OverheadOptions chosen = for_problem(options.watched, problem);
    bool is_first = true;
    for (const WatchedCase& one : chosen_cases(options.watched)) {
      print(options, problem, one, count_launches(chosen, one.quantities), is_first);
      std::fflush(stdout);
      is_first = false;
    }
  }
}

void add_bench_launches(CLI::App* command) {
  const auto options = std::make_shared<LaunchesOptions>();
  OverheadOptions& overhead = options->watched.overhead;
  add_watched_bench_options(*command, options->watched);
  command->add_option("--operations", options->shown, "How many added operations are listed")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--repeats", overhead.blocks, "Counted blocks; default 15")
      ->check(CLI::PositiveNumber);
  command->add_option("--warm-up", overhead.warm_up, "Blocks before those; default 3")
      ->check(CLI::NonNegativeNumber);
  command->callback([options] { run_all(*options); });
}

}  // namespace

Command bench_launches_command() {
  return {
      "launches",
      "Count what a step asks of the host and the device, plain and under a cockpit: operations, "
      "kernels, copies, waits, and the time until the host is free again.",
      35,
      &add_bench_launches};
}

}  // namespace flightdeck::cli
