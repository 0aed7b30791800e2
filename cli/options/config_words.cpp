// SPDX-License-Identifier: MIT
#include "cli/options/config_words.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/options/run_options.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {
namespace {

// What the command line says itself, without the file.
struct GivenWords {
  CLI::App command;
  RunArguments arguments;

  GivenWords() {
    command.add_option("PROBLEM", arguments.run.training.problem);
    add_options_of_run(command, arguments);
    command.add_flag("-q,--quiet");
  }

  bool has(const std::string& option) const { return command.count(option) != 0; }

  bool sets(const std::string& hyperparameter) const {
    const std::string begin = hyperparameter + "=";
    return std::any_of(arguments.settings.begin(),
                       arguments.settings.end(),
                       [&](const std::string& text) { return text.rfind(begin, 0) == 0; });
  }
};

// Returns whether the command line has the option, or one that excludes it.
bool is_overruled(const GivenWords& given, const std::string& key) {
  if (key == "problem") return given.has("PROBLEM");
  // The values of these keys have names, so those of file and command line both count.
  const bool has_names = key == "set" || key == "tag";
  if (!has_names && given.has("--" + key)) return true;
  const bool is_of_optimizer = key == "set" || key == "lr" || key == "momentum";
  if (is_of_optimizer && given.has("--optimizer")) return true;
  if (key == "lr") return given.sets("learning_rate");
  if (key == "momentum") return given.sets("momentum");
  static const std::vector<std::pair<std::string, std::string>> rivals = {
      {"epochs", "steps"}, {"interval", "track"}, {"keep-going", "stop-diverged"}};
  for (const auto& [one, other] : rivals) {
    if (key == one && given.command.get_option_no_throw("--" + other) != nullptr &&
        given.has("--" + other)) {
      return true;
    }
    if (key == other && given.has("--" + one)) return true;
  }
  return false;
}

// Returns the keys that a file may have.
std::vector<std::string> config_keys(const GivenWords& given) {
  std::vector<std::string> keys = {"problem"};
  for (const CLI::Option* option : given.command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      // A file from somebody else must start no command and tell nobody.
      const bool is_alert = name == "alert-command" || name == "alert-webhook";
      if (name != "config" && name != "help" && !is_alert) keys.push_back(name);
    }
  }
  return keys;
}

void check_entry(const GivenWords& given, const std::string& path, const ConfigEntry& entry) {
  const std::vector<std::string> keys = config_keys(given);
  if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) {
    const std::string near = nearest_name(entry.key, keys);
    throw UsageError(
        "run: " + path + " has the key '" + entry.key + "', which is no option; " +
        (near.empty() ? "'flightdeck help run' lists them" : "did you mean '" + near + "'?"));
  }
  const CLI::Option* option =
      entry.key == "problem" ? nullptr : given.command.get_option("--" + entry.key);
  const bool is_repeatable = option != nullptr && option->get_expected_max() > 1;
  if (entry.values.size() != 1 && !is_repeatable) {
    throw UsageError("run: " + path + " gives '" + entry.key + "' " +
                     std::to_string(entry.values.size()) + " values but it takes one");
  }
}

}  // namespace

std::vector<std::string> with_config(std::vector<std::string> words) {
  const auto names_file = [](const std::string& word) {
    return word == "--config" || word.rfind("--config=", 0) == 0;
  };
  const auto at = std::find_if(words.begin(), words.end(), names_file);
  if (at == words.end() || words.size() < 2 || words[1] != "run") return words;

  GivenWords given;
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend() - 2);  // as CLI11 takes them
    given.command.parse(std::move(reversed));
  } catch (const CLI::ParseError&) {
    return words;  // which the parser of the tool refuses too, and says why
  }
  const std::string path = given.arguments.config;
  std::vector<std::string> told = {words[0], words[1]};
  for (const ConfigEntry& entry : read_config(path)) {
    check_entry(given, path, entry);
    if (is_overruled(given, entry.key)) continue;
    for (const std::string& value : entry.values) {
      told.push_back(entry.key == "problem" ? value : "--" + entry.key + "=" + value);
    }
  }
  words.erase(at, at + (*at == "--config" ? 2 : 1));
  told.insert(told.end(), words.begin() + 2, words.end());
  return told;
}

}  // namespace flightdeck::cli
