// SPDX-License-Identifier: MIT
#include "cli/options/saved_config.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>

#include "base/exact_text.h"
#include "base/whole_file.h"
#include "cli/options/errors.h"

namespace flightdeck::cli {
namespace {

// Writes a basic string of TOML. Bytes above 127 are UTF-8 already, or were no text.
std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted += std::string("\\") + letter;
    } else if (byte < 0x20 || byte == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      quoted += code;
    } else {
      quoted += letter;
    }
  }
  return quoted + "\"";
}

// Returns false for options that say where and how to print, which are not part of a run, and for
// those that are written in another way below.
bool is_kept(const std::string& name) {
  for (const char* other : {"help",
                            "config",
                            "out",
                            "resume",
                            "json",
                            "quiet",
                            "lr",
                            "momentum",
                            "set",
                            "tag",
                            "interval",
                            "alert-command",
                            "alert-webhook"}) {
    if (name == other) return false;
  }
  return true;
}

// Returns the value of each key as TOML.
std::map<std::string, std::string> given_values(const CLI::App& command) {
  std::map<std::string, std::string> values;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (!is_kept(name)) continue;
    const std::vector<std::string>& results = option->results();
    if (option->get_expected_max() == 0 || option->get_type_size() == 0) {
      const bool is_off = results.back() == "false" || results.back() == "0";
      values[name] = is_off ? "false" : "true";
    } else if (option->get_expected_max() > 1) {
      std::string list;
      for (const std::string& result : results) {
        list += (list.empty() ? "" : ", ") + toml_text(result);
      }
      values[name] = "[" + list + "]";
    } else {
      values[name] = toml_text(results.back());
    }
  }
  return values;
}

}  // namespace

std::string config_toml(const CLI::App& command,
                        const RunArguments& arguments,
                        const run::Training& training) {
  const run::RunOptions& run = arguments.run;
  std::map<std::string, std::string> values = given_values(command);
  values["optimizer"] = toml_text(run.training.optimizer);
  values["schedule"] = toml_text(training.schedule().text());
  values["batch-size"] = std::to_string(training.batch_size());
  if (values.count("steps") == 0) {
    values["epochs"] =
        std::to_string(run.training.epochs > 0 ? run.training.epochs : training.problem().epochs);
  } else {
    values["steps"] = std::to_string(run.training.steps);
  }
  values["seed"] = toml_text(std::to_string(run.training.seed));  // TOML's numbers end at 2^63
  values["device"] = toml_text(arguments.device);
  values["threads"] = std::to_string(at::get_num_threads());
  values["evaluate-every"] = std::to_string(run.evaluate_every);
  values["preset"] = toml_text(run.tracking.preset);
  values["track"] = toml_text(run.tracking.due.text());
  values["group"] = toml_text(arguments.tracking.group);
  values["batch-norm"] = toml_text(arguments.tracking.batch_norm);
  if (values.count("data") != 0) {
    values["data"] =
        toml_text(std::filesystem::absolute(run.training.data.folder).lexically_normal().string());
  }
  std::string text =
      "# How this run was started; 'flightdeck again' and the folder repeat it.\nproblem = " +
      toml_text(run.training.problem) + "\n";
  for (const auto& [key, value] : values) text += key + " = " + value + "\n";
  text += "\n[set]\n";
  for (const auto& [name, value] : training.hyperparameters()) {
    text += name + " = " + exact_text(value) + "\n";
  }
  if (!run.tags.empty()) text += "\n[tag]\n";
  for (const auto& [name, value] : run.tags) {
    text += toml_text(name) + " = " + toml_text(value) + "\n";
  }
  return text;
}

void save_config(const CLI::App& command,
                 const RunArguments& arguments,
                 const run::Training& training,
                 const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "config.toml").string();
  std::error_code unreadable;
  if (arguments.run.resume && std::filesystem::exists(path, unreadable)) return;
  try {
    replace_file(path, config_toml(command, arguments, training));
  } catch (const std::exception& error) {
    std::cerr << "flightdeck: config.toml: " << message_of(error)
              << "; training goes on, but 'flightdeck again' cannot repeat it\n";
  }
}

}  // namespace flightdeck::cli
