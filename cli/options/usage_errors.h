// SPDX-License-Identifier: MIT
// What is wrong with a command line, for people.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace flightdeck::cli {

// Writes "run: there is no option '--stpes'; did you mean '--steps'? ...". `app` has tried to
// parse.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace flightdeck::cli
