// SPDX-License-Identifier: MIT
#include "cli/options/usage_errors.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/words.h"

namespace flightdeck::cli {
namespace {

// Returns the command that was being read, and its name with those above it: "bench overhead".
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
  if (option.get_expected_max() == 0 || option.get_type_size() == 0) return "true or false";
  const std::string type = option.get_type_name();
  if (type.find("FLOAT") != std::string::npos) return "a number, like 0.01 or 1e-3";
  if (type.find("UINT") != std::string::npos) return "a whole number of at least 0";
  if (type.find("INT") != std::string::npos) return "a whole number";
  return "a text";
}

const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->check_name(name) || option->get_name() == name) return option;
  }
  return nullptr;
}

bool has_unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining(/*recurse=*/true)) {
    if (word.size() > 1 && word.front() == '-') return true;
  }
  return false;
}

// CLI11 says "PROBLEM is required", "A subcommand is required".
std::string what_is_missing(const CLI::App& command, const std::string& said) {
  const size_t end = said.find(" is required");
  if (end == std::string::npos) return said;
  const CLI::Option* option = option_named(command, said.substr(0, end));
  if (option != nullptr) {
    return option->get_name() + " is missing (" + option->get_description() + ")";
  }
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands({})) names.push_back(below->get_name());
  return "a command is missing; choose one of " + joined(names);
}

// CLI11 says "--lr: 1 required FLOAT missing".
std::string missing_value(const CLI::App& command, const std::string& said) {
  const std::string name = said.substr(0, said.find(':'));
  const CLI::Option* option = option_named(command, name);
  if (option == nullptr || said.find("missing") == std::string::npos) return said;
  return name + " has no value but must be given " + kind_of(*option);
}

// CLI11 says "--port: Value 99999 not in range 0 to 65535", with all digits of the largest number
// for "positive".
std::string beyond_range(const CLI::App& command, const std::string& said) {
  const std::string value_is = ": Value ", not_in = " not in range ";
  const size_t begin = said.find(value_is), middle = said.find(not_in);
  if (begin == std::string::npos || middle == std::string::npos || middle < begin) return said;
  const std::string name = said.substr(0, begin);
  const std::string range = said.substr(middle + not_in.size());
  const CLI::Option* option = option_named(command, name);
  const bool is_whole =
      option != nullptr && option->get_type_name().find("INT") != std::string::npos;
  constexpr size_t kLongest = 40;
  return name + " is '" + said.substr(begin + value_is.size(), middle - begin - value_is.size()) +
         "' but must be " +
         (range.size() <= kLongest ? "in the range " + range
          : is_whole               ? "a whole number of at least 1"
                                   : "a number above 0");
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
  const bool is_of_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (is_of_extras || has_unknown_option(*command)) {
    const std::string unknown = unknown_word(*command);
    if (!unknown.empty()) text = unknown;
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    text = bad_value(*command, text);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    text = what_is_missing(*command, text);
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    text = missing_value(*command, text);
  } else if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    text = beyond_range(*command, text);
  }
  const char last = text.empty() ? ' ' : text.back();
  return (name.empty() ? "" : name + ": ") + text + (last == '?' ? " See" : "; see") +
         " 'flightdeck " + (name.empty() ? "" : name + " ") + "--help'";
}

}  // namespace flightdeck::cli
