// SPDX-License-Identifier: MIT
// flightdeck bench first-order: what a quantity costs beside the plain gradient.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <torch/torch.h>

#include "cli/blas.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/first_order.h"
#include "cli/json.h"
#include "cli/processor.h"

namespace flightdeck::cli {
namespace {

struct Options {
  std::string problem = "cifar10_3c3d";
  int64_t batch = 0;  // 0: the problem's customary batch size
  int threads = 0;    // 0: one per core
  std::string device = "cpu";
  std::vector<std::string> quantities;
  std::string path = "gradients";
  int repeats = 15;
  int warm_up = 3;
  bool json = false;
  bool progress = false;
};

template <typename Entries>
std::string names_of(const Entries& entries) {
  std::string names;
  for (const auto& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

std::vector<suite::Net> chosen_problems(const std::string& name) {
  if (name == "all") return suite::all_nets();
  for (const suite::Net& net : suite::all_nets()) {
    if (net.name == name) return {net};
  }
  throw UsageError("bench first-order: there is no problem '" + name + "'; choose one of " +
                   names_of(suite::all_nets()) + ", or all");
}

std::vector<FirstOrderQuantity> chosen_quantities(const std::vector<std::string>& names) {
  const std::vector<FirstOrderQuantity>& all = first_order_quantities();
  if (names.empty()) return all;
  std::vector<FirstOrderQuantity> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const auto& quantity) { return quantity.name == name; });
    if (found == all.end()) {
      throw UsageError("bench first-order: there is no quantity '" + name + "'; choose from " +
                       names_of(all));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

FirstOrderPath chosen_path(const std::string& name) {
  if (name == "gradients") return FirstOrderPath::kGradients;
  if (name == "watch") return FirstOrderPath::kWatch;
  if (name == "watch-reuse") return FirstOrderPath::kWatchReuse;
  throw UsageError("bench first-order: there is no path '" + name +
                   "'; choose one of gradients, watch, watch-reuse");
}

void check_at_least(const char* option, int64_t value, int64_t least, const char* remedy) {
  if (value >= least) return;
  throw UsageError("bench first-order: " + std::string(option) + " is " + std::to_string(value) +
                   " but must be at least " + std::to_string(least) + "; " + remedy);
}

at::Device chosen_device(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  if (name != "cuda") {
    throw UsageError("bench first-order: there is no device '" + name +
                     "'; choose one of cpu, cuda");
  }
  TORCH_CHECK(torch::cuda::is_available(),
              "bench first-order: --device is cuda but LibTorch " TORCH_VERSION
              " sees no CUDA device; use --device cpu, or a LibTorch built with CUDA on a machine "
              "with a GPU and its driver");
  return at::Device(at::kCUDA, 0);
}

// A result with what it belongs to.
struct Line {
  std::string bench, problem, device;
  int64_t batch = 0;
  int threads = 0;
  std::string blas, quantity;
  FirstOrderResult result;
};

std::string json(const Line& line) {
  return JsonObject()
      .field("bench", line.bench)
      .field("problem", line.problem)
      .field("device", line.device)
      .field("batch", line.batch)
      .field("threads", line.threads)
      .field("blas", line.blas)
      .field("quantity", line.quantity)
      .field("plain_ms", line.result.plain_ms)
      .field("ms", line.result.ms)
      .field("ratio", line.result.ratio)
      .field("peak_mb", line.result.peak_mb.value_or(std::nan("")))
      .text();
}

void print_heading(const Line& line) {
  std::printf("%s on %s, batch %lld, %d threads, %s\n",
              line.problem.c_str(),
              line.device.c_str(),
              static_cast<long long>(line.batch),
              line.threads,
              line.blas.c_str());
  std::printf("  %-22s %10s %10s %8s %10s\n", "quantity", "plain ms", "ms", "ratio", "peak MB");
}

void print_row(const Line& line) {
  const FirstOrderResult& result = line.result;
  char peak[32] = "-";
  if (result.peak_mb) std::snprintf(peak, sizeof peak, "%+.1f", *result.peak_mb);
  std::printf("  %-22s %10.3f %10.3f %8.2f %10s\n",
              line.quantity.c_str(),
              result.plain_ms,
              result.ms,
              result.ratio,
              peak);
}

// One line on the terminal that is overwritten while measuring.
class Progress {
 public:
  explicit Progress(bool is_shown) : is_shown_(is_shown) {}

  void show(const std::string& text) {
    if (is_shown_) std::cerr << "\r\033[K" << text << std::flush;
  }
  void clear() { show(""); }

 private:
  bool is_shown_;
};

void warn_about_kept_threads(int threads) {
  const Blas found = blas();
  if (found.threads == 0 || found.threads == threads) return;
  std::cerr << "flightdeck: BLAS uses " << found.threads << " threads but --threads is " << threads
            << "; unset OPENBLAS_NUM_THREADS and OMP_NUM_THREADS to let the tool choose\n";
}

// Puts threads, memory and precision right for timing; returns only in the process that measures.
void prepare_process(int threads) {
  restart_with_wanted_variables(threads);
  keep_freed_memory();
  at::set_num_threads(threads);
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  warn_about_kept_threads(threads);
}

void print(const Line& line, bool as_json) {
  if (as_json) {
    std::printf("%s\n", json(line).c_str());
  } else {
    print_row(line);
  }
  std::fflush(stdout);
}

void run(const Options& options) {
  const std::vector<suite::Net> problems = chosen_problems(options.problem);
  const std::vector<FirstOrderQuantity> quantities = chosen_quantities(options.quantities);
  const FirstOrderPath path = chosen_path(options.path);
  const at::Device device = chosen_device(options.device);
  const int threads = options.threads > 0 ? options.threads : core_count();
  prepare_process(threads);

  Progress progress(options.progress || isatty(STDERR_FILENO) != 0);
  Line line;
  line.bench = options.path == "gradients" ? "first-order" : "first-order-" + options.path;
  line.device = options.device;
  line.threads = threads;
  line.blas = blas().description();
  for (const suite::Net& problem : problems) {
    line.problem = problem.name;
    line.batch = options.batch > 0 ? options.batch : problem.batch_size;
    if (!options.json) print_heading(line);
    FirstOrderBench bench(problem, line.batch, device, path);
    for (const FirstOrderQuantity& quantity : quantities) {
      line.quantity = quantity.name;
      const std::string what = problem.name + " " + quantity.name + ": ";
      progress.show(what + "checking");
      line.result = bench.measure(quantity, options.warm_up, options.repeats, [&](int round) {
        progress.show(what + (round < 0 ? "warming up"
                                        : "round " + std::to_string(round + 1) + " of " +
                                              std::to_string(options.repeats)));
      });
      progress.clear();
      print(line, options.json);
    }
  }
}

}  // namespace

void add_bench_first_order(CLI::App& bench) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand(
      "first-order",
      "Time quantities of the individual gradients against the plain gradient (forward, mean loss, "
      "backward) of the same batch, in turn in one process. Every candidate delivers the mean "
      "gradient too.");
  command->add_option(
      "--problem",
      options->problem,
      "One of " + names_of(suite::all_nets()) + ", or all; default " + options->problem);
  CLI::Option* batch =
      command->add_option("--batch", options->batch, "Samples; default is the problem's own");
  CLI::Option* threads =
      command->add_option("--threads", options->threads, "CPU threads; default is one per core");
  command->add_option("--device", options->device, "cpu or cuda; default cpu");
  command->add_option("--quantity",
                      options->quantities,
                      "One or more of " + names_of(first_order_quantities()) + "; default all");
  command->add_option("--path",
                      options->path,
                      "gradients (a pass of its own; the default), watch (beside backward()) or "
                      "watch-reuse (and spare PyTorch the gradients the engine has)");
  command->add_option("--repeats", options->repeats, "Timed rounds; default 15");
  command->add_option("--warm-up", options->warm_up, "Rounds before those; default 3");
  command->add_flag("--json", options->json, "Print one JSON object per line");
  command->add_flag(
      "--progress", options->progress, "Show progress on stderr even where it is not a terminal");
  command->callback([options, batch, threads] {
    if (batch->count() > 0) check_at_least("--batch", options->batch, 1, "try --batch 128");
    if (threads->count() > 0) check_at_least("--threads", options->threads, 1, "try --threads 1");
    check_at_least("--repeats", options->repeats, 1, "leave it out for 15");
    check_at_least("--warm-up", options->warm_up, 0, "leave it out for 3");
    run(*options);
  });
}

}  // namespace flightdeck::cli
