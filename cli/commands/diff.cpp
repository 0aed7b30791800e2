// SPDX-License-Identifier: MIT
// flightdeck diff: where two recorded runs first differ, in settings, series or values.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/exact_text.h"
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

std::string value_text(const ValueDifference& value) {
  const std::string name = value.quantity + (value.field.empty() ? "" : "/" + value.field) +
                           (value.group.empty() ? "" : "@" + value.group);
  if (value.first != value.first && value.second != value.second) {
    return name + " (a list or a histogram)";
  }
  return name + ": " + exact_text(value.first) + " and " + exact_text(value.second);
}

// Returns what is computed first in the step that differs first: "first in the activations of
// 'conv1'".
std::string place_text(const RunDifference& found) {
  std::string text = ", first in ";
  switch (found.first_kind) {
    case DifferenceKind::kData:
      text += "the data";
      break;
    case DifferenceKind::kParameter:
      text += "the parameters";
      break;
    case DifferenceKind::kLayer:
      text += "the activations";
      break;
    case DifferenceKind::kLoss:
      text += "the loss";
      break;
    case DifferenceKind::kGradient:
      text += "the gradients";
      break;
    case DifferenceKind::kUpdate:
      text += "the update";
      break;
    default:
      return "";
  }
  return text + (found.first_layer.empty() ? "" : " of '" + found.first_layer + "'");
}

const char* data_text(DataDifference data) {
  switch (data) {
    case DataDifference::kSame:
      return "both were given the same samples in the same order";
    case DataDifference::kOrder:
      return "both were given the same samples, in another order";
    case DataDifference::kSamples:
      return "they were given other samples";
    case DataDifference::kUnknown:
      break;
  }
  return "whether they were given the same samples is not recorded; track 'inputs' to know";
}

void print_difference(const RunDifference& found) {
  for (const SettingDifference& setting : found.settings) {
    print_printable("setting " + setting.key + ": '" + setting.first + "' and '" + setting.second +
                    "'");
  }
  for (const std::string& name : found.only_first) print_printable("only in the first: " + name);
  for (const std::string& name : found.only_second) print_printable("only in the second: " + name);
  if (!found.values.empty()) {
    print_printable("values differ from step " + std::to_string(found.values[0].step) + " on" +
                    place_text(found));
    print_printable(std::string("  ") + data_text(found.data));
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
      .field("first_kind", to_string(found.first_kind))
      .field("first_layer", found.first_layer)
      .field("data", to_string(found.data))
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
      "where one does: what of it is computed first (data, parameters, a layer, the loss, "
      "gradients,\n"
      "the update), and whether the data were the same samples. Times are left out.\n"
      "Example:\n"
      "  flightdeck diff runs/first runs/second --tolerance 1e-6");
  command->callback([options] { compare_runs(*options); });
}

}  // namespace

Command diff_command() { return {"diff", "Show where two runs first differ.", 55, &add_diff}; }

}  // namespace flightdeck::cli
