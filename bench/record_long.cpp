// SPDX-License-Identifier: MIT
// Records a run as long as one may be: record_long FOLDER [STEPS], of 20 numbers each. For
// web/tests/browser/measure_large.mjs, which opens it in a browser.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "flightdeck/record.h"

namespace flightdeck {
namespace {

constexpr int64_t kSteps = 1000000;
// Such as have panels of their own.
constexpr const char* kNames[] = {"alpha",       "cabs",         "distance",    "early_stopping",
                                  "grad_cosine", "grad_norm",    "hess_max_ev", "grad_noise_scale",
                                  "hess_min_ev", "hess_trace",   "inner_test",  "loss",
                                  "mean_gsnr",   "norm_test",    "ortho_test",  "tic_diag",
                                  "train_loss",  "update_ratio", "update_size", "valid_loss"};
static_assert(sizeof(kNames) / sizeof(kNames[0]) == 20);

void record(const std::string& folder, int64_t steps) {
  Recorder recorder(folder);
  recorder.begin({});
  StepReadings step;
  for (const char* name : kNames) {
    step.readings.emplace_back();
    step.readings.back().quantity = name;
  }
  // Noise, so that no two values are alike; each step's follows from the one before.
  uint32_t noise = 1;
  for (step.step = 0; step.step < steps; ++step.step) {
    const double progress = static_cast<double>(step.step) / static_cast<double>(steps);
    step.time = 1.7e9 + 0.01 * static_cast<double>(step.step);
    for (Reading& reading : step.readings) {
      noise = noise * 1664525u + 1013904223u;
      reading.number = std::exp(-3 * progress) * (1 + 0.3 * noise / 4294967296.0);
    }
    recorder.write(step);
  }
  recorder.finish(Ending::kFinished);
}

}  // namespace
}  // namespace flightdeck

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "record_long FOLDER [STEPS]\n");
    return 2;
  }
  try {
    flightdeck::record(argv[1], argc == 3 ? std::atoll(argv[2]) : flightdeck::kSteps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record_long: %s\n", error.what());
    return 1;
  }
  return 0;
}
