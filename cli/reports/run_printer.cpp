// SPDX-License-Identifier: MIT
#include "cli/reports/run_printer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <unistd.h>

#include "base/clock.h"
#include "base/shell.h"
#include "cli/reports/findings.h"
#include "cli/reports/run_bar.h"
#include "cli/reports/run_words.h"
#include "cli/text/json.h"
#include "cli/text/next_commands.h"
#include "cli/text/numbers.h"
#include "cli/text/quiet.h"
#include "cli/text/terminal.h"
#include "cli/text/tool_words.h"
#include "record/text.h"
#include "run/checkpoint.h"

namespace flightdeck::cli {
namespace {

constexpr double kBarSeconds = 0.1, kLineSeconds = 5;

// Numbers that change get so many columns, so that others stand still: "-1.234e-05", "100.0 %".
constexpr size_t kNumberColumns = 10, kPercentColumns = 7;

std::string score_text(const run::BatchScore& score) {
  std::string text = "loss " + short_number(score.loss);
  if (!std::isnan(score.accuracy)) text += "  accuracy " + percent(score.accuracy);
  return text;
}

// Writes "train 0.52, 81.2 %  valid ...", each number in at least `columns` columns.
std::string scores_text(const run::Scores& scores, size_t columns = 0) {
  std::string text;
  for (const char* part : {"train", "valid", "test"}) {
    const auto loss = scores.find(std::string(part) + "_loss");
    if (loss == scores.end()) continue;
    text += (text.empty() ? "" : "  ") + std::string(part) + " " +
            pad_left(short_number(loss->second), columns);
    const auto accuracy = scores.find(std::string(part) + "_accuracy");
    if (accuracy != scores.end()) {
      text += ", " + pad_left(percent(accuracy->second), columns == 0 ? 0 : kPercentColumns);
    }
  }
  return text;
}

std::string rate_text(double seconds_per_step) {
  return seconds_per_step > 0 ? short_number(1 / seconds_per_step) + " steps/s" : "";
}

Json& add_scores(Json& object, const run::Scores& scores) {
  for (const auto& [name, value] : scores) object.field(name, value);
  return object;
}

Json json_note(const Note& note) {
  return Json::object()
      .field("step", note.step)
      .field("kind", to_string(note.kind))
      .field("quantity", note.quantity)
      .field("text", note.text);
}

std::string note_text(const Note& note) {
  const std::string what = note.quantity.empty() ? "" : note.quantity + ": ";
  return what + note.text + " (step " + std::to_string(note.step) + ")";
}

std::string back_pressure(const RecorderStatistics& recorder) {
  if (recorder.waits == 0) return "none";
  return "training waited " + counted(recorder.waits, "time") + " for the disk, " +
         duration(recorder.wait_seconds) + " in all";
}

std::string resume_command(const std::string& folder) {
  return shell_word(program_invocation_short_name) + " resume " + shell_word(folder);
}

// Explains an ending that is not as planned, and says what to do.
std::string explanation_of(const run::RunEnd& end) {
  switch (end.ending) {
    case Ending::kInterrupted:
      if (!end.has_checkpoint) {
        return "the record is complete up to here; without a checkpoint nothing can go on from it";
      }
      return (end.stopped_by.empty() ? std::string()
                                     : "stopped by the lamp " + end.stopped_by + "; ") +
             "to go on: " +
             resume_command(std::filesystem::absolute(end.folder).lexically_normal().string());
    case Ending::kDiverged:
      return "the loss was not finite at step " + std::to_string(end.diverged_at) +
             (end.went_on ? ", and the training went on as asked"
                          : "; try a smaller --lr, or go on with --keep-going");
    default:
      return "";
  }
}

std::string warning_text(const run::RunWarning& warning, const std::string& folder) {
  const std::string text = in_words_of_the_tool(warning.text);
  switch (warning.about) {
    case run::RunWarning::About::kCheckpoint:
      return "checkpoint: " + text + "; training goes on, with " +
             (warning.has_checkpoint ? "the last checkpoint kept" : "no checkpoint yet");
    case run::RunWarning::About::kOutcome:
      return "outcome: " + text +
             (warning.has_checkpoint ? "; then '" + resume_command(folder) + "' trains on to it"
                                     : "; the scores are in the record alone");
    default:
      return text;
  }
}

}  // namespace

RunPrinter::RunPrinter(std::string folder, bool json)
    : json_(json),
      has_bar_(!json && !is_quiet() && isatty(STDERR_FILENO) != 0),
      utf8_(is_utf8()),
      begin_(Clock::now()),
      last_shown_(begin_),
      last_step_(begin_) {
  facts_.folder = std::move(folder);
}

void RunPrinter::started(const run::RunFacts& facts) {
  facts_ = facts;
  begin_ = Clock::now();
  if (json_) {
    print(Json::object()
              .field("event", "start")
              .field("run", facts_.folder)
              .field("problem", facts_.problem)
              .field("synthetic", facts_.is_synthetic)
              .field("steps", facts_.steps)
              .field("steps_per_epoch", facts_.steps_per_epoch)
              .field("first_step", facts_.first_step)
              .field("config", facts_.config)
              .text());
    return;
  }
  last_shown_ = last_step_ = Clock::now();
  if (is_quiet()) return;
  const auto& config = facts_.config;
  print(fact_line("problem",
                  facts_.problem + ", batch size " + config.at("batch_size") + ", " +
                      counted(facts_.steps, "step") + " (" + short_number(epoch_of(facts_.steps)) +
                      " epochs)"));
  print(fact_line("optimizer", config.at("optimizer") + ", " + config.at("hyperparameters")));
  print(fact_line("rate", schedule_words(config.at("schedule"))));
  print(fact_line("data", config.at("data")));
  if (facts_.is_synthetic) {
    print(fact_line("", "SYNTHETIC data: generated, of the right shape; results mean little"));
  }
  print(fact_line("tracked", config.at("tracked")));
  const std::string steps = due_words(config.at("tracked"));
  if (!steps.empty()) print(fact_line("", steps));
  print(fact_line("record", record::printable(facts_.folder)));
  if (facts_.first_step > 0) {
    print(fact_line("goes on", "at step " + std::to_string(facts_.first_step)));
  }
}

void RunPrinter::step_done(int64_t step, const std::function<run::BatchScore()>& score) {
  const Clock::time_point time = Clock::now();
  const double seconds = seconds_between(last_step_, time);
  last_step_ = time;
  training_seconds_ += seconds;
  // The first step warms up, so the second replaces it; after that the last twenty or so count.
  const double weight = steps_done_ <= 1 ? 1.0 : std::max(0.05, 1.0 / double(steps_done_));
  seconds_per_step_ += weight * (seconds - seconds_per_step_);
  ++steps_done_;

  const double pause = has_bar_ ? kBarSeconds : kLineSeconds;
  if (is_quiet() || seconds_between(last_shown_, time) < pause) return;
  last_shown_ = time;
  const run::BatchScore seen = score();
  if (json_) {
    print_progress_event(step, seen);
  } else if (has_bar_) {
    const auto width = static_cast<size_t>(std::max(2, terminal_width(STDERR_FILENO, 100)));
    show_bar(bar_text(bar_of(step, seen), width - 1, utf8_));
  } else {
    print(plain_text(step, seen));
  }
}

void RunPrinter::evaluation_begins(int64_t step) {
  evaluation_begin_ = Clock::now();
  if (has_bar_) show_bar("step " + std::to_string(step) + ": evaluating on train, valid and test");
}

void RunPrinter::evaluation_done(int64_t step, const run::Scores& scores) {
  evaluation_seconds_ += seconds_between(evaluation_begin_, Clock::now());
  ++evaluations_done_;
  last_step_ = last_shown_ = Clock::now();
  if (json_) {
    Json object = Json::object();
    object.field("event", "evaluation")
        .field("step", step)
        .field("epoch", measured(epoch_of(step)));
    print(add_scores(object, scores).text());
    return;
  }
  if (is_quiet()) return;
  // The last step has the most digits.
  const auto columns = [](const std::string& text) { return display_width(text); };
  const size_t epoch_columns = std::max<size_t>(5, columns(short_number(epoch_of(facts_.steps))));
  const std::string line = "epoch " + pad_right(short_number(epoch_of(step)), epoch_columns) +
                           "  step " +
                           pad_left(std::to_string(step), columns(std::to_string(facts_.steps))) +
                           (facts_.is_synthetic ? "  SYNTHETIC" : "");
  print(line + "  " + scores_text(scores, kNumberColumns));
}

void RunPrinter::warning(const run::RunWarning& warning) {
  const std::string text = warning_text(warning, facts_.folder);
  const std::lock_guard<std::mutex> lock(output_);
  write_bar("");
  std::cerr << "flightdeck: " << text << "\n";
}

void RunPrinter::note(const Note& note) {
  if (!json_) return;
  print(Json::object().field("event", "note").field("note", json_note(note)).text());
}

void RunPrinter::finding(const Finding& finding) {
  if (json_) {
    print(Json::object().field("event", "finding").field("finding", finding_json(finding)).text());
  } else if (!is_quiet()) {
    print(std::string(to_string(finding.severity)) + " at step " + std::to_string(finding.step) +
          ": " + finding.symptom + ". " + finding.evidence);
  }
}

void RunPrinter::intervened(int64_t step, const std::string& what) {
  if (json_) {
    print(Json::object()
              .field("event", "intervention")
              .field("step", step)
              .field("text", what)
              .text());
  } else if (!is_quiet()) {
    print(what);
  }
}

void RunPrinter::ended(const run::RunEnd& end) {
  clear_bar();
  if (json_) {
    print_end_event(end);
  } else if (is_quiet()) {
    print(facts_.folder);
  } else {
    print_end(end);
  }
}

void RunPrinter::failed() {
  clear_bar();
  const auto commands = commands_after_run(facts_.folder, run::Checkpoint::exists(facts_.folder));
  if (json_) {
    print(Json::object()
              .field("event", "end")
              .field("ending", to_string(Ending::kFailed))
              .field("run", facts_.folder)
              .field("next", commands)
              .text());
  } else {
    print("\n" + std::string(to_string(Ending::kFailed)) + "\n" + next_lines(commands));
  }
}

void RunPrinter::show_bar(const std::string& text) {
  const std::lock_guard<std::mutex> lock(output_);
  write_bar(text);
}

void RunPrinter::write_bar(const std::string& text) {
  if (!has_bar_ || (text.empty() && !bar_is_shown_)) return;
  std::cerr << "\r\033[K" << text << std::flush;
  bar_is_shown_ = !text.empty();
}

void RunPrinter::print(const std::string& line) {
  const std::lock_guard<std::mutex> lock(output_);
  write_bar("");
  std::cout << line << "\n" << std::flush;
}

double RunPrinter::epoch_of(int64_t step) const {
  return static_cast<double>(step) / static_cast<double>(facts_.steps_per_epoch);
}

double RunPrinter::seconds_left(int64_t step) const {
  const double training = static_cast<double>(facts_.steps - step - 1) * seconds_per_step_;
  if (evaluations_done_ == 0) return training;
  const double evaluations = static_cast<double>(facts_.evaluations - evaluations_done_);
  return training + std::max(0.0, evaluations) * evaluation_seconds_ / double(evaluations_done_);
}

RunBar RunPrinter::bar_of(int64_t step, const run::BatchScore& score) const {
  RunBar bar;
  bar.title = facts_.problem + (facts_.is_synthetic ? " SYNTHETIC" : "");
  bar.done = step + 1;
  bar.of = facts_.steps;
  bar.loss = score.loss;
  bar.accuracy = score.accuracy;
  bar.steps_per_second = seconds_per_step_ > 0 ? 1 / seconds_per_step_ : 0.0;
  bar.seconds_left = seconds_left(step);
  return bar;
}

std::string RunPrinter::plain_text(int64_t step, const run::BatchScore& score) const {
  const std::string total = std::to_string(facts_.steps);
  const std::string accuracy =
      std::isnan(score.accuracy) ? "" : "  accuracy " + pad_left(percent(score.accuracy), 7);
  return "step " + pad_left(std::to_string(step + 1), total.size()) + "/" + total +
         (facts_.is_synthetic ? "  SYNTHETIC" : "") + "  loss " +
         pad_left(short_number(score.loss), kNumberColumns) + accuracy + "  " +
         pad_left(rate_text(seconds_per_step_), 17) + "  " + duration(seconds_left(step)) + " left";
}

void RunPrinter::print_progress_event(int64_t step, const run::BatchScore& score) {
  print(
      Json::object()
          .field("event", "progress")
          .field("step", step)
          .field("epoch", measured(epoch_of(step)))
          .field("loss", score.loss)
          .field("accuracy", score.accuracy)
          .field("steps_per_second", measured(seconds_per_step_ > 0 ? 1 / seconds_per_step_ : 0.0))
          .field("seconds_left", measured(seconds_left(step)))
          .text());
}

void RunPrinter::print_end(const run::RunEnd& end) {
  print("");
  const double seconds = seconds_between(begin_, Clock::now());
  const std::string here =
      end.steps == steps_done_ ? "" : ", " + std::to_string(steps_done_) + " of them here";
  print(std::string(to_string(end.ending)) + ": " + counted(end.steps, "step") + here + " in " +
        duration(seconds) +
        (steps_done_ > 0 ? ", " + rate_text(training_seconds_ / double(steps_done_)) : ""));
  const std::string explanation = explanation_of(end);
  if (!explanation.empty()) print("  " + explanation);
  if (end.scores_step >= 0) {
    print(fact_line("scores", scores_text(end.scores)));
    if (end.scores_step != end.steps) {
      print(fact_line("", "as of step " + std::to_string(end.scores_step)));
    }
  } else if (end.steps > 0) {
    print(fact_line("last batch", score_text(end.last_batch)));
  }
  if (facts_.is_synthetic) print(fact_line("data", "SYNTHETIC"));
  for (const Note& note : end.notes) {
    const bool is_off = note.kind == NoteKind::kSwitchedOff;
    print(fact_line(is_off ? "off" : "note", note_text(note)));
  }
  for (const Finding& finding : findings_by_values(facts_.folder)) {
    print(fact_line(to_string(finding.severity), finding.symptom + ". " + finding.text()));
  }
  if (end.recorder.waits > 0) print(fact_line("waiting", back_pressure(end.recorder)));
  if (end.recorder.not_stored > 0) {
    print(fact_line("LOST", counted(end.recorder.not_stored, "write") + " could not be stored"));
  }
  print(fact_line("record", record::printable(facts_.folder)));
  print(next_lines(commands_after_run(facts_.folder, end.has_checkpoint)));
}

void RunPrinter::print_end_event(const run::RunEnd& end) {
  Json notes = Json::array(), off = Json::array();
  for (const Note& note : end.notes) {
    notes.add(json_note(note));
    if (note.kind != NoteKind::kSwitchedOff) continue;
    std::istringstream names(note.quantity);
    for (std::string name; std::getline(names >> std::ws, name, ',');) off.add(name);
  }
  Json findings = Json::array();
  for (const Finding& finding : findings_by_values(facts_.folder))
    findings.add(finding_json(finding));
  print(Json::object()
            .field("event", "end")
            .field("ending", to_string(end.ending))
            .field("explanation", explanation_of(end))
            .field("run", facts_.folder)
            .field("problem", facts_.problem)
            .field("synthetic", facts_.is_synthetic)
            .field("steps", end.steps)
            .field("steps_here", steps_done_)
            .field("diverged_at", end.diverged_at)
            .field("seconds", measured(seconds_between(begin_, Clock::now())))
            .field("steps_per_second",
                   measured(training_seconds_ > 0 ? double(steps_done_) / training_seconds_ : 0.0))
            .field("last_loss", end.last_batch.loss)
            .field("scores", end.scores)
            .field("switched_off", off)
            .field("notes", notes)
            .field("findings", findings)
            .field("waits", end.recorder.waits)
            .field("wait_seconds", measured(end.recorder.wait_seconds))
            .field("not_stored", end.recorder.not_stored)
            .field("next", commands_after_run(facts_.folder, end.has_checkpoint))
            .text());
}

}  // namespace flightdeck::cli
