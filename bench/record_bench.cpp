// SPDX-License-Identifier: MIT
// What recording costs, and what a dashboard's questions to a long run and to many runs cost. The
// long run (RECORD_BENCH_STEPS steps of 20 numbers, one million unless set) is made first.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>

#include "flightdeck/record.h"
#include "record/view.h"

namespace flightdeck {
namespace {

constexpr int64_t kSeries = 20, kRuns = 1000, kPixels = 1000;

int64_t long_run_steps() {
  const char* text = std::getenv("RECORD_BENCH_STEPS");
  return text == nullptr ? 1000000 : std::atoll(text);
}

void record(const std::string& folder, int64_t steps) {
  Recorder recorder(folder);
  recorder.begin({});
  StepReadings step;
  step.readings.resize(kSeries);
  for (int64_t k = 0; k < kSeries; ++k) {
    step.readings[k].quantity = "quantity" + std::to_string(k);
  }
  for (step.step = 0; step.step < steps; ++step.step) {
    step.time = 1.7e9 + static_cast<double>(step.step);
    for (int64_t k = 0; k < kSeries; ++k) {
      step.readings[k].number = std::sin(1e-3 * static_cast<double>(step.step * (k + 1)));
    }
    recorder.write(step);
  }
  recorder.finish(Ending::kFinished);
}

// Makes the long run when it is first asked for.
const std::string& long_run() {
  static const record::TemporaryFolder folder;
  static const std::string path = [] {
    record(folder.path() + "/long", long_run_steps());
    return folder.path() + "/long";
  }();
  return path;
}

void run_record(benchmark::State& state) {
  const int64_t steps = state.range(0);
  for (auto _ : state) {
    const record::TemporaryFolder folder;
    record(folder.path() + "/run", steps);
    state.counters["bytes_per_value"] =
        static_cast<double>(std::filesystem::file_size(folder.path() + "/run/run.sqlite")) /
        static_cast<double>(steps * kSeries);
  }
  state.SetItemsProcessed(state.iterations() * steps * kSeries);
}

// All series over one of `state.range(0)` parts of the run.
void run_stretches(benchmark::State& state) {
  const RunReader reader(long_run());
  const int64_t part = long_run_steps() / state.range(0), first = (long_run_steps() - part) / 2;
  for (auto _ : state) {
    for (const SeriesInfo& series : reader.series()) {
      benchmark::DoNotOptimize(reader.stretches(series.id, {first, first + part - 1}, kPixels));
    }
  }
}

void run_frames(benchmark::State& state) {
  const RunReader reader(long_run());
  for (auto _ : state) benchmark::DoNotOptimize(reader.frames(1, {}, state.range(0)));
}

void run_summaries(benchmark::State& state) {
  const record::TemporaryFolder folder;
  for (int64_t i = 0; i < kRuns; ++i) record(folder.path() + "/" + std::to_string(i), 50);
  for (auto _ : state) {
    for (int64_t i = 0; i < kRuns; ++i) {
      benchmark::DoNotOptimize(RunReader(folder.path() + "/" + std::to_string(i)).summary());
    }
  }
}

// One step more of a run that the database does not have yet, then a look at it.
void run_growing(benchmark::State& state) {
  const record::TemporaryFolder folder;
  Recorder recorder(folder.path() + "/run");
  StepReadings step;
  step.readings.resize(static_cast<size_t>(state.range(0)));
  for (size_t k = 0; k < step.readings.size(); ++k) {
    step.readings[k].quantity = "quantity" + std::to_string(k);
  }
  recorder.write(step);
  const RunReader reader(folder.path() + "/run");
  for (auto _ : state) {
    ++step.step;
    recorder.write(step);
    benchmark::DoNotOptimize(reader.last_step());
  }
}

BENCHMARK(run_record)->Name("record")->Arg(100000)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(run_stretches)
    ->Name("stretches/1_over")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Arg(100)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(run_frames)->Name("frames")->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(run_summaries)->Name("summaries_of_1000_runs")->Unit(benchmark::kMillisecond);
BENCHMARK(run_growing)->Name("growing")->Arg(20)->Arg(2000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace flightdeck
