// SPDX-License-Identifier: MIT
#include "cli/reports/report_file.h"

#include <filesystem>
#include <iostream>

#include <c10/util/Exception.h>

#include "base/whole_file.h"
#include "cli/reports/labels_text.h"
#include "cli/reports/run_picture.h"
#include "cli/text/json.h"
#include "cli/text/quiet.h"
#include "cli/text/work_line.h"
#include "serve/report.h"

namespace flightdeck::cli {
namespace {

void write_file(const std::string& path, Place place, const std::string& bytes) {
  try {
    WholeFile file(path, place);
    file.write(bytes);
    file.finish();
    file.keep();
  } catch (const std::runtime_error& error) {
    TORCH_CHECK(false, "report: ", error.what(), "; -o names another file");
  }
}

}  // namespace

std::string report_name(const std::string& folder) {
  const auto path = std::filesystem::weakly_canonical(folder);
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

void write_report(const RunReader& run, const ReportFileOptions& options) {
  if (options.format != "html") {
    write_run_picture(run, options);
    return;
  }
  const std::string out = options.out.empty()
                              ? (std::filesystem::path(options.run) / "report.html").string()
                              : options.out;
  WorkLine progress("report");
  progress.show(0, 2, "reading " + options.run);
  serve::ReportOptions report;
  report.labels = labels_to_show("report", options.run);
  const serve::ReportFile file = serve::make_report(run, report_name(options.run), report);
  progress.show(1, 2, "writing " + out);
  write_file(out, options.out.empty() ? Place::kOwn : Place::kGiven, file.html);
  progress.clear();
  const serve::wire::Report& content = file.content;
  if (options.json) {
    std::cout << Json::object()
                     .field("event", "report")
                     .field("path", out)
                     .field("bytes", static_cast<int64_t>(file.html.size()))
                     .field("points_recorded", content.points_recorded)
                     .field("points_kept", content.points_kept)
                     .field("frames_recorded", content.frames_recorded)
                     .field("frames_kept", content.frames_kept)
                     .text()
              << "\n";
    return;
  }
  std::cout << out << "\n";
  if (is_quiet()) return;
  if (content.points_kept < content.points_recorded ||
      content.frames_kept < content.frames_recorded) {
    std::cout << "  reduced to " << content.points_kept << " of " << content.points_recorded
              << " points (with their extremes) and " << content.frames_kept << " of "
              << content.frames_recorded << " histograms and lists; 'flightdeck serve' shows all\n";
  }
  if (static_cast<int64_t>(file.html.size()) > serve::ReportOptions().max_bytes) {
    std::cout << "  " << file.html.size() / 1'000'000 << " MB, more than usual: the run has "
              << content.run.series.size() << " series; record fewer groups for smaller reports\n";
  }
}

}  // namespace flightdeck::cli
