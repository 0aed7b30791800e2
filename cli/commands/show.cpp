// SPDX-License-Identifier: MIT
// flightdeck show: a recorded run on one screen.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/recorded_run.h"
#include "cli/reports/findings.h"
#include "cli/reports/labels_text.h"
#include "cli/reports/named_samples.h"
#include "cli/reports/runs_table.h"
#include "cli/reports/shown_run.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/terminal.h"
#include "flightdeck/diagnosis.h"
#include "record/text.h"
#include "serve/run_list.h"

namespace flightdeck::cli {
namespace {

struct ShowOptions {
  std::string run;
  SummaryOptions summary;
  bool json = false;
};

// Makes the line printable: names, settings and notes may come from anywhere.
void print_line(const std::string& line) {
  std::printf("%s\n", record::printable(line, record::Lines::kKept).c_str());
}

// ---- for people ---------------------------------------------------------------------------------

void print_fact(const std::string& label, const std::string& text, size_t width) {
  if (!text.empty()) print_line("  " + pad_right(label, 10) + " " + wrapped(text, width, 13));
}

std::string config_text(const RunInfo& info) {
  std::string text;
  for (const auto& [key, value] : info.config) {
    const bool is_told = key == "problem" || key == "data" || key == "tracked" ||
                         key == "steps_taken" || key == "diverged_at";
    if (is_told) continue;
    text += (text.empty() ? "" : ", ") + key + " " + value;
  }
  return text;
}

std::string status_text(const ShownRun& run) {
  std::string text = to_string(run.status);
  const std::string steps = run.config("steps"), taken = run.config("steps_taken"),
                    diverged_at = run.config("diverged_at");
  if (!diverged_at.empty()) text += " at step " + diverged_at;
  if (!taken.empty()) {
    text += ", " + taken + (steps.empty() || steps == taken ? "" : " of " + steps) + " steps taken";
  } else if (run.last_step >= 0) {
    text += ", last recorded step " + std::to_string(run.last_step);
    if (!steps.empty()) text += " of " + steps;
  }
  if (run.last_time > run.info.start_time) {
    text += ", " + duration(run.last_time - run.info.start_time);
  }
  return text;
}

void print_heading(const ShownRun& run, size_t width) {
  print_line(run.folder);
  print_fact("status", status_text(run), width);
  print_fact("started",
             date_and_time(run.info.start_time) + " on " + run.info.host +
                 (run.info.device.empty() ? "" : ", " + run.info.device),
             width);
  print_fact("problem", run.config("problem"), width);
  print_fact("data",
             (run.is_synthetic() ? "SYNTHETIC, results mean little: " : "") + run.config("data"),
             width);
  print_fact("tracked", run.config("tracked"), width);
  print_fact("config", config_text(run.info), width);
  print_fact("groups",
             run.info.groups.empty() ? "" : run.info.grouping + ": " + joined(run.info.groups),
             width);
  print_fact(
      "versions",
      "flightdeck " + run.info.flightdeck_version + ", LibTorch " + run.info.libtorch_version,
      width);
  print_fact("command", run.info.command, width);
}

std::string row_name(const std::string& name, const std::string& group) {
  return record::printable(group.empty() ? name : name + " @ " + group);
}

size_t name_width(const ShownRun& run) {
  size_t width = 8;
  for (const NumberSummary& row : run.numbers) {
    width = std::max(width, display_width(row_name(row.name, row.group)));
  }
  for (const LastReading& row : run.histograms) {
    width = std::max(width, display_width(row_name(row.name, row.group)));
  }
  return width;
}

// Columns that do not fit are left out, the least telling first.
struct Columns {
  size_t name, spark;
  bool has_median, has_range;

  Columns(size_t name_columns, size_t width) : name(name_columns) {
    constexpr size_t kNumber = 12, kCount = 7, kLeastSpark = 12;
    const size_t least = name + kCount + 2 * kNumber + kLeastSpark + 2;
    has_range = width >= least + 2 * kNumber;
    has_median = width >= least + 3 * kNumber;
    const size_t taken =
        least - kLeastSpark + (has_range ? 2 * kNumber : 0) + (has_median ? kNumber : 0);
    spark = std::min<size_t>(32, width > taken + kLeastSpark ? width - taken : kLeastSpark);
  }
};

std::string number_column(const std::string& text) { return pad_left(text, 12); }

// Counts the values of a row that did not converge, as its field tells.
int64_t not_converged(const ShownRun& run, const NumberSummary& row) {
  for (const NumberSummary& field : run.numbers) {
    if (field.name != row.name + "/converged" || field.group != row.group) continue;
    return std::count(field.values.begin(), field.values.end(), 0.0);
  }
  return 0;
}

void print_numbers(const ShownRun& run, const Columns& columns, bool utf8) {
  if (run.numbers.empty()) return;
  std::string heading = pad_right("quantity", columns.name) + pad_left("count", 7) +
                        number_column("first") + number_column("last");
  if (columns.has_range) heading += number_column("min") + number_column("max");
  if (columns.has_median) heading += number_column("median");
  print_line("\n" + heading);
  for (const NumberSummary& row : run.numbers) {
    std::string line = pad_right(row_name(row.name, row.group), columns.name) +
                       pad_left(std::to_string(row.count), 7) +
                       number_column(short_number(row.first)) +
                       number_column(short_number(row.last));
    if (columns.has_range) {
      line += number_column(short_number(row.low)) + number_column(short_number(row.high));
    }
    if (columns.has_median) line += number_column(short_number(row.median));
    line += "  " + sparkline(row.values, columns.spark, utf8);
    if (row.not_finite > 0) line += "  " + std::to_string(row.not_finite) + " not finite";
    const int64_t doubtful = not_converged(run, row);
    if (doubtful > 0) line += "  " + std::to_string(doubtful) + " not converged";
    print_line(line);
  }
}

// Returns counts along one axis of a histogram with one or two.
std::vector<int64_t> marginal(const Reading& reading, size_t axis) {
  if (reading.axes.size() == 1) return reading.counts;
  const auto inner = static_cast<size_t>(reading.axes[1].count);
  std::vector<int64_t> sums(static_cast<size_t>(reading.axes[axis].count));
  for (size_t k = 0; k < reading.counts.size(); ++k) {
    sums[axis == 0 ? k / inner : k % inner] += reading.counts[k];
  }
  return sums;
}

std::string outside_text(const Reading& reading) {
  std::string text;
  const auto add = [&](int64_t count, const char* where) {
    if (count > 0) text += (text.empty() ? "  " : ", ") + std::to_string(count) + " " + where;
  };
  add(reading.below, "below");
  add(reading.above, "above");
  add(reading.not_a_number, "NaN");
  return text;
}

void print_histograms(const ShownRun& run, const Columns& columns, bool utf8) {
  if (run.histograms.empty()) return;
  print_line("\n" + pad_right("histogram", columns.name) + "   last step, logarithmic");
  for (const LastReading& row : run.histograms) {
    for (size_t axis = 0; axis < row.reading.axes.size(); ++axis) {
      const ReadingAxis& range = row.reading.axes[axis];
      print_line(pad_right(axis == 0 ? row_name(row.name, row.group) : "", columns.name) +
                 number_column(short_number(range.low)) + " |" +
                 bar_line(marginal(row.reading, axis), 50, utf8) + "| " +
                 pad_right(short_number(range.high), 9) +
                 (axis == 0 ? outside_text(row.reading) : ""));
    }
  }
}

void print_samples(const std::vector<NamedSamples>& all_named) {
  constexpr size_t kMostShown = 10;
  for (const NamedSamples& named : all_named) {
    print_line("\nsamples, " + record::printable(named.quantity) + " at step " +
               std::to_string(named.step));
    const size_t shown = std::min(named.rows.size(), kMostShown + 1);
    for (size_t row = 0; row < shown; ++row) {
      std::string line;
      for (size_t column = 0; column < named.rows[row].size(); ++column) {
        line += pad_left(named.rows[row][column], named.rows[0][column].size() + 4);
      }
      print_line(line);
    }
    if (shown < named.rows.size()) {
      print_line("    and " + std::to_string(named.rows.size() - shown) + " more; --json has them");
    }
  }
}

void print_lists(const std::vector<LastReading>& lists, size_t width) {
  if (lists.empty()) return;
  print_line("\nlists, last step");
  for (const LastReading& row : lists) {
    std::string text;
    for (const double value : row.reading.list)
      text += (text.empty() ? "" : " ") + short_number(value);
    const std::string name = row_name(row.name, row.group);
    print_line("  " + name + "  " + wrapped(text, width, 4));
  }
}

// Prints the findings, which include every note of the record.
void print_findings(const std::vector<Finding>& findings, size_t width) {
  if (findings.empty()) return;
  print_line("\nfindings");
  for (const Finding& finding : findings) {
    const std::string where = finding.step < 0 ? "" : " at step " + std::to_string(finding.step);
    print_line("  " +
               wrapped(std::string(to_string(finding.severity)) + where + ": " + finding.symptom,
                       width,
                       4));
    print_line("    " + wrapped(finding.text(), width, 4));
  }
}

void print_text(const ShownRun& run, const Diagnosis& diagnosis, const record::Labels& labels) {
  const auto width = static_cast<size_t>(std::max(60, terminal_width(STDOUT_FILENO, 120)));
  const bool utf8 = is_utf8();
  const Columns columns(name_width(run), width);
  print_heading(run, width);
  print_fact("archived", labels.is_archived ? "yes" : "", width);
  print_fact("tags", joined(labels.tags), width);
  print_fact("note", labels.note, width);
  print_numbers(run, columns, utf8);
  print_histograms(run, columns, utf8);
  std::vector<LastReading> lists = run.lists;
  print_samples(take_named_samples(lists));
  print_lists(lists, width);
  if (diagnosis.verdict == Verdict::kFault) {
    print_line("\ndiagnosis\n  " + wrapped(diagnosis.sentence, width, 2));
  }
  print_findings(diagnosis.findings, width);
  if (run.hidden_series > 0) {
    print_line("\n" + std::to_string(run.hidden_series) +
               " series of other groups are not shown; --group NAME shows one, --group all all");
  }
}

// ---- for programs -------------------------------------------------------------------------------

Json json_of(const NumberSummary& row) {
  return Json::object()
      .field("name", row.name)
      .field("group", row.group)
      .field("kind", "number")
      .field("count", row.count)
      .field("not_finite", row.not_finite)
      .field("first", row.first)
      .field("last", row.last)
      .field("min", row.low)
      .field("max", row.high)
      .field("median", row.median);
}

Json json_of(const LastReading& row) {
  Json object = Json::object();
  object.field("name", row.name)
      .field("group", row.group)
      .field("kind", to_string(row.reading.kind))
      .field("count", row.count)
      .field("last_step", row.step);
  if (row.reading.kind == ReadingKind::kList) return object.field("last", row.reading.list);
  Json axes = Json::array();
  for (const ReadingAxis& axis : row.reading.axes) {
    axes.add(
        Json::object().field("low", axis.low).field("high", axis.high).field("count", axis.count));
  }
  return object.field("axes", axes)
      .field("last", row.reading.counts)
      .field("below", row.reading.below)
      .field("above", row.reading.above)
      .field("not_a_number", row.reading.not_a_number);
}

void print_json(const ShownRun& run, const Diagnosis& diagnosis, const record::Labels& labels) {
  Json series = Json::array(), notes = Json::array(), lit = Json::array();
  for (const NumberSummary& row : run.numbers) series.add(json_of(row));
  for (const LastReading& row : run.histograms) series.add(json_of(row));
  for (const LastReading& row : run.lists) series.add(json_of(row));
  for (const Note& note : run.notes) {
    notes.add(Json::object()
                  .field("step", note.step)
                  .field("kind", to_string(note.kind))
                  .field("quantity", note.quantity)
                  .field("text", note.text));
  }
  for (const Finding& finding : diagnosis.findings) lit.add(finding_json(finding));
  print_line(Json::object()
                 .field("run", run.folder)
                 .field("status", to_string(run.status))
                 .field("synthetic", run.is_synthetic())
                 .field("tags", labels.tags)
                 .field("note", labels.note)
                 .field("archived", labels.is_archived)
                 .field("last_step", run.last_step)
                 .field("start_time", run.info.start_time)
                 .field("last_time", run.last_time)
                 .field("flightdeck", run.info.flightdeck_version)
                 .field("libtorch", run.info.libtorch_version)
                 .field("host", run.info.host)
                 .field("command", run.info.command)
                 .field("device", run.info.device)
                 .field("grouping", run.info.grouping)
                 .field("groups", run.info.groups)
                 .field("config", run.info.config)
                 .field("series", series)
                 .field("hidden_series", run.hidden_series)
                 .field("notes", notes)
                 .field("findings", lit)
                 .field("verdict", to_string(diagnosis.verdict))
                 .field("diagnosis", diagnosis.sentence)
                 .text());
}

void show_runs(const ShowOptions& options) {
  if (!options.summary.quantities.empty() || !options.summary.groups.empty()) {
    check_run("show", options.run);  // --quantity and --group are of one run
  }
  RunsTableOptions table;
  table.folder = options.run;
  table.json = options.json;
  print_runs("show", table);
}

void show(const ShowOptions& options) {
  if (!RunReader::is_run(options.run) && serve::has_runs(options.run)) return show_runs(options);
  const RunReader run = open_run("show", options.run);
  ShownRun summary;
  read_arguments("show", [&] { summary = summarise(options.run, run, options.summary); });
  const Diagnosis diagnosis = diagnose(run);
  const record::Labels labels = labels_to_show("show", options.run);
  if (options.json) {
    print_json(summary, diagnosis, labels);
  } else {
    print_text(summary, diagnosis, labels);
  }
}

void add_show(CLI::App* command) {
  const auto options = std::make_shared<ShowOptions>();
  command
      ->add_option(
          "RUN", options->run, "Folder of the record, or a folder of runs: those are listed")
      ->required();
  command->add_option("--quantity", options->summary.quantities, "Only this; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--group",
          options->summary.groups,
          "Values of this group of parameters, or all; default the whole model; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "A line per series has count, first and last value, range, median and the course over time;\n"
      "histograms and lists are those of the last step. Findings are what the lamps of the\n"
      "dashboard say, the gravest first.\n"
      "Examples:\n"
      "  flightdeck show runs/first\n"
      "  flightdeck show runs/first --quantity grad_norm --group all\n"
      "  flightdeck show runs/first --json | python3 -m json.tool");
  command->callback([options] { show(*options); });
}

}  // namespace

Command show_command() {
  return {"show", "Show a recorded run, ended or still running, on one screen.", 50, &add_show};
}

}  // namespace flightdeck::cli
