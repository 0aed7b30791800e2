// SPDX-License-Identifier: MIT
#include "cli/options/run_options.h"

#include <cstdlib>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "cli/machine/environment.h"
#include "cli/machine/process.h"
#include "cli/options/config_words.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "lamps/alert_ways.h"

namespace flightdeck::cli {
namespace {

std::vector<std::string> schedule_forms() {
  std::vector<std::string> forms;
  for (const suite::ScheduleEntry& entry : suite::all_schedules()) forms.push_back(entry.form);
  return forms;
}

void add_training_options(CLI::App& command, RunArguments& arguments) {
  run::TrainingOptions& training = arguments.run.training;
  const auto group = [](CLI::Option* option) { option->group("Training"); };
  group(command.add_option(
      "--optimizer", training.optimizer, "See 'flightdeck list optimizers'; default sgd"));
  group(command.add_option("--lr",
                           arguments.learning_rate,
                           "Learning rate; default is the problem's own, else the optimizer's"));
  group(command.add_option("--momentum",
                           arguments.momentum,
                           "Of optimizers that have one; sgd with it is the optimizer momentum"));
  group(command
            .add_option("--set", arguments.settings, "Any hyperparameter as NAME=VALUE; repeatable")
            ->allow_extra_args(false));
  group(command.add_option(
      "--schedule",
      training.schedule,
      "Of the learning rate: " + joined(schedule_forms()) + "; default constant"));
  group(command.add_option("--epochs", training.epochs, "Default is the problem's own"));
  group(command.add_option("--steps", training.steps, "Instead of --epochs"));
  group(command.add_option("--batch-size", training.batch_size, "Default is the problem's own"));
  group(command.add_option(
      "--seed", training.seed, "Of parameters, split and order of the data; default 42"));
  group(command.add_option("--device", arguments.device, "cpu or cuda; default cpu"));
  group(command.add_option("--threads", arguments.threads, "CPU threads; default is one per core"));
  group(command.add_option("--evaluate-every",
                           arguments.run.evaluate_every,
                           "Epochs between two evaluations on train, valid and test; 0 for none; "
                           "default 1"));
  group(command.add_flag("--assist",
                         arguments.run.assist,
                         "Choose the learning rate, and the batch size and the end where they are "
                         "not given, by alpha, CABS and early stopping; docs/assist.md says where "
                         "tuning is better"));
  group(command.add_flag("--keep-going",
                         arguments.run.keep_going,
                         "Go on after a loss that is not finite; otherwise the run ends there"));
  group(command.add_flag("--stop-diverged",
                         arguments.run.stop_diverged,
                         "On a GPU, end with the very step whose loss is not finite, not within "
                         "ten; waits for the device at every step"));
}

void add_data_options(CLI::App& command, RunArguments& arguments) {
  suite::DataOptions& data = arguments.run.training.data;
  const auto group = [](CLI::Option* option) { option->group("Data"); };
  group(command.add_option(
      "--data", data.folder, "Folder with the data set's files; default: see 'flightdeck doctor'"));
  group(command.add_flag(
      "--synthetic", data.synthetic, "Train on generated data of the same shape; needs no files"));
  group(command.add_flag("--no-augment", arguments.no_augment, "Leave out random crops and flips"));
  group(command.add_flag("--raw", data.raw, "Leave the pixels in [0, 255], unscaled"));
  group(command.add_option("--limit", data.limit, "At most so many samples in each part"));
}

bool is_option(const std::string& word, const std::string& option) {
  return word == option || word.rfind(option + "=", 0) == 0;
}

// Adds what lamps may do. Each option takes a lamp or a severity, and may be given several times.
void add_finding_options(CLI::App& command, RunArguments& arguments) {
  ReactionOptions& reactions = arguments.run.reactions;
  const auto add_lamps = [&](const char* name, std::vector<std::string>& on, const char* what) {
    command.add_option(name, on, what)->allow_extra_args(false)->group("Findings");
  };
  add_lamps("--stop-on",
            reactions.stop_on,
            "End the run, with a checkpoint, when this lamp lights ('flightdeck list lamps'), or "
            "one of this severity or more (advice, warning, failure); repeatable");
  add_lamps("--checkpoint-on",
            reactions.checkpoint_on,
            "Keep a checkpoint then, and the model in RUN/models; repeatable");
  add_lamps("--lower-rate-on",
            reactions.lower_rate_on,
            "Lower the learning rate then as the finding advises, else by half; repeatable");
  add_lamps("--clip-on",
            reactions.clip_on,
            "Clip gradients from then on at --clip-norm, and at half of it the next time; "
            "repeatable");
  add_lamps("--skip-on",
            reactions.skip_on,
            "Skip the update of the step that lit the lamp: for lamps that judge one step, such as "
            "diverged; repeatable");
  add_lamps("--restore-on",
            reactions.restore_on,
            "Go back to the last good parameters then, 50 steps old or more, and on with the next "
            "batch; repeatable");
  command
      .add_option("--clip-norm",
                  reactions.clip_norm,
                  "Default is the median of the gradient norms so far (grad_norm)")
      ->check(CLI::PositiveNumber)
      ->group("Findings");
  command
      .add_option("--look-every",
                  reactions.look_every,
                  "Steps between two looks of these lamps; default 10, each step with --skip-on "
                  "and --restore-on")
      ->check(CLI::PositiveNumber)
      ->group("Findings");
  command
      .add_option("--alert-command",
                  arguments.alert.command,
                  "Tell each finding to a command: JSON on its standard input, FLIGHTDECK_LAMP and "
                  "more in its environment. Not kept with the run")
      ->group("Findings");
  command
      .add_option("--alert-webhook",
                  arguments.alert.webhook,
                  "Post each finding as JSON to http://HOST[:PORT][/PATH]. Not kept with the run")
      ->group("Findings");
  add_lamps("--alert-on",
            arguments.alert_on,
            "What is told to these: lamps, or a severity; default warning; repeatable");
}

// Checks only options that were given: CLI11 leaves others at their defaults, where 0 stands for
// "choose".
void check_counts(const CLI::App& command, const RunArguments& arguments) {
  if (command.count("--epochs") != 0 && command.count("--steps") != 0) {
    throw UsageError("--epochs and --steps exclude each other; give one of them");
  }
  const auto check = [&](const char* option, int64_t value, int64_t least) {
    check_at_least(command.count(option) != 0, option, value, least);
  };
  check("--epochs", arguments.run.training.epochs, 1);
  check("--steps", arguments.run.training.steps, 1);
  check("--batch-size", arguments.run.training.batch_size, 1);
  check("--threads", arguments.threads, 1);
  check("--limit", arguments.run.training.data.limit, 1);
  check("--interval", arguments.tracking.interval, 1);
  check("--evaluate-every", arguments.run.evaluate_every, 0);
  check("--checkpoint-every", arguments.run.checkpoint_every.value_or(0), 0);
  if (arguments.run.resume && arguments.run.folder.empty()) {
    throw UsageError("--resume needs the folder of the run; name it by --out");
  }
  if (arguments.run.keep_going && arguments.run.stop_diverged) {
    throw UsageError("--keep-going and --stop-diverged exclude each other; give one of them");
  }
}

suite::Hyperparameters hyperparameters(const RunArguments& arguments) {
  suite::Hyperparameters given = parse_settings(arguments.settings);
  if (arguments.learning_rate) given["learning_rate"] = *arguments.learning_rate;
  if (arguments.momentum) given["momentum"] = *arguments.momentum;
  return given;
}

std::map<std::string, std::string> tags(const RunArguments& arguments) {
  std::map<std::string, std::string> tags;
  for (const std::string& text : arguments.tag_texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError("--tag is '" + text + "'; write KEY=VALUE, for example --tag sample=first");
    }
    tags[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return tags;
}

// Leaves out alerts: whoever goes on with a record of others runs no command of theirs.
std::vector<std::string> without_alerts(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (size_t k = 0; k < words.size(); ++k) {
    const bool is_alert =
        is_option(words[k], "--alert-command") || is_option(words[k], "--alert-webhook");
    if (!is_alert) {
      kept.push_back(words[k]);
    } else if (words[k].find('=') == std::string::npos) {
      ++k;
    }
  }
  return kept;
}

}  // namespace

void check_data_is_here(const std::string& command,
                        const std::string& problem,
                        const suite::DataOptions& data) {
  if (data.synthetic) return;
  const std::string& data_set = suite::find_problem(problem).data_set;
  const suite::DataDescription found = suite::describe_data(data_set, data.folder);
  TORCH_CHECK(!found.needs_files || found.is_found,
              command,
              ": the data set ",
              data_set,
              " is not here\n  files: ",
              joined(found.files),
              "\n  searched: ",
              joined(found.searched),
              "\n  to get it: ",
              found.how_to_get,
              "\n  or train on generated data of the same shape with --synthetic");
}

suite::Hyperparameters parse_settings(const std::vector<std::string>& texts) {
  suite::Hyperparameters given;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') {
      throw UsageError("--set is '" + text + "'; write NAME=NUMBER, for example --set beta2=0.99");
    }
    given[text.substr(0, equals)] = number;
  }
  return given;
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  command.add_option("PROBLEM", arguments.run.training.problem, "See 'flightdeck list problems'")
      ->required();
  add_options_of_run(command, arguments);
}

void add_options_of_run(CLI::App& command, RunArguments& arguments) {
  add_training_options(command, arguments);
  add_tracking_options(command, arguments.tracking);
  add_data_options(command, arguments);
  add_finding_options(command, arguments);
  command
      .add_option("--config",
                  arguments.config,
                  "TOML file with options by their names: lr = 0.01; what stands on the command "
                  "line wins. RUN/config.toml is one")
      ->group("Output");
  command
      .add_option("--out",
                  arguments.run.folder,
                  "Folder of the record; default runs/PROBLEM-OPTIMIZER-DATE-TIME. One that "
                  "holds a run is refused")
      ->group("Output");
  command
      .add_flag("--resume",
                arguments.run.resume,
                "Go on with the run in --out where it was interrupted or killed, with the options "
                "of its start; begins it if there is none")
      ->group("Output");
  command
      .add_option("--checkpoint-every",
                  arguments.run.checkpoint_every,
                  "Steps between two checkpoints, 0 for none; default: at the end of an epoch if "
                  "the last is half a minute old, at any step if it is 45 seconds old")
      ->group("Output");
  command
      .add_option(
          "--keep-models",
          arguments.keep_models,
          "Steps before which the model is kept in RUN/models, as for --track: \"log 0 4 100\" "
          "keeps up to 100 of them at logarithmic distances")
      ->group("Output");
  command.add_option("--tag", arguments.tag_texts, "KEY=VALUE to find the run by; repeatable")
      ->allow_extra_args(false)
      ->group("Output");
  command
      .add_flag(
          "--report", arguments.report, "Write the run as one HTML file, report.html, at the end")
      ->group("Output");
  command.add_flag("--json", arguments.json, "Print one JSON object per event, and no bar")
      ->group("Output");
}

void complete_run_options(const CLI::App& command, RunArguments& arguments) {
  read_arguments("run", [&] {
    check_counts(command, arguments);
    if (arguments.momentum && arguments.run.training.optimizer == "sgd") {
      arguments.run.training.optimizer = "momentum";
    }
    arguments.run.training.hyperparameters = hyperparameters(arguments);
    arguments.run.tags = tags(arguments);
    run::check_training_options(arguments.run.training);
    arguments.run.tracking = chosen_tracking(arguments.tracking);
    check_reactions(arguments.run.reactions);
    if (!arguments.alert_on.empty()) arguments.run.alert_on = arguments.alert_on;
    check_wanted("--alert-on", arguments.run.alert_on);
    if (!arguments.alert.webhook.empty()) lamps::web_address(arguments.alert.webhook);
    if (!arguments.keep_models.empty()) {
      arguments.run.keep_models = DueSteps::parse(arguments.keep_models);
    }
  });
  arguments.run.arguments = without_alerts(with_config(command_line()));
  arguments.run.training.device = chosen_device("run", arguments.device);
  arguments.run.training.data.augment = !arguments.no_augment;
  check_data_is_here("run", arguments.run.training.problem, arguments.run.training.data);
}

}  // namespace flightdeck::cli
