// SPDX-License-Identifier: MIT
// flightdeck list: what there is by name.
#include <cmath>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/terminal.h"
#include "flightdeck/coverage.h"
#include "flightdeck/diagnosis.h"
#include "flightdeck/lamp.h"
#include "flightdeck/quantity.h"
#include "run/experiment.h"
#include "run/fault.h"
#include "run/run_config.h"
#include "suite/data_set.h"
#include "suite/learning_rate.h"
#include "suite/optimizer.h"
#include "suite/problem.h"
#include "suite/problem_sets.h"

namespace flightdeck::cli {
namespace {

// One thing in a list: its JSON, and what people read of it.
struct Item {
  std::string name, summary;
  std::vector<std::string> details;  // lines
  Json json;
};

Json json_begin(const std::string& name, const std::string& summary) {
  return Json::object().field("name", name).field("summary", summary);
}

// ---- quantities and presets ---------------------------------------------------------------------

std::vector<std::string> presets_with(const std::string& quantity) {
  std::vector<std::string> presets;
  for (const PresetInfo& preset : all_presets()) {
    for (const std::string& name : preset.quantities) {
      if (name == quantity) presets.push_back(preset.name);
    }
  }
  return presets;
}

std::vector<Item> quantities() {
  std::vector<Item> items;
  for (const Quantity& quantity : all_quantities()) {
    Item item{quantity.name(), quantity.summary(), {}, {}};
    const std::vector<std::string> presets = presets_with(quantity.name());
    item.details.push_back(std::string("cost: ") + to_string(quantity.cost()) +
                           (quantity.has_groups() ? ", also per group" : "") +
                           (presets.empty() ? "" : ", in " + joined(presets)));
    Json settings = Json::array();
    for (const SettingInfo& info : quantity.setting_infos()) {
      item.details.push_back(info.name + "=" + info.default_text + ": " + info.summary);
      settings.add(Json::object()
                       .field("name", info.name)
                       .field("default", info.default_text)
                       .field("summary", info.summary));
    }
    item.json = json_begin(item.name, item.summary)
                    .field("cost", to_string(quantity.cost()))
                    .field("groups", quantity.has_groups())
                    .field("settings", settings)
                    .field("presets", presets)
                    .field("reference", quantity.reference());
    items.push_back(item);
  }
  return items;
}

std::vector<Item> presets() {
  std::vector<Item> items;
  for (const PresetInfo& preset : all_presets()) {
    const std::vector<std::string> lamps = lamps_lit_by(preset.quantities);
    const std::string due = preset.due ? preset.due->text() : "";
    items.push_back({preset.name,
                     preset.summary,
                     {joined(preset.quantities),
                      "computed " + (due.empty() ? "as --interval says" : due),
                      "can light " + counted(static_cast<int64_t>(lamps.size()), "lamp") + ": " +
                          joined(lamps)},
                     json_begin(preset.name, preset.summary)
                         .field("quantities", preset.quantities)
                         .field("due", due)
                         .field("lamps", lamps)});
  }
  return items;
}

// ---- the suite ----------------------------------------------------------------------------------

std::vector<Item> problems() {
  std::vector<Item> items;
  for (const suite::Problem& problem : suite::all_problems()) {
    const bool has_data = !problem.data_set.empty();
    std::string data = "no data set, for benchmarks only";
    bool is_here = false;
    if (has_data) {
      const suite::DataDescription found = suite::describe_data(problem.data_set);
      is_here = !found.needs_files || found.is_found;
      data = "data set " + problem.data_set + (is_here ? "" : " (not here)");
    }
    Item item{problem.name, problem.summary, {}, {}};
    Json rates = Json::object();
    std::string rates_text;
    for (const auto& [optimizer, rate] : run::own_rates(problem.name)) {
      rates.field(optimizer, rate);
      rates_text += (rates_text.empty() ? "" : ", ") + optimizer + " " + short_number(rate);
    }
    item.details.push_back(data + ", " + std::to_string(problem.parameters) +
                           " parameters, batch size " + std::to_string(problem.batch_size) + ", " +
                           counted(problem.epochs, "epoch") +
                           (problem.l2 > 0 ? ", L2 penalty " + short_number(problem.l2) : ""));
    if (!rates_text.empty()) item.details.push_back("learning rates of its own: " + rates_text);
    item.json = json_begin(item.name, item.summary)
                    .field("data_set", problem.data_set)
                    .field("data_found", is_here)
                    .field("batch_size", problem.batch_size)
                    .field("epochs", problem.epochs)
                    .field("published_budget", problem.has_published_budget)
                    .field("classes", problem.classes)
                    .field("parameters", problem.parameters)
                    .field("l2", problem.l2)
                    .field("learning_rates", rates);
    items.push_back(item);
  }
  return items;
}

std::vector<Item> problem_sets() {
  std::vector<Item> items;
  for (const suite::ProblemSet& set : suite::problem_sets()) {
    Item item{set.name, set.summary, {joined(set.problems)}, {}};
    Json problems = Json::array();
    for (const std::string& problem : set.problems) problems.add(problem);
    item.json = json_begin(item.name, item.summary).field("problems", problems);
    items.push_back(item);
  }
  return items;
}

std::vector<Item> data_sets() {
  std::vector<Item> items;
  for (const std::string& name : suite::data_set_names()) {
    const suite::DataDescription data = suite::describe_data(name);
    const std::string place = !data.needs_files ? "generated"
                              : data.is_found   ? "found in " + data.folder
                                                : "not here: " + data.how_to_get;
    items.push_back({name,
                     data.summary,
                     {place},
                     json_begin(name, data.summary)
                         .field("needs_files", data.needs_files)
                         .field("found", !data.needs_files || data.is_found)});
  }
  return items;
}

std::vector<Item> schedules() {
  std::vector<Item> items;
  for (const suite::ScheduleEntry& entry : suite::all_schedules()) {
    items.push_back({entry.name,
                     entry.summary,
                     {"--schedule " + entry.form},
                     json_begin(entry.name, entry.summary).field("form", entry.form)});
  }
  return items;
}

// Writes null where a random search leaves the default.
Json search_json(const suite::Search& search) {
  if (search.kind == suite::Search::Kind::kFixed) return {};
  if (search.kind == suite::Search::Kind::kOneOf) {
    return Json::object().field("distribution", "one_of").field("choices", search.choices);
  }
  const bool is_log = search.kind == suite::Search::Kind::kLogUniform;
  return Json::object()
      .field("distribution", is_log ? "log_uniform" : "whole_uniform")
      .field("low", search.low)
      .field("high", search.high)
      .field("of_one_minus_value", search.is_complement);
}

std::vector<Item> optimizers() {
  std::vector<Item> items;
  for (const suite::OptimizerEntry& optimizer : suite::all_optimizers()) {
    Item item{optimizer.name, optimizer.summary, {}, {}};
    Json hyperparameters = Json::array();
    for (const suite::Hyperparameter& parameter : optimizer.hyperparameters) {
      item.details.push_back(parameter.name + "=" + short_number(parameter.value) + " in " +
                             parameter.range() + ": " + parameter.summary +
                             (parameter.search.kind == suite::Search::Kind::kFixed
                                  ? ""
                                  : "; search: " + suite::to_string(parameter.search)));
      hyperparameters.add(Json::object()
                              .field("name", parameter.name)
                              .field("default", parameter.value)
                              .field("range", parameter.range())
                              .field("summary", parameter.summary)
                              .field("search", search_json(parameter.search)));
    }
    item.json = json_begin(item.name, item.summary).field("hyperparameters", hyperparameters);
    items.push_back(item);
  }
  return items;
}

// ---- lamps --------------------------------------------------------------------------------------

std::vector<Item> lamps() {
  std::vector<Item> items;
  for (const Lamp& lamp : lamp_catalogue()) {
    const std::string severity = to_string(lamp.severity);
    std::string details = severity + (lamp.reads.empty() ? "" : ", reads " + joined(lamp.reads));
    Json json = json_begin(lamp.name, lamp.summary)
                    .field("severity", severity)
                    .field("reads", lamp.reads)
                    .field("exact", lamp.is_exact);
    if (lamp.is_evidence) {
      details += lamp.is_exact
                     ? ", states a fact"
                     : ", lit in " + short_number(100 * lamp.false_alarms) + " % of healthy runs";
      json.field("false_alarms", lamp.is_exact ? 0 : lamp.false_alarms);
    }
    items.push_back({lamp.name, lamp.summary, {details}, json});
  }
  return items;
}

// ---- rules --------------------------------------------------------------------------------------

std::vector<Item> rules() {
  std::vector<Item> items;
  for (const OpRule& rule : ops_with_rules()) {
    const std::string summary = "Explains " + counted(int64_t(rule.nodes.size()), "autograd node");
    items.push_back({rule.name,
                     summary,
                     {joined(rule.nodes)},
                     json_begin(rule.name, summary).field("nodes", rule.nodes)});
  }
  return items;
}

// ---- causes and faults --------------------------------------------------------------------------

std::vector<Item> causes() {
  std::vector<Item> items;
  for (const Cause& cause : cause_catalogue()) {
    Json lights = Json::object();
    std::string text;
    for (const auto& [lamp, share] : cause.lights) {
      lights.field(lamp, share);
      text += (text.empty() ? "lights " : ", ") + lamp + " (" +
              std::to_string(std::lround(100 * share)) + " %)";
    }
    items.push_back({cause.name,
                     cause.sentence,
                     {text, cause.remedy},
                     json_begin(cause.name, cause.sentence)
                         .field("remedy", cause.remedy)
                         .field("weight", cause.weight)
                         .field("lights", lights)});
  }
  return items;
}

std::vector<Item> faults() {
  std::vector<Item> items;
  for (const run::Fault& fault : run::all_faults()) {
    items.push_back({fault.name,
                     fault.summary,
                     {"cause " + fault.cause},
                     json_begin(fault.name, fault.summary)
                         .field("cause", fault.cause)
                         .field("also", fault.also)
                         .field("severities", fault.severities)});
  }
  return items;
}

// ---- experiments --------------------------------------------------------------------------------

std::vector<Item> experiments() {
  std::vector<Item> items;
  for (const run::Experiment& experiment : run::all_experiments()) {
    items.push_back(
        {experiment.name,
         experiment.summary,
         {"section " + experiment.reference + " of the thesis"},
         json_begin(experiment.name, experiment.summary).field("reference", experiment.reference)});
  }
  return items;
}

// ---- commands -----------------------------------------------------------------------------------

std::vector<Item> commands() {
  std::vector<Item> items;
  for (const Command& command : all_commands()) {
    std::string summary = command.summary;
    if (!summary.empty() && summary.back() == '.') summary.pop_back();
    items.push_back({command.word,
                     summary,
                     {"flightdeck " + command.word + " --help"},
                     json_begin(command.word, summary)});
  }
  return items;
}

// ---- the command --------------------------------------------------------------------------------

struct Kind {
  std::string name, summary;
  std::vector<Item> (*items)();
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"quantities", "What a cockpit can track: cost, settings and their defaults", &quantities},
      {"problems", "What can be trained: data set, size and customary budget", &problems},
      {"problem_sets", "Problems that are compared together, for 'tune'", &problem_sets},
      {"data_sets", "What problems are trained on, and where it was found", &data_sets},
      {"optimizers", "Optimizers, their hyperparameters, defaults and search spaces", &optimizers},
      {"schedules", "Courses of the learning rate, for --schedule", &schedules},
      {"presets", "Sets of quantities by name", &presets},
      {"lamps", "What is looked for in every recorded run", &lamps},
      {"causes", "What a diagnosis may name, and how often each lights which lamps", &causes},
      {"faults", "What FaultBench injects into trainings", &faults},
      {"rules", "Ops with a fast rule; others are slower and exact all the same", &rules},
      {"experiments", "Findings of the papers that a command repeats", &experiments},
      {"commands", "What can stand behind 'flightdeck'", &commands},
  };
  return all;
}

void print(const std::vector<Item>& items) {
  size_t width = 0;
  for (const Item& item : items) width = std::max(width, item.name.size());
  const size_t indent = width + 2;
  const auto columns = static_cast<size_t>(std::max(60, terminal_width(STDOUT_FILENO, 100)));
  for (const Item& item : items) {
    std::printf("%s%s\n",
                pad_right(item.name, indent).c_str(),
                wrapped(item.summary, columns, indent).c_str());
    for (const std::string& detail : item.details) {
      std::printf(
          "%s%s\n", std::string(indent, ' ').c_str(), wrapped(detail, columns, indent + 2).c_str());
    }
  }
}

void print_json(const std::vector<Item>& items) {
  Json elements = Json::array();
  for (const Item& item : items) elements.add(item.json);
  std::printf("%s\n", elements.text().c_str());
}

void add_list(CLI::App* list) {
  const auto as_json = std::make_shared<bool>(false);
  list->require_subcommand(1);
  list->footer("Examples:\n  flightdeck list quantities\n  flightdeck list problems --json");
  for (const Kind& kind : kinds()) {
    CLI::App* command = list->add_subcommand(kind.name, kind.summary + ".");
    command->add_flag("--json", *as_json, "Print one JSON array of objects");
    command->footer("Example:\n  flightdeck list " + kind.name + " --json");
    command->callback([kind, as_json] {
      const std::vector<Item> items = kind.items();
      if (*as_json) {
        print_json(items);
      } else {
        print(items);
      }
    });
  }
}

}  // namespace

Command list_command() { return {"list", "List what there is by name.", 110, &add_list}; }

}  // namespace flightdeck::cli
