// SPDX-License-Identifier: MIT
// Separate, because it alone needs toml++.
#include <cstdint>
#include <stdexcept>
#include <toml++/toml.h>

#include "base/exact_text.h"
#include "base/plain_file.h"
#include "cli/options/config_words.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {
namespace {

// A configuration is about a page long, so a larger file is something else.
constexpr int64_t kMostConfigBytes = 1 << 20;

[[noreturn]] void refuse_config(const std::string& path,
                                const toml::source_position& place,
                                const std::string& problem) {
  throw UsageError("run: " + path + ", line " + std::to_string(place.line) + ": " + problem);
}

// Returns a text, number or truth value as a word of the command line.
std::string value_text(const std::string& path, const std::string& key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* number = node.as_floating_point()) return exact_text(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  refuse_config(path,
                node.source().begin,
                "'" + key +
                    "' is neither a text nor a number, true or false; see 'flightdeck help "
                    "run'");
}

std::string file_text(const std::string& path) {
  try {
    return read_plain(path, kMostConfigBytes);
  } catch (const std::runtime_error& error) {
    throw UsageError(std::string("run: ") + error.what() +
                     "; name a TOML file, such as config.toml of a run");
  }
}

}  // namespace

std::vector<ConfigEntry> read_config(const std::string& path) {
  toml::table table;
  try {
    table = toml::parse(file_text(path), path);
  } catch (const toml::parse_error& error) {
    refuse_config(path, error.source().begin, std::string(error.description()));
  }
  std::vector<ConfigEntry> entries;
  for (const auto& [name, node] : table) {
    ConfigEntry entry{std::string(name.str()), {}};
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& element : *list) {
        entry.values.push_back(value_text(path, entry.key, element));
      }
      if (entry.values.empty()) continue;
    } else if (const toml::table* names = node.as_table()) {
      if (entry.key != "set" && entry.key != "tag") {
        refuse_config(path,
                      node.source().begin,
                      "[" + entry.key + "] is a table, but only [set] and [tag] are; write " +
                          "the options of all groups one below the other");
      }
      for (const auto& [key, value] : *names) {
        entry.values.push_back(std::string(key.str()) + "=" +
                               value_text(path, entry.key + "." + std::string(key.str()), value));
      }
      if (entry.values.empty()) continue;
    } else {
      entry.values.push_back(value_text(path, entry.key, node));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace flightdeck::cli
