// SPDX-License-Identifier: MIT
#include "cli/reports/runs_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <unistd.h>

#include "base/clock.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "record/text.h"
#include "serve/run_list.h"

namespace flightdeck::cli {
namespace {

using serve::wire::RunSummary;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string setting_of(const RunSummary& run, const std::string& key) {
  const auto found = run.config.find(key);
  return found == run.config.end() ? "" : found->second;
}

double value_of(const RunSummary& run, const std::string& name) {
  const auto found = run.values.find(name);
  return found == run.values.end() ? kMissing : found->second;
}

// Returns the steps that were taken, which a run says at its end; before that it goes by the last
// recorded one.
int64_t steps_of(const RunSummary& run) {
  const std::string taken = setting_of(run, "steps_taken");
  return taken.empty() ? run.last_step + 1 : std::atoll(taken.c_str());
}

double seconds_of(const RunSummary& run) {
  return run.last_time > run.start_time ? run.last_time - run.start_time : kMissing;
}

// Returns "first" for "runs/first", even where that folder is named alone.
std::string name_in_table(const RunSummary& run, const std::string& folder) {
  if (run.id != ".") return run.id;
  const auto path = std::filesystem::weakly_canonical(folder);
  return path.filename().string();
}

bool is_synthetic_run(const RunSummary& run) { return setting_of(run, "synthetic") == "true"; }

// ---- order --------------------------------------------------------------------------------------

// A column by which runs can be sorted: a text, or a number of which the largest or the smallest
// comes first.
struct SortKey {
  const char* name;
  enum class First { kText, kSmallest, kLargest } first;
};

using First = SortKey::First;

constexpr std::array<SortKey, 15> kSortKeys = {{{"name", First::kText},
                                                {"state", First::kText},
                                                {"problem", First::kText},
                                                {"optimizer", First::kText},
                                                {"steps", First::kLargest},
                                                {"loss", First::kSmallest},
                                                {"train_loss", First::kSmallest},
                                                {"train_accuracy", First::kLargest},
                                                {"valid_loss", First::kSmallest},
                                                {"valid_accuracy", First::kLargest},
                                                {"test_loss", First::kSmallest},
                                                {"test_accuracy", First::kLargest},
                                                {"duration", First::kLargest},
                                                {"start", First::kLargest},
                                                {"tags", First::kText}}};

std::string sort_text(const RunSummary& run, const std::string& column) {
  if (column == "name") return run.id;
  if (column == "state") return run.status;
  return column == "tags" ? joined(run.tags) : setting_of(run, column);
}

double sort_number(const RunSummary& run, const std::string& column) {
  if (column == "steps") return static_cast<double>(steps_of(run));
  if (column == "duration") return seconds_of(run);
  if (column == "start") return run.start_time > 0 ? run.start_time : kMissing;
  return value_of(run, column);
}

// Sorts runs; what is missing comes last in either direction.
void sort_runs(std::vector<RunSummary>& runs, const RunsTableOptions& options) {
  const auto key = std::find_if(kSortKeys.begin(), kSortKeys.end(), [&](const SortKey& one) {
    return options.sort == one.name;
  });
  const auto comes_before = [&](const RunSummary& a, const RunSummary& b) {
    if (key->first == First::kText) {
      const std::string left = sort_text(a, key->name), right = sort_text(b, key->name);
      if (left.empty() || right.empty()) return !left.empty() && right.empty();
      return options.reverse ? right < left : left < right;
    }
    const double left = sort_number(a, key->name), right = sort_number(b, key->name);
    if (std::isnan(left) || std::isnan(right)) return !std::isnan(left) && std::isnan(right);
    return (key->first == First::kLargest) != options.reverse ? left > right : left < right;
  };
  std::stable_sort(runs.begin(), runs.end(), comes_before);
}

bool has_tags(const RunSummary& run, const std::vector<std::string>& tags) {
  return std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(run.tags.begin(), run.tags.end(), tag) != run.tags.end();
  });
}

// ---- for people ---------------------------------------------------------------------------------

struct ShownColumn {
  std::string name;
  std::vector<Cell> cells;
};

std::string steps_text(const RunSummary& run) {
  const std::string planned = setting_of(run, "steps");
  const std::string steps = std::to_string(steps_of(run));
  return planned.empty() || planned == steps ? steps : steps + "/" + planned;
}

// Writes "0.312, 88.1 %".
std::string score_cell(const RunSummary& run, const std::string& part) {
  const double loss = value_of(run, part + "_loss"), accuracy = value_of(run, part + "_accuracy");
  const bool has_loss = run.values.count(part + "_loss") != 0;
  if (run.values.count(part + "_accuracy") == 0) return has_loss ? short_number(loss) : "";
  return (has_loss ? short_number(loss) + ", " : "") + percent(accuracy);
}

std::vector<ShownColumn> columns_of(const std::vector<RunSummary>& runs,
                                    const std::string& folder) {
  std::vector<ShownColumn> columns;
  const auto add = [&](const std::string& name, const auto& cell_of) {
    ShownColumn column{name, {}};
    bool is_empty = true;
    for (const RunSummary& run : runs) {
      const std::string text = cell_of(run);
      is_empty = is_empty && text.empty();
      column.cells.emplace_back(text);
    }
    if (!is_empty) columns.push_back(std::move(column));
  };
  using Run = const RunSummary&;
  add("name", [&](Run run) { return name_in_table(run, folder); });
  add("state", [](Run run) { return run.status + (run.archived ? ", archived" : ""); });
  add("problem", [](Run run) {
    return setting_of(run, "problem") + (is_synthetic_run(run) ? " SYNTHETIC" : "");
  });
  add("optimizer", [](Run run) { return setting_of(run, "optimizer"); });
  add("steps", [](Run run) { return run.error.empty() ? steps_text(run) : ""; });
  add("loss", [](Run run) {
    return run.values.count("loss") == 0 ? "" : short_number(value_of(run, "loss"));
  });
  for (const char* part : {"train", "valid", "test"}) {
    add(part, [&](Run run) { return score_cell(run, part); });
  }
  add("duration",
      [](Run run) { return std::isnan(seconds_of(run)) ? "" : duration(seconds_of(run)); });
  add("start", [](Run run) { return run.start_time > 0 ? date_and_time(run.start_time) : ""; });
  add("tags", [](Run run) { return joined(run.tags); });
  return columns;
}

Table table_of(const std::vector<ShownColumn>& columns) {
  std::vector<std::string> names;
  for (const ShownColumn& column : columns) names.push_back(column.name);
  Table table(names);
  for (size_t k = 0; !columns.empty() && k < columns[0].cells.size(); ++k) {
    std::vector<Cell> row;
    for (const ShownColumn& column : columns) row.push_back(column.cells[k]);
    table.add(std::move(row));
  }
  return table;
}

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, display_width(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

// Leaves out columns that do not fit the terminal, the least telling first; files get all.
std::string fitted_table(std::vector<ShownColumn> columns) {
  std::string text = padded_text(table_of(columns));
  if (isatty(STDOUT_FILENO) == 0) return text;
  const auto width = static_cast<size_t>(terminal_width(STDOUT_FILENO, 120));
  for (const char* name : {"loss", "train", "duration", "start", "optimizer", "steps", "test"}) {
    if (widest_line(text) <= width) break;
    columns.erase(std::remove_if(columns.begin(),
                                 columns.end(),
                                 [&](const ShownColumn& column) { return column.name == name; }),
                  columns.end());
    text = padded_text(table_of(columns));
  }
  return text;
}

void print_table(const std::vector<RunSummary>& runs,
                 int64_t archived,
                 const RunsTableOptions& options) {
  const std::string hidden =
      archived == 0 ? "" : counted(archived, "archived run") + " not shown; --archived shows all";
  if (runs.empty()) {
    const std::string which = options.tags.empty() ? "" : " with the tag " + joined(options.tags);
    std::printf("no runs in %s%s%s\n",
                record::printable(options.folder).c_str(),
                record::printable(which).c_str(),
                !hidden.empty()        ? ("; " + hidden).c_str()
                : options.tags.empty() ? "; record one with 'flightdeck run'"
                                       : "");
    return;
  }
  std::printf("%s", fitted_table(columns_of(runs, options.folder)).c_str());
  for (const RunSummary& run : runs) {
    if (run.error.empty()) continue;
    std::printf("%s: %s\n",
                record::printable(name_in_table(run, options.folder)).c_str(),
                record::printable(run.error).c_str());
  }
  if (!hidden.empty()) std::printf("%s\n", hidden.c_str());
}

// ---- for programs -------------------------------------------------------------------------------

Json number_or_null(double number) { return std::isnan(number) ? Json() : Json(number); }

Json json_of_run(const RunSummary& run, const RunsTableOptions& options) {
  std::map<std::string, double> scores;
  for (const SortKey& key : kSortKeys) {
    const auto found = run.values.find(key.name);
    if (found != run.values.end()) scores[key.name] = found->second;
  }
  const auto path = std::filesystem::weakly_canonical(options.folder) / run.id;
  return Json::object()
      .field("name", name_in_table(run, options.folder))
      .field("path", path.lexically_normal().string())
      .field("state", run.status)
      .field("problem", setting_of(run, "problem"))
      .field("optimizer", setting_of(run, "optimizer"))
      .field("synthetic", is_synthetic_run(run))
      .field("steps", steps_of(run))
      .field("scores", scores)
      .field("seconds", number_or_null(seconds_of(run)))
      .field("start_time", run.start_time)
      .field("last_time", run.last_time)
      .field("tags", run.tags)
      .field("note", run.note)
      .field("archived", run.archived)
      .field("config", run.config)
      .field("error", run.error);
}

}  // namespace

std::vector<std::string> sortable_columns() { return names_of(kSortKeys); }

void print_runs(const std::string& command, const RunsTableOptions& options) {
  read_arguments(command, [&] { check_name("column", options.sort, sortable_columns()); });
  std::vector<RunSummary> runs;
  try {
    runs = serve::runs_in(options.folder);
  } catch (const std::invalid_argument& error) {
    throw UsageError(command + ": " + message_of(error));
  }
  const auto remove = [&](const auto& is_wrong) {
    const auto end = std::remove_if(runs.begin(), runs.end(), is_wrong);
    const int64_t count = runs.end() - end;
    runs.erase(end, runs.end());
    return count;
  };
  remove([&](const RunSummary& run) { return !has_tags(run, options.tags); });
  const int64_t archived =
      options.archived ? 0 : remove([](const RunSummary& run) { return run.archived; });
  sort_runs(runs, options);
  if (!options.json) return print_table(runs, archived, options);
  Json list = Json::array();
  for (const RunSummary& run : runs) list.add(json_of_run(run, options));
  std::printf("%s\n",
              Json::object()
                  .field("folder", options.folder)
                  .field("runs", list)
                  .field("archived_hidden", archived)
                  .text()
                  .c_str());
}

}  // namespace flightdeck::cli
