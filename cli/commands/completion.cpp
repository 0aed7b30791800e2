// SPDX-License-Identifier: MIT
// flightdeck completion: the script by which a shell completes the tool's words.
#include "cli/reference/completion.h"

#include <cerrno>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/names.h"
#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

struct CompletionOptions {
  std::string shell;
  bool json = false;
};

void print_completion(const CLI::App& tool, const CompletionOptions& options) {
  check_name("shell", options.shell, {"bash", "fish", "zsh"});
  const CommandReference reference = reference_of(tool);
  const auto write = options.shell == "bash"   ? &bash_completion
                     : options.shell == "fish" ? &fish_completion
                                               : &zsh_completion;
  const std::string script = write(reference, program_invocation_short_name);
  if (options.json) {
    std::cout << Json::object().field("shell", options.shell).field("script", script).text()
              << "\n";
  } else {
    std::cout << script;
  }
}

void add_completion(CLI::App* command) {
  const auto options = std::make_shared<CompletionOptions>();
  command->add_option("SHELL", options->shell, "bash, fish or zsh")->required();
  command->add_flag("--json", options->json, "Print one JSON object with the script");
  command->footer(
      "Commands, options, problems, optimizers, quantities, folders of runs and the like are\n"
      "completed. An installed flightdeck has brought the scripts along.\n"
      "Examples:\n"
      "  source <(flightdeck completion bash)\n"
      "  flightdeck completion zsh >~/.zsh/_flightdeck  # a folder of fpath\n"
      "  flightdeck completion fish >~/.config/fish/completions/flightdeck.fish");
  command->callback([options, command] { print_completion(*command->get_parent(), *options); });
}

}  // namespace

Command completion_command() {
  return {"completion", "Write the script by which a shell completes words.", 160, &add_completion};
}

}  // namespace flightdeck::cli
