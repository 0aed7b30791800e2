// SPDX-License-Identifier: MIT
#include "cli/options/tracking_options.h"

#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/text/tool_words.h"

namespace flightdeck::cli {
namespace {

// Reads NAME[:SETTINGS][@DUE].
Quantity parse_quantity(const std::string& text, const DueSteps& due) {
  const size_t at = text.find('@');
  const std::string before = text.substr(0, at);
  const size_t colon = before.find(':');
  const std::string settings = colon == std::string::npos ? "" : before.substr(colon + 1);
  Quantity parsed = quantity(before.substr(0, colon), Settings::parse(settings));
  return parsed.on(at == std::string::npos ? due : DueSteps::parse(text.substr(at + 1)));
}

std::vector<Quantity> named_quantities(const std::vector<std::string>& texts, const DueSteps& due) {
  std::vector<Quantity> named;
  for (const std::string& text : texts) {
    Quantity parsed = parse_quantity(text, due);
    const auto is_same = [&](const Quantity& other) { return other.name() == parsed.name(); };
    if (std::any_of(named.begin(), named.end(), is_same)) {
      throw UsageError("--quantity names '" + parsed.name() + "' twice; leave one of them out");
    }
    named.push_back(std::move(parsed));
  }
  return named;
}

// Returns nothing if none was given.
std::optional<DueSteps> chosen_due_steps(const TrackingOptions& options) {
  if (!options.track.empty() && options.interval != 0) {
    throw UsageError("--interval and --track exclude each other; give one of them");
  }
  if (!options.track.empty()) return DueSteps::parse(options.track);
  if (options.interval == 0) return std::nullopt;
  return DueSteps::every(options.interval);
}

run::Tracking checked_preset(const std::string& name, const std::optional<DueSteps>& due) {
  std::vector<std::string> names = {"none"};
  for (const PresetInfo& info : all_presets()) names.push_back(info.name);
  check_name("preset", name, names);
  return due ? run::tracked_preset(name, *due) : run::tracked_preset(name);
}

}  // namespace

void add_tracking_options(CLI::App& command, TrackingOptions& options) {
  command
      .add_option(
          "--preset",
          options.preset,
          "economy, business, full, diagnosis or none; default diagnosis, none where --quantity is "
          "given")
      ->group("Quantities");
  command
      .add_option("--quantity",
                  options.quantities,
                  "A quantity, with settings and steps of its own if wanted: loss, "
                  "hess_trace:curvature=ggn,samples=32, \"hess_max_ev@every 50\"; repeatable, adds "
                  "to the preset")
      ->allow_extra_args(false)
      ->group("Quantities");
  command
      .add_option("--interval",
                  options.interval,
                  "Compute at every K-th step; default 10, for diagnosis 25 after the first 50")
      ->group("Quantities");
  command
      .add_option(
          "--track",
          options.track,
          "Instead: \"every 16 from 3\", \"every 25 after the first 50\", \"log 0 4\" (from step "
          "10^0 to 10^4), \"at 0,5,9\"")
      ->group("Quantities");
  command
      .add_option("--group",
                  options.group,
                  "Values also per parameter, module, module:LEVELS, type, depth or "
                  "pattern:REGEX,REGEX; whole: of the model only; default automatic (module, up to "
                  "200 of them)")
      ->group("Quantities");
  command
      .add_option("--batch-norm",
                  options.batch_norm,
                  "Batch normalisation in training mode: refuse (default), constant (statistics "
                  "held constant) or split (the gradient split by sample)")
      ->group("Quantities");
  command
      .add_flag("--strict",
                options.strict,
                "End with an error if a quantity fails, instead of switching it off")
      ->group("Quantities");
}

BatchNormPolicy batch_norm_policy(const std::string& name) {
  check_name("batch-norm policy", name, {"refuse", "constant", "split"});
  if (name == "constant") return BatchNormPolicy::kConstantStatistics;
  return name == "split" ? BatchNormPolicy::kSplitGradient : BatchNormPolicy::kRefuse;
}

run::Tracking chosen_tracking(const TrackingOptions& options) {
  std::string preset = options.preset;
  if (preset.empty()) preset = options.quantities.empty() ? "diagnosis" : "none";
  run::Tracking chosen = checked_preset(preset, chosen_due_steps(options));
  for (Quantity& named : named_quantities(options.quantities, chosen.due)) {
    run::track(chosen, std::move(named));
  }
  chosen.cockpit.grouping = Grouping::parse(options.group);
  chosen.cockpit.strict = options.strict;
  chosen.cockpit.batch_norm = batch_norm_policy(options.batch_norm);
  chosen.cockpit.wording = &in_words_of_the_tool;
  return chosen;
}

}  // namespace flightdeck::cli
