// SPDX-License-Identifier: MIT
// flightdeck man: the manual page.
#include <cerrno>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/reference/manual.h"
#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

void add_man(CLI::App* command) {
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object with the page");
  command->footer(
      "All that --help says of every command, as troff.\n"
      "Example:\n  flightdeck man >flightdeck.1 && man -l flightdeck.1");
  command->callback([as_json, command] {
    const std::string page =
        manual_page(reference_of(*command->get_parent()), program_invocation_short_name);
    std::cout << (*as_json ? Json::object().field("page", page).text() + "\n" : page);
  });
}

}  // namespace

Command man_command() { return {"man", "Write the manual page.", 170, &add_man}; }

}  // namespace flightdeck::cli
