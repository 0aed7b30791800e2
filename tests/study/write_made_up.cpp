// SPDX-License-Identifier: MIT
// Writes a made-up comparison and its analysis, for the tests of the files and for looking at them.
#include <cstdlib>
#include <iostream>

#include "base/whole_file.h"
#include "study/analysis/write.h"
#include "tests/study/made_up.h"

// FOLDER [OPTIMIZERS PROBLEMS EPOCHS SAMPLES SEEDS]
int main(int argc, char** argv) {
  using namespace flightdeck::study;
  if (argc < 2) {
    std::cerr << "usage: write_made_up FOLDER [OPTIMIZERS PROBLEMS EPOCHS SAMPLES SEEDS]\n";
    return 2;
  }
  const auto number = [&](int k, long otherwise) {
    return argc > k ? std::atol(argv[k]) : otherwise;
  };
  MadeUp request;
  request.optimizers = static_cast<size_t>(number(2, 15));
  request.problems = static_cast<size_t>(number(3, 8));
  request.epochs = number(4, 0);
  request.samples = number(5, 75);
  request.seeds = number(6, 10);
  const std::vector<Outcome> outcomes = made_up_study(request);
  std::vector<Outcome> baselines;
  for (const Outcome& outcome : outcomes) {
    const Setting& setting = outcome.setting;
    if (setting.schedule == "constant" && setting.optimizer == "adam") baselines.push_back(outcome);
  }
  std::string lines;
  for (const Outcome& outcome : outcomes) lines += to_json(outcome) + "\n";
  const std::string folder = argv[1];
  flightdeck::replace_file(folder + "/outcomes.jsonl", lines);
  const Analysis analysis = analyze(outcomes, baselines, made_up_benchmark());
  write_analysis(analysis, folder, {"html", "csv", "latex"});
  std::cout << outcomes.size() << " outcomes\n";
  return 0;
}
