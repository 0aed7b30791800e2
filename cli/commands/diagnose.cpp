// SPDX-License-Identifier: MIT
// flightdeck diagnose: what the lamps of a run say together, and how they know.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/recorded_run.h"
#include "cli/reports/diagnosis_text.h"
#include "cli/text/terminal.h"
#include "record/text.h"

namespace flightdeck::cli {
namespace {

struct DiagnoseOptions {
  std::string run;
  bool json = false;
};

void print_diagnosis(const DiagnoseOptions& options) {
  const Diagnosis diagnosis = diagnose(open_run("diagnose", options.run));
  const auto width = static_cast<size_t>(std::max(60, terminal_width(STDOUT_FILENO, 120)));
  const std::string text =
      options.json ? Json(diagnosis_json(diagnosis)).field("run", options.run).text() + "\n"
                   : diagnosis_text(diagnosis, width);
  std::printf("%s", record::printable(text, record::Lines::kKept).c_str());
}

void add_diagnose(CLI::App* command) {
  const auto options = std::make_shared<DiagnoseOptions>();
  command->add_option("RUN", options->run, "Folder of the record")->required();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Causes are ranked by all lamps, lit (+) and dark (-), that could be lit with what is\n"
      "tracked. Below a probability of 50 % none is claimed: 'healthy so far' and 'cannot tell'\n"
      "are answers. Most is seen of a run with --preset diagnosis.\n"
      "Examples:\n"
      "  flightdeck diagnose runs/first\n"
      "  flightdeck diagnose runs/first --json | python3 -m json.tool");
  command->callback([options] { print_diagnosis(*options); });
}

}  // namespace

Command diagnose_command() {
  return {"diagnose",
          "Say what is wrong with a run, how it is known and what to do.",
          52,
          &add_diagnose};
}

}  // namespace flightdeck::cli
