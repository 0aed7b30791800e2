// SPDX-License-Identifier: MIT
#include "run/run_config.h"

#include <optional>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "base/exact_text.h"
#include "base/shown_number.h"
#include "base/words.h"

namespace flightdeck::run {
namespace {

std::string text_of(const suite::Hyperparameters& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : ", ") + name + " " + short_number(value);
  }
  return text;
}

std::string tracked_text(const Tracking& tracking) {
  if (tracking.quantities.empty()) return "nothing but losses, accuracies and learning rate";
  std::vector<std::string> names;
  for (const Quantity& quantity : tracking.quantities) names.push_back(quantity.name());
  return (tracking.preset == "none" ? "" : tracking.preset + ": ") + joined(names) + "; " +
         tracking.due.text();
}

std::string text_of(BatchNormPolicy policy) {
  if (policy == BatchNormPolicy::kConstantStatistics) return "constant";
  return policy == BatchNormPolicy::kSplitGradient ? "split" : "refuse";
}

// Returns whether a run that goes on may have another value.
bool may_differ(const std::string& key) {
  return key == "threads" || key == "data" || key.rfind("tag ", 0) == 0;
}

}  // namespace

std::map<std::string, double> own_rates(const std::string& problem) {
  // The valley has a curvature of about 1 000, so the rate must stay below 2e-3.
  if (problem == "two_d_rosenbrock") {
    return {{"lookahead_momentum", 3e-4}, {"momentum", 3e-4}, {"nag", 3e-4}, {"sgd", 5e-4}};
  }
  // It starts on a wall with a slope of 2e5; radam's first steps are not scaled.
  if (problem == "two_d_beale") {
    return {{"lookahead_momentum", 3e-7},
            {"lookahead_radam", 1e-5},
            {"momentum", 3e-7},
            {"nag", 3e-7},
            {"radam", 1e-5},
            {"sgd", 3e-6}};
  }
  return {};
}

suite::Hyperparameters complete_hyperparameters(const std::string& problem,
                                                const TrainingOptions& options) {
  suite::Hyperparameters given = options.hyperparameters;
  const std::map<std::string, double> own = own_rates(problem);
  const auto rate = own.find(options.optimizer);
  if (rate != own.end()) given.emplace("learning_rate", rate->second);
  return suite::find_optimizer(options.optimizer).complete(given);
}

Config config_of(const RunOptions& options, const Training& training) {
  const suite::DataSet& data = training.data();
  Config config = {
      {"problem", training.problem().name},
      {"data_set", training.problem().data_set},
      {"data", data.origin},
      {"synthetic", data.is_synthetic ? "true" : "false"},
      {"augmented", data.augment ? "true" : "false"},
      {"raw", options.training.data.raw ? "true" : "false"},
      {"limit", std::to_string(options.training.data.limit)},
      {"optimizer", options.training.optimizer},
      {"hyperparameters", text_of(training.hyperparameters())},
      {"schedule", training.schedule().text()},
      {"batch_size", std::to_string(training.batch_size())},
      {"steps", std::to_string(training.total_steps())},
      {"steps_per_epoch", std::to_string(training.steps_per_epoch())},
      {"seed", std::to_string(options.training.seed)},
      {"threads", std::to_string(at::get_num_threads())},
      {"l2", short_number(training.problem().l2)},
      {"preset", options.tracking.preset},
      {"tracked", tracked_text(options.tracking)},
      {"batch_norm", text_of(options.tracking.cockpit.batch_norm)},
  };
  if (options.assist) config["assist"] = "true";
  if (options.reactions.any()) config["reactions"] = options.reactions.text();
  for (const auto& [key, value] : options.tags) config["tag " + key] = value;
  return config;
}

Config identity_of(Config config, const RunOptions& options, const Training& training) {
  config["hyperparameters"].clear();
  for (const auto& [name, value] : training.hyperparameters()) {
    config["hyperparameters"] += name + " " + exact_text(value) + " ";
  }
  config["device"] = options.training.device.str();
  config["evaluate_every"] = std::to_string(options.evaluate_every);
  return config;
}

void check_same_run(const Config& asked, const Config& stored) {
  std::string differences;
  for (const auto& [key, value] : asked) {
    const auto before = stored.find(key);
    if (may_differ(key) || (before != stored.end() && before->second == value)) continue;
    differences += "\n  " + key + " is " + value + " but was " +
                   (before == stored.end() ? "not set" : before->second);
  }
  TORCH_CHECK(differences.empty(),
              "run: options.resume cannot go on with another run",
              differences,
              "\n  give the options of the first start, or choose another folder");
}

std::optional<study::Outcome> ended_run(const RunOptions& options) {
  if (!study::has_outcome(options.folder)) return std::nullopt;
  study::Outcome outcome = study::read_outcome(options.folder);
  if (outcome.ending == Ending::kInterrupted) return std::nullopt;
  const TrainingOptions& asked = options.training;
  const auto check = [&](const std::string& what, const std::string& now, const std::string& was) {
    TORCH_CHECK_VALUE(now == was,
                      "run: ",
                      options.folder,
                      " has ended with another setting: ",
                      what,
                      " was ",
                      was,
                      " and is ",
                      now,
                      " now; choose another folder");
  };
  check("the problem", asked.problem, outcome.setting.problem);
  check("the optimizer", asked.optimizer, outcome.setting.optimizer);
  check("the seed", std::to_string(asked.seed), std::to_string(outcome.seed));
  check("the schedule",
        suite::LearningRateSchedule::parse(asked.schedule).text(),
        outcome.setting.schedule);
  const suite::Hyperparameters all = complete_hyperparameters(asked.problem, asked);
  for (const auto& [name, value] : all) {
    const auto before = outcome.setting.hyperparameters.find(name);
    if (before == outcome.setting.hyperparameters.end()) continue;
    if (options.assist && name == "learning_rate") continue;  // it was chosen
    check(name, exact_text(value), exact_text(before->second));
  }
  return outcome;
}

}  // namespace flightdeck::run
