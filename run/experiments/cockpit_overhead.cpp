// SPDX-License-Identifier: MIT
// What the presets cost at growing intervals: a matrix of step times over those of training alone.

#include "base/clock.h"
#include "base/shown_number.h"
#include "flightdeck/cockpit.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// Returns the mean seconds of a step, over `steps` of them; without a preset those of training
// alone.
double seconds_a_step(const TrainingOptions& chosen,
                      const std::string& preset_name,
                      int64_t interval,
                      int64_t steps,
                      ExperimentResult& result) {
  Training training(chosen);
  name_data(training, result);
  std::unique_ptr<Cockpit> cockpit;
  if (!preset_name.empty()) {
    cockpit = std::make_unique<Cockpit>(training.parameters(),
                                        preset(preset_name, DueSteps::every(interval)));
    cockpit->add_sink(std::make_shared<MemorySink>());
  }
  for (int64_t step = 0; step < interval; ++step) training.step(cockpit.get());
  const Clock::time_point begin = Clock::now();
  for (int64_t step = 0; step < steps; ++step) training.step(cockpit.get());
  return seconds_since(begin) / static_cast<double>(steps);
}

ExperimentResult run_cockpit_overhead(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_logreg", "fmnist_logreg"}, options)
                               : first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  chosen.steps = 1000000;
  const std::vector<int64_t> intervals =
      options.quick ? std::vector<int64_t>{1, 16} : std::vector<int64_t>{1, 4, 16, 64};
  ExperimentResult result({"preset", "interval", "ms_a_step", "overhead"});
  const double alone = seconds_a_step(chosen, "", 2, options.quick ? 32 : 64, result);
  study::Heatmap map;
  map.title = "Time of a step over that of training alone, " + chosen.problem;
  map.between = " every ";
  map.behind = " steps";
  map.cap = 10;
  map.digits = 2;
  std::map<std::string, double> at_one, at_last;
  for (const int64_t interval : intervals) map.columns.push_back(std::to_string(interval));
  for (const char* name : {"economy", "business", "full"}) {
    map.rows.push_back(name);
    map.values.emplace_back();
    for (const int64_t interval : intervals) {
      options.on_progress(std::string("cockpit_overhead: ") + name + ", every " +
                          std::to_string(interval));
      const double took = seconds_a_step(
          chosen, name, interval, std::max<int64_t>(interval, options.quick ? 16 : 8), result);
      map.values.back().push_back(took / alone);
      result.table.add({name, interval, 1e3 * took, took / alone});
    }
    at_one[name] = map.values.back().front();
    at_last[name] = map.values.back().back();
  }
  result.figures.emplace("overhead", result.table);
  result.pictures.emplace("figure", std::move(map));
  result.compared = {
      {"economy at every step", at_one["economy"], "1.52 on a GPU, 5.7 on a CPU (3c3d, CIFAR-10)"},
      {"business at every step", at_one["business"], "2.04 on a GPU, 12.4 on a CPU"},
      {"full at every step", at_one["full"], "21.5 on a GPU, 104 on a CPU"},
      {"business at the largest interval",
       at_last["business"],
       "1.09 at 16, 1.03 at 64, on a GPU"}};
  // The finding is an order: a larger preset costs more, a longer interval costs less.
  result.holds = at_one["economy"] < at_one["full"] && at_one["business"] < at_one["full"];
  for (const auto& [name, first] : at_one) result.holds = result.holds && at_last[name] < first;
  result.finding = "at every step economy, business and full take " +
                   short_number(at_one["economy"]) + ", " + short_number(at_one["business"]) +
                   " and " + short_number(at_one["full"]) + " times a step alone, at every " +
                   std::to_string(intervals.back()) + ". step " + short_number(at_last["economy"]) +
                   ", " + short_number(at_last["business"]) + " and " +
                   short_number(at_last["full"]) + " times.";
  return result;
}

}  // namespace

Experiment cockpit_overhead() {
  return {"cockpit_overhead",
          "Time of a step under the presets, over the interval",
          "7.5, C.5.2",
          &run_cockpit_overhead};
}

}  // namespace flightdeck::run::experiments
