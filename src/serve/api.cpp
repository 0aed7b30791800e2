// SPDX-License-Identifier: MIT
#include "serve/api.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "base/limits.h"
#include "record/labels.h"
#include "record/number_budget.h"
#include "serve/answers.h"
#include "serve/csv.h"
#include "serve/page.h"
#include "serve/query.h"
#include "serve/request_head.h"

namespace flightdeck::serve {

namespace {

Response json(std::string text) {
  Response answer;
  answer.body = std::move(text);
  answer.headers = {{"Cache-Control", "no-store"}};
  return answer;
}

// Holds a run that a request names, with what is known of it.
struct OpenRun {
  wire::RunSummary summary;
  std::shared_ptr<const RunReader> reader;
};

Refused no_run(const std::string& id) {
  return {404,
          "there is no run '" + id.substr(0, 200) + "'",
          "take an id from /api/v1/runs; runs that were moved have another one"};
}

OpenRun open_run(const RunShelf& shelf, const std::string& id) {
  const auto summary = shelf.find(id);
  if (!summary) throw no_run(id);
  if (has_status(*summary, RunStatus::kUnreadable)) {
    throw Refused(
        404, "run '" + id + "' cannot be read: " + summary->error, "repair or remove its folder");
  }
  auto reader = shelf.open(id);
  if (!reader) throw Refused(404, "run '" + id + "' is gone", "take an id from /api/v1/runs");
  return {*summary, std::move(reader)};
}

std::vector<SeriesInfo> by_ids(const std::vector<SeriesInfo>& all,
                               const std::vector<int64_t>& ids) {
  std::unordered_map<int64_t, const SeriesInfo*> index;
  for (const SeriesInfo& series : all) index[series.id] = &series;
  std::vector<SeriesInfo> chosen;
  for (const int64_t id : ids) {
    const auto found = index.find(id);
    if (found == index.end()) {
      throw Refused(400,
                    "parameter ids has " + std::to_string(id) + ", which is no series of the run",
                    "take ids from series of /api/v1/run?id=...");
    }
    chosen.push_back(*found->second);
  }
  return chosen;
}

std::vector<SeriesInfo> by_name(const std::vector<SeriesInfo>& all, const Query& parameters) {
  const std::string quantity = parameters.required("quantity");
  const auto field = parameters.find("field");
  std::vector<SeriesInfo> chosen;
  for (const SeriesInfo& series : all) {
    if (series.quantity == quantity && series.field == field.value_or("")) chosen.push_back(series);
  }
  return chosen;
}

// Returns the series of `ids`, or all groups of `quantity` and `field`.
std::vector<SeriesInfo> chosen_series(const RunReader& run, const Query& parameters) {
  const bool has_ids = parameters.find("ids").has_value();
  if (has_ids == parameters.find("quantity").has_value()) {
    throw Refused(400,
                  has_ids ? "both ids and quantity are given" : "neither ids nor quantity is given",
                  "give ids=1,2,3 or quantity=NAME, one of the two");
  }
  if (has_ids && parameters.find("field")) {
    throw Refused(400, "both ids and field are given", "field goes with quantity=NAME");
  }
  const std::vector<SeriesInfo> all = run.series();
  return has_ids ? by_ids(all, parameters.ids("ids", limits::kAnswerSeries))
                 : by_name(all, parameters);
}

// Refuses series of the other kind if they were asked for by id, and leaves them out of a quantity.
std::vector<SeriesInfo> of_kind(std::vector<SeriesInfo> series, bool is_number, bool is_by_id) {
  const auto is_wrong = [&](const SeriesInfo& one) {
    return (one.kind == ReadingKind::kNumber) != is_number;
  };
  const auto wrong = std::find_if(series.begin(), series.end(), is_wrong);
  if (is_by_id && wrong != series.end()) {
    throw Refused(400,
                  "series " + std::to_string(wrong->id) + " is a " + to_string(wrong->kind),
                  is_number ? "ask for it at /api/v1/frames" : "ask for it at /api/v1/series");
  }
  series.erase(std::remove_if(series.begin(), series.end(), is_wrong), series.end());
  return series;
}

StepRange range_of(const Query& parameters) {
  const StepRange all;
  StepRange range;
  range.first = parameters.integer("first", all.first, all.first, all.last);
  range.last = parameters.integer("last", all.last, all.first, all.last);
  return range;
}

void check_total(int64_t total, int64_t limit, const std::string& what, const std::string& name) {
  if (total <= limit) return;
  throw Refused(400,
                "the answer would have " + std::to_string(total) + " " + what + ", more than " +
                    std::to_string(limit),
                "ask for fewer series or a smaller " + name);
}

// Holds what /series and /frames are asked for: series of a kind, steps, and how much of each at
// most.
struct Excerpt {
  OpenRun run;
  std::vector<SeriesInfo> series;
  StepRange range;
  int64_t at_most = 0;
};

struct ExcerptLimits {
  const char* name;  // of the parameter that limits each series
  int64_t usual, most;
  int64_t all;       // the limit of all series together
  const char* what;  // what is counted: numbers or frames
};

Excerpt excerpt_of(const RunShelf& shelf,
                   const Request& request,
                   bool is_numbers,
                   const ExcerptLimits& limits) {
  const Query parameters(request,
                         {"run", "ids", "quantity", "field", "first", "last", limits.name});
  Excerpt excerpt;
  excerpt.run = open_run(shelf, parameters.required("run"));
  excerpt.at_most = parameters.integer(limits.name, limits.usual, 1, limits.most);
  excerpt.range = range_of(parameters);
  excerpt.series = of_kind(chosen_series(*excerpt.run.reader, parameters),
                           is_numbers,
                           parameters.find("ids").has_value());
  int64_t total = 0;
  for (const SeriesInfo& one : excerpt.series) total += std::min(excerpt.at_most, one.count);
  check_total(total, limits.all, limits.what, limits.name);
  return excerpt;
}

bool truth_of(const std::string& name, const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  throw Refused(400, "parameter " + name + " is neither true nor false", "give one of the two");
}

// Makes the changes that a request asks for.
void change_labels(record::Labels& labels, const Query& parameters) {
  try {
    if (const auto tag = parameters.find("add")) record::add_tag(labels, *tag);
    if (const auto tag = parameters.find("remove")) record::remove_tag(labels, *tag);
    if (const auto note = parameters.find("note")) {
      record::check_note(*note);
      labels.note = *note;
    }
    if (const auto text = parameters.find("archived")) {
      labels.is_archived = truth_of("archived", *text);
    }
  } catch (const std::invalid_argument& error) {
    throw Refused(400, error.what(), "nothing was changed; put it right and try again");
  }
}

// Refuses parameters where an address takes none.
void refuse_parameters(const Request& request) { Query(request, {}); }

// Refuses frames with more than `left` numbers before they are in memory.
std::vector<wire::Frame> bounded_frames(const Excerpt& asked, int64_t series, int64_t left) {
  try {
    return frames_of(*asked.run.reader, series, asked.range, asked.at_most, left);
  } catch (const record::TooManyNumbers&) {
    throw Refused(
        400,
        "the answer would have more than " + std::to_string(limits::kAnswerNumbers) + " numbers",
        "ask for fewer series or a smaller count");
  }
}

}  // namespace

Api::Api(RunShelf& shelf, wire::ServerInfo server, std::function<ServerCounts()> counts)
    : shelf_(shelf),
      server_(std::move(server)),
      counts_(std::move(counts)),
      events_(shelf_, server_) {}

Response Api::answer(const Request& request) {
  using Handler = std::function<Response(Api&, const Request&)>;
  static const std::unordered_map<std::string, Handler> addresses = {
      {"/api/v1/server", [](Api& api, const Request& r) { return api.server(r); }},
      {"/api/v1/runs", [](Api& api, const Request& r) { return api.runs(r); }},
      {"/api/v1/run", [](Api& api, const Request& r) { return api.run(r); }},
      {"/api/v1/lamps", [](Api& api, const Request& r) { return api.lamps(r); }},
      {"/api/v1/diagnosis", [](Api& api, const Request& r) { return api.diagnosis(r); }},
      {"/api/v1/series", [](Api& api, const Request& r) { return api.series(r); }},
      {"/api/v1/frames", [](Api& api, const Request& r) { return api.frames(r); }},
      {"/api/v1/csv", [](Api& api, const Request& r) { return api.csv(r); }},
      {"/api/v1/events", [](Api& api, const Request& r) { return api.events(r); }},
      {std::string(kLabelsAddress), [](Api& api, const Request& r) { return api.labels(r); }},
      {"/metrics", [](Api& api, const Request& r) { return api.metrics(r); }},
  };
  const auto found = addresses.find(request.path);
  if (found != addresses.end()) return found->second(*this, request);
  if (const auto file = page_file(request)) return *file;
  throw Refused(404,
                "there is nothing at this address",
                "the addresses are in docs/wire_format.md; /api/v1/runs lists the runs");
}

Response Api::server(const Request& request) const {
  refuse_parameters(request);
  return json(wire::to_json(server_));
}

Response Api::runs(const Request& request) const {
  refuse_parameters(request);
  wire::RunList list = shelf_.list();
  list.epoch = server_.epoch;
  return json(wire::to_json(list));
}

Response Api::run(const Request& request) const {
  const Query parameters(request, {"id"});
  OpenRun run = open_run(shelf_, parameters.required("id"));
  return json(wire::to_json(details_of(*run.reader, std::move(run.summary))));
}

Response Api::lamps(const Request& request) const {
  const Query parameters(request, {"run"});
  const OpenRun run = open_run(shelf_, parameters.required("run"));
  return json(wire::to_json(wire::LampList{lamps_of(*run.reader)}));
}

Response Api::diagnosis(const Request& request) const {
  const Query parameters(request, {"run"});
  const OpenRun run = open_run(shelf_, parameters.required("run"));
  return json(wire::to_json(diagnosis_of(*run.reader)));
}

Response Api::series(const Request& request) const {
  const Excerpt asked = excerpt_of(
      shelf_, request, true, {"points", 1000, limits::kPoints, limits::kAnswerPoints, "points"});
  wire::PointsList list;
  list.change = asked.run.summary.change;
  for (const SeriesInfo& one : asked.series) {
    list.series.push_back(points_of(*asked.run.reader, one.id, asked.range, asked.at_most));
  }
  return json(wire::to_json(list));
}

Response Api::frames(const Request& request) const {
  const Excerpt asked = excerpt_of(
      shelf_, request, false, {"count", 1, limits::kFrames, limits::kAnswerFrames, "frames"});
  wire::FrameList list;
  list.change = asked.run.summary.change;
  int64_t left = limits::kAnswerNumbers;
  for (const SeriesInfo& one : asked.series) {
    for (wire::Frame& frame : bounded_frames(asked, one.id, left)) {
      left -= static_cast<int64_t>(frame.list.size() + frame.counts.size());
      list.frames.push_back(std::move(frame));
    }
  }
  return json(wire::to_json(list));
}

Response Api::csv(const Request& request) const {
  const Query parameters(request, {"run", "ids", "quantity", "field"});
  const std::string id = parameters.required("run");
  const OpenRun run = open_run(shelf_, id);
  auto chosen =
      of_kind(chosen_series(*run.reader, parameters), true, parameters.find("ids").has_value());
  return csv_of(run.reader, std::move(chosen), id);
}

Response Api::events(const Request& request) {
  refuse_parameters(request);
  return events_.answer(request);
}

Response Api::labels(const Request& request) {
  if (request.method != "POST") {
    Response answer =
        refusal(405, "labels are changed here, not read", "use POST, or /api/v1/runs");
    answer.headers = {{"Allow", "POST"}};
    return answer;
  }
  if (!server_.edit) {
    throw Refused(403,
                  "this server only reads",
                  "start flightdeck serve with the option for editing, or label the run with "
                  "flightdeck tag, note or archive");
  }
  const Query parameters(request, {"run", "add", "remove", "note", "archived"});
  const std::string id = parameters.required("run");
  const auto summary =
      shelf_.label(id, [&](record::Labels& labels) { change_labels(labels, parameters); });
  if (!summary) throw no_run(id);
  return json(wire::to_json(*summary));
}

Response Api::metrics(const Request& request) const {
  refuse_parameters(request);
  Response answer;
  answer.type = "text/plain; version=0.0.4; charset=utf-8";
  const wire::RunList list = shelf_.list();
  answer.body = metrics_text(list, lamp_counts_.of(shelf_, list), counts_());
  answer.headers = {{"Cache-Control", "no-store"}};
  return answer;
}

}  // namespace flightdeck::serve
