// SPDX-License-Identifier: MIT
#include "cli/reports/tune_printer.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

#include "base/shell.h"
#include "cli/options/names.h"
#include "cli/reports/tune_progress.h"
#include "cli/text/json.h"
#include "cli/text/next_commands.h"
#include "cli/text/numbers.h"
#include "cli/text/quiet.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "record/text.h"

namespace flightdeck::cli {
namespace {

using study::Progress;
using study::RunEvent;
using study::Study;

constexpr double kHour = 3600;
constexpr double kTuneBarSeconds = 0.1, kTuneLineSeconds = 5;
constexpr size_t kLeastBar = 8, kBarWidth = 24;

Json json_of(const Progress& progress) {
  Json object = Json::object();
  object.field("event", "progress")
      .field("done", progress.ended)
      .field("running", progress.running)
      .field("left", left_of(progress))
      .field("elsewhere", progress.elsewhere)
      .field("failed", progress.failed)
      .field("planned", progress.planned)
      .field("most", progress.most);
  if (progress.seconds_left >= 0) object.field("seconds_left", measured(progress.seconds_left));
  return object;
}

std::vector<std::string> optimizer_names(const study::Request& request) {
  return names_of(request.optimizers);
}

// Writes the hyperparameters that were varied.
std::string setting_text(const study::Request& request, const study::TunedSetting& tuned) {
  std::string text;
  for (const study::Dimension& dimension : request.optimizer(tuned.combination.optimizer).space) {
    bool is_varied = dimension.search.kind != suite::Search::Kind::kFixed && tuned.budget != "grid";
    for (const study::GridAxis& axis : request.grid) {
      is_varied = is_varied || (tuned.budget == "grid" && axis.name == dimension.name);
    }
    if (!is_varied) continue;
    text += (text.empty() ? "" : ", ") + dimension.name + " " +
            short_number(tuned.hyperparameters.at(dimension.name));
  }
  return text;
}

std::string score_text(const study::TunedSetting& tuned, bool utf8) {
  const auto text = [&](double value) {
    return tuned.is_accuracy ? percent(value) : short_number(value);
  };
  return text(tuned.spread.mean) + (utf8 ? " ± " : " +- ") + text(tuned.spread.deviation);
}

Json json_of(const study::TunedSetting& tuned) {
  Json object = Json::object();
  object.field("problem", tuned.combination.problem)
      .field("optimizer", tuned.combination.optimizer)
      .field("schedule", tuned.combination.schedule)
      .field("budget", tuned.budget);
  if (tuned.sample.empty()) return object.field("complete", false);
  return object.field("sample", tuned.sample)
      .field("hyperparameters", tuned.hyperparameters)
      .field("metric", tuned.is_accuracy ? "test_accuracy" : "test_loss")
      .field("mean", tuned.spread.mean)
      .field("deviation", tuned.spread.deviation)
      .field("seeds", tuned.spread.count)
      .field("diverged", tuned.spread.diverged)
      .field("complete", tuned.is_complete);
}

std::string table_of(const study::Request& request,
                     const std::vector<study::TunedSetting>& found,
                     bool utf8) {
  Table table({"problem",
               "optimizer",
               "schedule",
               "budget",
               "best",
               "setting",
               "metric",
               "score",
               "seeds"});
  for (const study::TunedSetting& tuned : found) {
    const study::Combination& of = tuned.combination;
    if (tuned.sample.empty()) {
      table.add({of.problem, of.optimizer, of.schedule, tuned.budget, "", "", "", "", "none yet"});
      continue;
    }
    const std::string diverged = tuned.spread.diverged == 0
                                     ? ""
                                     : " (" + std::to_string(tuned.spread.diverged) + " diverged)";
    table.add({of.problem,
               of.optimizer,
               of.schedule,
               tuned.budget,
               tuned.sample,
               setting_text(request, tuned),
               tuned.is_accuracy ? "test accuracy" : "test loss",
               score_text(tuned, utf8),
               std::to_string(tuned.spread.count) + diverged});
  }
  return padded_text(table);
}

}  // namespace

TunePrinter::TunePrinter(bool json)
    : json_(json),
      has_bar_(!json && !is_quiet() && isatty(STDERR_FILENO) != 0),
      utf8_(is_utf8()),
      shown_(std::chrono::steady_clock::now()) {}

void TunePrinter::start(const Study& study) {
  const study::Request& request = study.request();
  const auto planned = static_cast<int64_t>(study.plan().size());
  const auto most = static_cast<int64_t>(study::most_runs(request));
  const auto done = static_cast<int64_t>(study.scores().size());
  if (json_) {
    print(Json::object()
              .field("event", "start")
              .field("study", study.folder())
              .field("problems", request.problems)
              .field("optimizers", optimizer_names(request))
              .field("schedules", request.schedules)
              .field("budgets", request.budgets)
              .field("planned", planned)
              .field("most", most)
              .field("done", done)
              .text());
    return;
  }
  if (is_quiet()) return;
  print(fact_line("study", study.folder()));
  print(fact_line("problems", joined(request.problems)));
  print(fact_line("optimizers", joined(optimizer_names(request))));
  print(fact_line("schedules", joined(request.schedules)));
  print(fact_line("budgets", joined(request.budgets)));
  print(fact_line("runs",
                  std::to_string(planned) + " planned by now, " + std::to_string(done) +
                      " of them done; at most " + std::to_string(most) + " in all"));
}

void TunePrinter::estimate(const study::Estimate& estimate, int jobs, double cost_per_hour) {
  const double hours = estimate.seconds / kHour;
  if (json_) {
    Json object = Json::object();
    object.field("event", "estimate")
        .field("left", estimate.left)
        .field("measured", estimate.measured)
        .field("hours", measured(hours))
        .field("unknown", estimate.unknown)
        .field("unknown_runs", estimate.unknown_runs);
    if (cost_per_hour > 0) object.field("cost", measured(hours * cost_per_hour));
    print(object.text());
    return;
  }
  if (is_quiet() || estimate.left == 0) return;
  if (estimate.measured == 0) {
    print(fact_line("time",
                    "not known before a run of each problem has ended; --pilot runs one of each"));
    return;
  }
  std::string text = "at most " + duration(estimate.seconds) + " for " +
                     counted(static_cast<int64_t>(estimate.left - estimate.unknown_runs), "run") +
                     " one after the other, by " +
                     counted(static_cast<int64_t>(estimate.measured), "run") + " that ended";
  if (jobs > 1) {
    text +=
        "; " + duration(estimate.seconds / jobs) + " with " + std::to_string(jobs) + " at a time";
  }
  if (cost_per_hour > 0) {
    text += "; it costs " + short_number(hours * cost_per_hour) + " at " +
            short_number(cost_per_hour) + " an hour";
  }
  if (!estimate.unknown.empty()) {
    text += "; not counted: " + counted(static_cast<int64_t>(estimate.unknown_runs), "run") +
            " of " + joined(estimate.unknown) + ", of which none has ended (see --pilot)";
  }
  print(fact_line("time", text));
}

void TunePrinter::event(const RunEvent& event) {
  static const char* const kNames[] = {"started", "ended", "failed"};
  const char* name = kNames[static_cast<size_t>(event.kind)];
  if (json_) {
    Json object = Json::object();
    object.field("event", name).field("run", event.run.id);
    if (event.kind == RunEvent::Kind::kFailed) object.field("text", event.text);
    print(object.text());
  } else if (event.kind == RunEvent::Kind::kFailed) {
    clear_bar();
    std::cerr << "flightdeck: " << event.run.id << " failed: " << event.text << std::flush;
  }
}

void TunePrinter::progress(const Progress& progress) {
  last_ = progress;
  if (is_quiet()) return;
  const auto now = std::chrono::steady_clock::now();
  const double pause = has_bar_ ? kTuneBarSeconds : kTuneLineSeconds;
  if (std::chrono::duration<double>(now - shown_).count() < pause) return;
  shown_ = now;
  show(progress);
}

void TunePrinter::show(const Progress& progress) {
  if (json_) {
    print(json_of(progress).text());
  } else if (!has_bar_) {
    print(text_of(progress, std::string::npos));
  } else {
    const double share = double(progress.ended) / double(std::max<size_t>(progress.most, 1));
    // A line that wraps cannot be taken back.
    const auto columns = static_cast<size_t>(terminal_width(STDERR_FILENO, 80)) - 1;
    const size_t whole = display_width(text_of(progress, std::string::npos));
    const size_t bar = std::clamp(columns - std::min(columns, whole + 3), kLeastBar, kBarWidth);
    const std::string text = text_of(progress, columns - std::min(columns, bar + 3));
    std::cerr << "\r\033[K" << progress_bar(share, bar, utf8_) << " " << text << std::flush;
    bar_is_shown_ = true;
  }
}

void TunePrinter::submitted(const Study& study, const study::Submission& submission) {
  if (json_) {
    print(Json::object()
              .field("event", "submitted")
              .field("runs", submission.runs)
              .field("jobs", submission.jobs)
              .field("queued", submission.queued)
              .text());
  } else if (!submission.queued.empty()) {
    print("jobs of this study are in the queue: " + joined(submission.queued) +
          "; nothing is submitted");
  } else if (submission.runs == 0) {
    print("nothing is left to submit");
  } else {
    print("submitted " + counted(static_cast<int64_t>(submission.runs), "run") + " as jobs " +
          joined(submission.jobs) + "; the last of them submits what follows");
    print("how far it is: flightdeck tune " + shell_word(study.folder()) + " --plan-only");
  }
}

void TunePrinter::end(const Study& study, std::optional<Ending> ending) {
  const std::string word = ending ? to_string(*ending) : "planned";
  clear_bar();
  const std::vector<study::TunedSetting> found =
      study::tuned_settings(study.request(), study.scores());
  const size_t left = study.plan().size() - study.scores().size();
  if (json_) {
    Json results = Json::array();
    for (const study::TunedSetting& tuned : found) results.add(json_of(tuned));
    print(Json::object()
              .field("event", "end")
              .field("ending", word)
              .field("study", study.folder())
              .field("planned", study.plan().size())
              .field("done", study.scores().size())
              .field("failed", last_.failed)
              .field("results", results)
              .field("next", commands_after_study(study.folder(), left > 0))
              .text());
    return;
  }
  if (is_quiet()) {
    print(study.folder());
    return;
  }
  if (!study.scores().empty()) print("\n" + table_of(study.request(), found, utf8_));
  const std::string rest = counted(static_cast<int64_t>(left), "run") + " of the plan left";
  if (!ending) {
    if (left == 0) return;
    print(word + ", " + rest + "; go on with: flightdeck tune " + shell_word(study.folder()));
    return;
  }
  print(word + (left > 0 ? ", " + rest : ""));
  print(next_lines(commands_after_study(study.folder(), left > 0)));
}

void TunePrinter::print(const std::string& line) {
  clear_bar();
  std::cout << record::printable(line, record::Lines::kKept) << "\n" << std::flush;
}

void TunePrinter::clear_bar() {
  if (bar_is_shown_) std::cerr << "\r\033[K" << std::flush;
  bar_is_shown_ = false;
}

}  // namespace flightdeck::cli
