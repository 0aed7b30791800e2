// SPDX-License-Identifier: MIT
#include "cli/options/usage_errors.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/nearest.h"

namespace flightdeck::cli {
namespace {

// The command that was being read, and its name with those above it: "bench overhead".
const CLI::App* innermost(const CLI::App& app, std::string& name) {
  const CLI::App* level = &app;
  while (!level->get_subcommands().empty()) {
    level = level->get_subcommands().front();
    name += (name.empty() ? "" : " ") + level->get_name();
  }
  return level;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unknown_word(const CLI::App& command) {
  const std::vector<std::string> rest = command.remaining(/*recurse=*/true);
  const auto option = std::find_if(
      rest.begin(), rest.end(), [](const std::string& word) { return word.rfind('-', 0) == 0; });
  if (option == rest.end()) {
    return rest.empty() ? "" : "'" + rest.front() + "' is one argument too many";
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string near = nearest_name(name, options_of(command));
  return "there is no option '" + name + "'" +
         (near.empty() ? "" : "; did you mean '" + near + "'?");
}

std::string kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.find("FLOAT") != std::string::npos) return "a number, like 0.01 or 1e-3";
  if (type.find("UINT") != std::string::npos) return "a whole number of at least 0";
  if (type.find("INT") != std::string::npos) return "a whole number";
  return "a value of another kind";
}

// CLI11 says "Could not convert: --lr = abc".
std::string bad_value(const CLI::App& command, const std::string& said) {
  const size_t colon = said.find(": "), equals = said.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos || equals < colon) return said;
  const std::string name = said.substr(colon + 2, equals - colon - 2);
  const CLI::Option* option = command.get_option_no_throw(name);
  return option == nullptr
             ? said
             : name + " is '" + said.substr(equals + 3) + "' but must be " + kind_of(*option);
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  std::string name;
  const CLI::App* command = innermost(app, name);
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string unknown = unknown_word(*command);
    if (!unknown.empty()) text = unknown;
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    text = bad_value(*command, text);
  }
  const char last = text.empty() ? ' ' : text.back();
  return (name.empty() ? "" : name + ": ") + text + (last == '?' ? " See" : "; see") +
         " 'flightdeck " + (name.empty() ? "" : name + " ") + "--help'";
}

}  // namespace flightdeck::cli
