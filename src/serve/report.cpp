// SPDX-License-Identifier: MIT
#include "serve/report.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "base/clock.h"
#include "serve/answers.h"
#include "serve/assets.h"
#include "serve/encoding.h"

namespace flightdeck::serve {
namespace {

std::string_view asset(const std::string& name) {
  for (const Asset& asset : assets()) {
    if (asset.name == name) return asset.bytes;
  }
  throw std::logic_error("report: the page has no " + name);
}

void replace(std::string& html, std::string_view part, const std::string& by) {
  const size_t place = html.find(part);
  if (place == std::string::npos) {
    throw std::logic_error("report: index.html lacks " + std::string(part));
  }
  html.replace(place, part.size(), by);
}

// The policy lets nothing be fetched, so the file shows the same on any machine.
constexpr const char* kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action "
    "'none'\">\n";

std::string page_with(const std::string& values, const std::string& name) {
  std::string html(asset("index.html"));
  replace(html,
          "<title>Flightdeck</title>",
          kPolicy + ("<title>" + html_text(name) + " - Flightdeck</title>"));
  replace(html,
          "href=\"icon.svg\"",
          "href=\"data:image/svg+xml;base64," + base64(asset("icon.svg")) + "\"");
  replace(html,
          "<link rel=\"stylesheet\" href=\"app.css\">",
          "<style>" + std::string(asset("app.css")) + "</style>");
  replace(html,
          "<script src=\"app.js\"></script>",
          "<script type=\"text/plain\" id=\"flightdeck-report\">" + values + "</script>\n<script>" +
              std::string(asset("app.js")) + "</script>");
  return html;
}

int64_t at_most(const SeriesInfo& series, const ReportOptions& options, double reduction) {
  const bool is_whole = series.group.empty();
  const int64_t most = series.kind == ReadingKind::kNumber
                           ? (is_whole ? options.points : options.group_points)
                           : (is_whole ? options.frames : options.group_frames);
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(most) / reduction));
}

// Fills in the values, at most one in `reduction` of what the options allow.
void add_values(const RunReader& run,
                const ReportOptions& options,
                double reduction,
                wire::Report& report) {
  report.points.clear();
  report.frames.clear();
  report.points_recorded = report.points_kept = 0;
  report.frames_recorded = report.frames_kept = 0;
  for (const SeriesInfo& series : run.series()) {
    const int64_t most = at_most(series, options, reduction);
    if (series.kind == ReadingKind::kNumber) {
      report.points.push_back(points_of(run, series.id, {}, most));
      report.points_recorded += series.count;
      report.points_kept += static_cast<int64_t>(report.points.back().steps.size());
      continue;
    }
    for (wire::Frame& frame : frames_of(run, series.id, {}, most)) {
      report.frames.push_back(std::move(frame));
      report.frames_kept += 1;
    }
    report.frames_recorded += series.count;
  }
}

// Returns a reduction that is surely not too strong, so that wide runs are not packed again and
// again: an entry takes at least 6 bytes of the file, noise about 30.
double first_reduction(const RunReader& run, const ReportOptions& options) {
  constexpr double kLeastBytes = 6;
  double bytes = 0;
  for (const SeriesInfo& series : run.series()) {
    bytes += kLeastBytes * static_cast<double>(std::min(series.count, at_most(series, options, 1)));
  }
  return std::max(1.0, bytes / static_cast<double>(options.max_bytes));
}

}  // namespace

ReportFile make_report(const RunReader& run,
                       const std::string& name,
                       const ReportOptions& options) {
  if (!has_page()) {
    throw std::runtime_error(
        "report: this flightdeck was built without its page; install nodejs and npm, run cmake "
        "again and build");
  }
  ReportFile file;
  wire::Report& report = file.content;
  report.api = wire::kApi;
  report.made = seconds_since_1970();
  report.run = details_of(run, summary_of(run, name, 0));
  add_labels(report.run.summary, options.labels);
  report.diagnosis = diagnosis_of(run);
  // Each attempt keeps a third less. A run whose names alone are too many stays larger.
  constexpr double kMostReduced = 2000;
  for (double reduction = first_reduction(run, options); reduction < kMostReduced;
       reduction *= 1.5) {
    add_values(run, options, reduction, report);
    file.html = page_with(base64(gzip(to_json(report))), name);
    if (static_cast<int64_t>(file.html.size()) <= options.max_bytes) break;
  }
  return file;
}

}  // namespace flightdeck::serve
