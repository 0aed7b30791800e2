// SPDX-License-Identifier: MIT
// flightdeck serve: the dashboard of the runs in a folder.
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/machine/interrupt.h"
#include "cli/options/errors.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/quiet.h"
#include "serve/assets.h"
#include "serve/server.h"

namespace flightdeck::cli {
namespace {

struct ServeOptions {
  serve::ServerOptions server;
  bool json = false;
};

std::string count_text(int64_t count) {
  if (count == 0) return "no runs yet; they appear when flightdeck run records some here";
  return std::to_string(count) + (count == 1 ? " run" : " runs");
}

void announce(const ServeOptions& options, const serve::Server& server) {
  const int64_t count = server.run_count();
  if (options.json) {
    std::printf("%s\n",
                Json::object()
                    .field("address", server.address())
                    .field("port", server.port())
                    .field("folder", options.server.folder)
                    .field("runs", count)
                    .text()
                    .c_str());
  } else {
    std::printf("%s\n", server.address().c_str());
    if (is_quiet()) {
      std::fflush(stdout);
      return;
    }
    std::printf("%s: %s\n", options.server.folder.c_str(), count_text(count).c_str());
    if (!serve::has_page()) {
      std::printf("built without the page (npm was missing); /api/v1/runs has the values\n");
    }
    std::printf("Ctrl-C ends\n");
  }
  std::fflush(stdout);
}

std::unique_ptr<serve::Server> make_server(const ServeOptions& options) {
  try {
    return std::make_unique<serve::Server>(options.server);
  } catch (const std::invalid_argument& error) {
    throw UsageError(message_of(error));
  }
}

void run_server(const ServeOptions& options) {
  const std::unique_ptr<serve::Server> server = make_server(options);
  note_interrupts();
  server->start();
  // The address is announced after two seconds at most, while a large folder is still looked at.
  constexpr int kLooks = 100;
  for (int k = 0; k < kLooks && !server->has_looked() && !is_interrupted(); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  announce(options, *server);
  while (!is_interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  server->stop();
  throw interruption();
}

void add_serve(CLI::App* command) {
  const auto options = std::make_shared<ServeOptions>();
  command->add_option("FOLDER", options->server.folder, "Folder of runs, or one run")
      ->capture_default_str();
  command->add_option("--port", options->server.port, "0 takes a free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command
      ->add_option(
          "--host", options->server.host, "Address to listen on; others than this need --token")
      ->capture_default_str();
  command
      ->add_option("--token",
                   options->server.token,
                   "What clients have to know: at least 16 letters, digits or -._~. In the "
                   "environment it is hidden from others on this machine")
      ->envname("FLIGHTDECK_TOKEN");
  command->add_flag("--edit",
                    options->server.edit,
                    "Let the page change tags and notes of runs and archive them; without it "
                    "nothing is written");
  command->add_flag("--json", options->json, "Print the address as one JSON object");
  command->footer(
      "Only reads, unless --edit lets it label runs. Runs that appear, grow, move or vanish are "
      "followed.\n"
      "Examples:\n"
      "  flightdeck serve\n"
      "  flightdeck serve runs/first --port 8080\n"
      "  flightdeck serve --host 0.0.0.0 --token $(openssl rand -hex 16)");
  command->callback([options] { run_server(*options); });
}

}  // namespace

Command serve_command() {
  return {"serve",
          "Serve the dashboard of all runs in a folder, ended or still running.",
          40,
          &add_serve};
}

}  // namespace flightdeck::cli
