// SPDX-License-Identifier: MIT
// Records a small run and exports it, for check_tensorboard.py, which knows what is in it.
//   record_write_events FOLDER
#include <cstdio>
#include <limits>
#include <string>

#include "flightdeck/record.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  flightdeck::RunInfo info;
  info.start_time = 1700000000.5;
  info.host = "host";
  {
    flightdeck::Recorder recorder(folder + "/run");
    recorder.begin(info);
    for (int64_t step = 0; step < 300; ++step) {
      flightdeck::StepReadings made{step, 1700000001.0 + 0.5 * static_cast<double>(step), {}};
      flightdeck::Reading loss;
      loss.quantity = "loss";
      loss.number = step == 7 ? std::numeric_limits<double>::quiet_NaN()
                              : 1.0 / static_cast<double>(step + 1);
      flightdeck::Reading iterations;
      iterations.quantity = "hess_max_ev";
      iterations.group = "Schicht ü";
      iterations.field = "iterations";
      iterations.number = static_cast<double>(step);
      flightdeck::Reading histogram;
      histogram.quantity = "grad_hist_1d";
      histogram.kind = flightdeck::ReadingKind::kHistogram;
      histogram.axes = {{-1, 1, 4}};
      histogram.counts = {step, 0, 2, 1};
      histogram.below = step % 2;
      histogram.above = 3 * (step % 2);
      flightdeck::Reading list;
      list.quantity = "sample_outliers";
      list.kind = flightdeck::ReadingKind::kList;
      list.list = {1, 2};
      made.readings = {loss, iterations, histogram, list};
      recorder.write(made);
    }
    recorder.finish(flightdeck::Ending::kFinished);
  }
  const flightdeck::RunReader reader(folder + "/run");
  std::puts(flightdeck::export_tensorboard(reader, folder + "/events").c_str());
  return 0;
}
