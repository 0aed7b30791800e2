// SPDX-License-Identifier: MIT
// flightdeck diff: where two recorded runs first differ, in settings, series or values.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/recorded_run.h"
#include "cli/text/json.h"
#include "flightdeck/run_difference.h"
#include "record/text.h"

namespace flightdeck::cli {
namespace {

struct DiffOptions {
  std::string first, second;
  DifferenceOptions difference;
  bool json = false;
};

void print_printable(const std::string& line) {
  std::printf("%s\n", record::printable(line).c_str());
}

std::string exact_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string value_text(const ValueDifference& value) {
  const std::string name = value.quantity + (value.field.empty() ? "" : "/" + value.field) +
                           (value.group.empty() ? "" : "@" + value.group);
  if (value.first != value.first && value.second != value.second) {
    return name + " (a list or a histogram)";
  }
  return name + ": " + exact_text(value.first) + " and " + exact_text(value.second);
}

void print_difference(const RunDifference& found) {
  for (const SettingDifference& setting : found.settings) {
    print_printable("setting " + setting.key + ": '" + setting.first + "' and '" + setting.second +
                    "'");
  }
  for (const std::string& name : found.only_first) print_printable("only in the first: " + name);
  for (const std::string& name : found.only_second) print_printable("only in the second: " + name);
  if (!found.values.empty()) {
    print_printable("values differ from step " + std::to_string(found.values[0].step) + " on");
    for (const ValueDifference& value : found.values) print_printable("  " + value_text(value));
    return;
  }
  print_printable(found.compared == 0
                      ? "no values of steps that both runs have"
                      : "values are the same up to step " + std::to_string(found.last_common_step) +
                            ", " + std::to_string(found.compared) + " of them");
}

Json difference_json(const RunDifference& found) {
  Json settings = Json::array(), values = Json::array();
  for (const SettingDifference& one : found.settings) {
    settings.add(
        Json::object().field("key", one.key).field("first", one.first).field("second", one.second));
  }
  for (const ValueDifference& one : found.values) {
    values.add(Json::object()
                   .field("step", one.step)
                   .field("quantity", one.quantity)
                   .field("field", one.field)
                   .field("group", one.group)
                   .field("first", one.first)
                   .field("second", one.second));
  }
  return Json::object()
      .field("same", found.is_same())
      .field("settings", settings)
      .field("only_first", found.only_first)
      .field("only_second", found.only_second)
      .field("values", values)
      .field("compared", found.compared)
      .field("last_common_step", found.last_common_step);
}

void compare_runs(const DiffOptions& options) {
  const RunDifference found = difference(
      open_run("diff", options.first), open_run("diff", options.second), options.difference);
  if (options.json) {
    std::printf("%s\n", difference_json(found).text().c_str());
  } else {
    print_difference(found);
  }
}

void add_diff(CLI::App* command) {
  const auto options = std::make_shared<DiffOptions>();
  command->add_option("RUN", options->first, "Folder of a record")->required();
  command->add_option("OTHER", options->second, "Folder of another one")->required();
  command
      ->add_option("--tolerance",
                   options->difference.tolerance,
                   "Share of a number by which it may differ; default 0, to the bit")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Settings, then series that one run has alone, then all values that differ at the first "
      "step\n"
      "where one does. Times are left out.\n"
      "Example:\n"
      "  flightdeck diff runs/first runs/second --tolerance 1e-6");
  command->callback([options] { compare_runs(*options); });
}

}  // namespace

Command diff_command() { return {"diff", "Show where two runs first differ.", 55, &add_diff}; }

}  // namespace flightdeck::cli
