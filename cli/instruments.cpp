// SPDX-License-Identifier: MIT
#include "cli/instruments.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/names.h"
#include "cli/tool_words.h"

namespace flightdeck::cli {
namespace {

constexpr int64_t kInterval = 10;

// NAME[:SETTINGS][@SCHEDULE]
Quantity parse_quantity(const std::string& text, const Schedule& schedule) {
  const size_t at = text.find('@');
  const std::string before = text.substr(0, at);
  const size_t colon = before.find(':');
  const std::string settings = colon == std::string::npos ? "" : before.substr(colon + 1);
  Quantity parsed = quantity(before.substr(0, colon), Settings::parse(settings));
  return parsed.on(at == std::string::npos ? schedule : Schedule::parse(text.substr(at + 1)));
}

std::vector<Quantity>::iterator find(std::vector<Quantity>& quantities, const std::string& name) {
  return std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& quantity) {
    return quantity.name() == name;
  });
}

std::vector<Quantity> named_quantities(const std::vector<std::string>& texts,
                                       const Schedule& schedule) {
  std::vector<Quantity> named;
  for (const std::string& text : texts) {
    Quantity parsed = parse_quantity(text, schedule);
    if (find(named, parsed.name()) != named.end()) {
      throw UsageError("--quantity names '" + parsed.name() + "' twice; leave one of them out");
    }
    named.push_back(std::move(parsed));
  }
  return named;
}

Schedule chosen_schedule(const InstrumentOptions& options) {
  if (!options.track.empty() && options.interval != 0) {
    throw UsageError("--interval and --track exclude each other; give one of them");
  }
  if (!options.track.empty()) return Schedule::parse(options.track);
  return Schedule::every(options.interval == 0 ? kInterval : options.interval);
}

std::vector<Quantity> preset_quantities(const std::string& name, const Schedule& schedule) {
  if (name == "none") return {};
  std::vector<std::string> names = {"none"};
  for (const PresetInfo& info : all_presets()) names.push_back(info.name);
  check_name("preset", name, names);
  return preset(name, schedule);
}

}  // namespace

void add_instrument_options(CLI::App& command, InstrumentOptions& options) {
  command
      .add_option(
          "--preset",
          options.preset,
          "economy, business, full or none; default economy, none where --quantity is given")
      ->group("Instruments");
  command
      .add_option("--quantity",
                  options.quantities,
                  "A quantity, with settings and a schedule of its own if wanted: loss, "
                  "hess_trace:curvature=ggn,samples=32, \"hess_max_ev@every 50\"; repeatable, adds "
                  "to the preset")
      ->allow_extra_args(false)
      ->group("Instruments");
  command.add_option("--interval", options.interval, "Compute at every K-th step; default 10")
      ->group("Instruments");
  command
      .add_option(
          "--track",
          options.track,
          "Instead: \"every 16 from 3\", \"log 0 4\" (from step 10^0 to 10^4), \"at 0,5,9\"")
      ->group("Instruments");
  command
      .add_option("--group",
                  options.group,
                  "Values also per parameter, module, module:LEVELS, type, depth or "
                  "pattern:REGEX,REGEX; default whole (the model only)")
      ->group("Instruments");
  command
      .add_option("--batch-norm",
                  options.batch_norm,
                  "Batch normalisation in training mode: refuse (default), constant (statistics "
                  "held constant) or split (the gradient split by sample)")
      ->group("Instruments");
  command
      .add_flag("--strict",
                options.strict,
                "End with an error if a quantity fails, instead of switching it off")
      ->group("Instruments");
}

BatchNormPolicy batch_norm_policy(const std::string& name) {
  check_name("batch-norm policy", name, {"refuse", "constant", "split"});
  if (name == "constant") return BatchNormPolicy::kConstantStatistics;
  return name == "split" ? BatchNormPolicy::kSplitGradient : BatchNormPolicy::kRefuse;
}

Instruments chosen_instruments(const InstrumentOptions& options) {
  Instruments chosen;
  chosen.preset = options.preset;
  if (chosen.preset.empty()) chosen.preset = options.quantities.empty() ? "economy" : "none";
  chosen.schedule = chosen_schedule(options);
  chosen.quantities = preset_quantities(chosen.preset, chosen.schedule);
  for (Quantity& named : named_quantities(options.quantities, chosen.schedule)) {
    const auto same = find(chosen.quantities, named.name());
    if (same == chosen.quantities.end()) {
      chosen.quantities.push_back(std::move(named));
    } else {
      *same = std::move(named);
    }
  }
  chosen.cockpit.grouping = Grouping::parse(options.group);
  chosen.cockpit.strict = options.strict;
  chosen.cockpit.batch_norm = batch_norm_policy(options.batch_norm);
  chosen.cockpit.wording = &in_words_of_the_tool;
  return chosen;
}

}  // namespace flightdeck::cli
