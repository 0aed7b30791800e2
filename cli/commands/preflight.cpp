// SPDX-License-Identifier: MIT
// flightdeck preflight: looks at a few batches before a training and says what is wrong already.
#include "run/preflight.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/reports/diagnosis_text.h"
#include "cli/reports/findings.h"
#include "cli/text/terminal.h"
#include "record/text.h"

namespace flightdeck::cli {
namespace {

struct PreflightWords {
  run::TrainingOptions training;
  double rate = 0;
  int64_t batches = 3;
  bool json = false;
};

void print_preflight(const run::PreflightResult& result) {
  const auto width = static_cast<size_t>(std::max(60, terminal_width(STDOUT_FILENO, 120)));
  int64_t found = 0;
  std::string text;
  for (const Finding& finding : result.diagnosis.findings) {
    if (finding.severity == Severity::kAdvice) continue;
    ++found;
    text += wrapped(std::string(to_string(finding.severity)) + ": " + finding.symptom, width, 2);
    text += "\n  " + wrapped(finding.text(), width, 2) + "\n";
  }
  if (result.diagnosis.verdict == Verdict::kFault) {
    text = wrapped(result.diagnosis.sentence, width, 2) + "\n\n" + text;
  }
  if (found == 0) {
    text += "Nothing is wrong that " + std::to_string(result.batches) + " batches show\n";
  }
  std::printf("%s", record::printable(text, record::Lines::kKept).c_str());
}

void look_before(PreflightWords& words) {
  if (words.rate > 0) words.training.hyperparameters["learning_rate"] = words.rate;
  words.training.steps = std::max<int64_t>(words.batches, 1);
  read_arguments("preflight", [&] { run::check_training_options(words.training); });
  const run::PreflightResult result = run::preflight(words.training, words.batches);
  if (words.json) {
    std::printf("%s\n",
                Json(diagnosis_json(result.diagnosis))
                    .field("problem", words.training.problem)
                    .field("batches", result.batches)
                    .text()
                    .c_str());
  } else {
    print_preflight(result);
  }
}

void add_preflight(CLI::App* command) {
  const auto words = std::make_shared<PreflightWords>();
  command->add_option("PROBLEM", words->training.problem, "What would be trained")->required();
  command->add_option("--optimizer", words->training.optimizer, "Optimizer; default sgd");
  command->add_option("--lr", words->rate, "Learning rate; default the optimizer's")
      ->check(CLI::PositiveNumber);
  command->add_option("--batch-size", words->training.batch_size, "Default the problem's")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", words->training.seed, "Of parameters and data; default 42");
  command->add_option("--batches", words->batches, "How many are looked at; default 3")
      ->check(CLI::PositiveNumber);
  command->add_option("--data", words->training.data.folder, "Folder of the data set");
  command->add_flag("--synthetic", words->training.data.synthetic, "Generated data");
  command->add_flag("--json", words->json, "Print one JSON object");
  command->footer(
      "Takes a few steps with a model that is thrown away and says what the lamps find: softmax\n"
      "twice, parameters that are not trained, unscaled inputs, copies in a batch, a first loss\n"
      "far from equal odds.\n"
      "Example:\n"
      "  flightdeck preflight fmnist_2c2d --synthetic");
  command->callback([words] { look_before(*words); });
}

}  // namespace

Command preflight_command() {
  return {"preflight",
          "Look at a few batches before training and say what is wrong.",
          8,
          &add_preflight};
}

}  // namespace flightdeck::cli
