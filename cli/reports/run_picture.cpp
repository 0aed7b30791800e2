// SPDX-License-Identifier: MIT
#include "cli/reports/run_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <tuple>

#include <c10/util/Exception.h>

#include "base/whole_file.h"
#include "cli/machine/pictures.h"
#include "cli/reports/labels_text.h"
#include "cli/text/json.h"
#include "cli/text/quiet.h"
#include "flightdeck/diagnosis.h"
#include "serve/report.h"
#include "study/figure_svg.h"

namespace flightdeck::cli {
namespace {

constexpr size_t kPanels = 15;
constexpr int kFrames = 40, kFramesASecond = 8;
constexpr int kSeconds = 120;  // that a browser or an encoder may take

// Returns what people look at first; all others follow by name.
const std::vector<std::string>& first_shown() {
  static const std::vector<std::string> names = {"loss",
                                                 "accuracy",
                                                 "batch_accuracy",
                                                 "alpha",
                                                 "grad_norm",
                                                 "update_size",
                                                 "distance",
                                                 "norm_test",
                                                 "inner_test",
                                                 "ortho_test",
                                                 "hess_max_ev",
                                                 "hess_trace",
                                                 "tic_diag",
                                                 "mean_gsnr",
                                                 "learning_rate"};
  return names;
}

size_t place_of(const std::string& quantity) {
  const auto& names = first_shown();
  return static_cast<size_t>(std::find(names.begin(), names.end(), quantity) - names.begin());
}

std::vector<SeriesInfo> shown_series(const RunReader& run) {
  std::vector<SeriesInfo> shown;
  for (const SeriesInfo& series : run.series()) {
    if (series.kind == ReadingKind::kNumber && series.group.empty() && series.field.empty() &&
        series.quantity != "time") {
      shown.push_back(series);
    }
  }
  // A single point makes no line.
  const auto rank = [](const SeriesInfo& series) {
    return std::make_tuple(series.count == 1, place_of(series.quantity), series.quantity);
  };
  std::stable_sort(shown.begin(), shown.end(), [&](const SeriesInfo& a, const SeriesInfo& b) {
    return rank(a) < rank(b);
  });
  if (shown.size() > kPanels) shown.resize(kPanels);
  return shown;
}

// What is free is tracked at every step all the same.
bool is_at_logarithmic_steps(const RunReader& run) {
  const std::vector<QuantityInfo> quantities = run.info().quantities;
  return std::any_of(quantities.begin(), quantities.end(), [](const QuantityInfo& quantity) {
    return quantity.due.rfind("log ", 0) == 0;
  });
}

study::Panel panel_of(const RunReader& run, const SeriesInfo& series, bool is_log_x) {
  std::vector<double> steps, values;
  for (const NumberPoint& point : run.numbers(series.id)) {
    steps.push_back(static_cast<double>(point.step + (is_log_x ? 1 : 0)));
    values.push_back(point.value);
  }
  study::Panel panel;
  panel.title = series.quantity;
  panel.x_label = is_log_x ? "step + 1" : "step";
  panel.is_log_x = is_log_x;
  panel.lines = {study::line_of("", 0, steps, values)};
  const std::vector<double>& drawn = panel.lines[0].y;
  if (!drawn.empty()) {
    const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end());
    panel.is_log_y = *low > 0 && *high > 100 * *low;
  }
  study::fit_limits(panel);
  return panel;
}

void write_whole(const std::string& path, const std::string& bytes) {
  try {
    replace_file(path, bytes);
  } catch (const std::runtime_error& error) {
    TORCH_CHECK(false, "report: ", error.what(), "; -o names another file");
  }
}

// Makes the page show its steps on a logarithmic axis, as if a reader had chosen that.
void choose_logarithmic_steps(std::string& page) {
  page.insert(page.find("<title>"),
              "<script>localStorage.setItem('flightdeck', '{\"logX\": true}')</script>\n");
}

// Makes a picture of the page. Returns why that failed; empty if it did not.
std::string make_by_browser(const RunReader& run,
                            const ReportFileOptions& options,
                            const std::string& out) {
  const std::string browser = browser_program();
  if (browser.empty()) return "chromium is not in PATH";
  const ScratchFolder scratch;
  const std::string page = scratch.path() + "/report.html";
  serve::ReportOptions report;
  report.labels = labels_to_show("report", options.run);
  std::string html = serve::make_report(run, report_name(options.run), report).html;
  if (is_at_logarithmic_steps(run)) choose_logarithmic_steps(html);
  write_whole(page, html);
  std::vector<std::string> arguments = browser_arguments(browser, scratch.path() + "/profile");
  arguments.insert(arguments.end(),
                   {options.format == "pdf" ? "--print-to-pdf=" + out : "--screenshot=" + out,
                    "--no-pdf-header-footer",
                    "--window-size=1600,2200",
                    // The page unpacks its data before it draws.
                    "--virtual-time-budget=15000",
                    "file://" + page});
  return make_by_program(arguments, out, kSeconds);
}

// Makes a single picture; returns the program that made it.
std::string make_still(const RunReader& run,
                       const ReportFileOptions& options,
                       const std::string& out) {
  const std::string fault = make_by_browser(run, options, out);
  if (fault.empty()) return "chromium";
  const std::string converter = first_program({"rsvg-convert"});
  TORCH_CHECK(!converter.empty(),
              "report: no ",
              options.format,
              ": ",
              fault,
              " and rsvg-convert is not in PATH; install chromium or librsvg2-bin, or ask for "
              "svg");
  const ScratchFolder scratch;
  const std::string svg = scratch.path() + "/run.svg";
  write_whole(svg, svg_of_run(run, report_name(options.run)));
  const std::string second = make_by_program(
      {converter, "-f", options.format, "--zoom", "2", "-o", out, svg}, out, kSeconds);
  TORCH_CHECK(second.empty(), "report: no ", options.format, ": ", fault, "; ", second);
  return "rsvg-convert";
}

std::string make_animation(const RunReader& run,
                           const ReportFileOptions& options,
                           const std::string& out) {
  const std::string converter = first_program({"rsvg-convert"}),
                    encoder = first_program({"ffmpeg"});
  TORCH_CHECK(!converter.empty() && !encoder.empty(),
              "report: no ",
              options.format,
              ": ",
              converter.empty() ? "rsvg-convert (librsvg2-bin)" : "ffmpeg",
              " is not in PATH; install it, or ask for svg");
  const ScratchFolder scratch;
  const study::Figure whole = figure_of_run(run, report_name(options.run));
  const std::string sentence = diagnose(run).sentence;
  for (int frame = 0; frame < kFrames; ++frame) {
    const double share = static_cast<double>(frame + 1) / kFrames;
    char name[32];
    std::snprintf(name, sizeof name, "/frame_%03d", frame);
    const std::string stem = scratch.path() + name;
    write_whole(stem + ".svg", study::svg_document(until(whole, share, run.last_step()), sentence));
    const std::string fault =
        make_by_program({converter, "-o", stem + ".png", stem + ".svg"}, stem + ".png", kSeconds);
    TORCH_CHECK(fault.empty(), "report: no ", options.format, ": ", fault);
  }
  std::vector<std::string> arguments = {encoder,
                                        "-y",
                                        "-loglevel",
                                        "error",
                                        "-framerate",
                                        std::to_string(kFramesASecond),
                                        "-i",
                                        scratch.path() + "/frame_%03d.png"};
  // Encoders of video take even sizes only; a GIF has a palette of its own.
  const std::string filter = options.format == "gif"
                                 ? "split[a][b];[a]palettegen[p];[b][p]paletteuse"
                                 : "scale=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p";
  arguments.insert(arguments.end(), {"-vf", filter, out});
  const std::string fault = make_by_program(arguments, out, kSeconds);
  TORCH_CHECK(fault.empty(), "report: no ", options.format, ": ", fault);
  return "rsvg-convert and ffmpeg";
}

}  // namespace

std::vector<std::string> picture_formats() { return {"png", "svg", "pdf", "gif", "webm"}; }

study::Figure figure_of_run(const RunReader& run, const std::string& name) {
  study::Figure figure;
  figure.title = name;
  const bool is_log_x = is_at_logarithmic_steps(run);
  for (const SeriesInfo& series : shown_series(run)) {
    figure.panels.push_back(panel_of(run, series, is_log_x));
  }
  TORCH_CHECK(!figure.panels.empty(),
              "report: the run has no series of numbers of the whole model; record at least the "
              "loss");
  return figure;
}

std::string svg_of_run(const RunReader& run, const std::string& name) {
  return study::svg_document(figure_of_run(run, name), diagnose(run).sentence);
}

std::string png_of_run(const RunReader& run,
                       const std::string& folder,
                       const std::string& svg,
                       const std::string& png) {
  ReportFileOptions options;
  options.run = folder;
  options.format = "png";
  return make_by_browser(run, options, png).empty() ? "" : png_of_svg(svg, png);
}

study::Figure until(study::Figure figure, double share, int64_t last_step) {
  for (study::Panel& panel : figure.panels) {
    // A logarithmic axis begins at 1, one step ahead.
    const double limit = share * static_cast<double>(last_step) + (panel.is_log_x ? 1 : 0);
    for (study::Line& line : panel.lines) {
      const auto end = std::upper_bound(line.x.begin(), line.x.end(), limit);
      const auto kept = static_cast<size_t>(end - line.x.begin());
      line.x.resize(kept);
      line.y.resize(kept);
    }
  }
  return figure;
}

void write_run_picture(const RunReader& run, const ReportFileOptions& options) {
  const std::string out =
      std::filesystem::absolute(options.out.empty() ? std::filesystem::path(options.run) /
                                                          ("report." + options.format)
                                                    : std::filesystem::path(options.out))
          .string();
  std::string by = "flightdeck";
  if (options.format == "svg") {
    write_whole(out, svg_of_run(run, report_name(options.run)));
  } else if (options.format == "png" || options.format == "pdf") {
    by = make_still(run, options, out);
  } else {
    by = make_animation(run, options, out);
  }
  if (options.json) {
    std::cout << Json::object()
                     .field("event", "report")
                     .field("path", out)
                     .field("format", options.format)
                     .field("made_by", by)
                     .field("bytes", static_cast<int64_t>(std::filesystem::file_size(out)))
                     .text()
              << "\n";
    return;
  }
  std::cout << out << "\n";
  if (!is_quiet()) std::cout << "  made by " << by << "\n";
}

}  // namespace flightdeck::cli
