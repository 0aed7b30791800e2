// SPDX-License-Identifier: MIT
#include "cli/bench/bench_report.h"

#include <cmath>
#include <cstdio>

#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

// Returns the text of a printf format whose result is short.
template <typename... Arguments>
std::string text(const char* format, Arguments... arguments) {
  char line[160];
  std::snprintf(line, sizeof line, format, arguments...);
  return line;
}

}  // namespace

std::string json(const BenchLine& line) {
  const bool is_measured = line.error.empty();
  const auto shown = [&](double value) { return is_measured ? measured(value) : std::nan(""); };
  Json object = Json::object();
  object.field("bench", line.bench)
      .field("problem", line.problem)
      .field("device", line.device)
      .field("batch", line.batch)
      .field("threads", line.threads)
      .field("blas", line.blas)
      .field("quantity", line.quantity)
      .field("plain_ms", shown(line.timing.plain_ms))
      .field("ms", shown(line.timing.ms))
      .field("ratio", shown(line.timing.ratio))
      .field("peak_mb", shown(line.timing.peak_mb.value_or(std::nan(""))));
  if (!line.preset.empty()) {
    object.field("preset", line.preset).field("interval", line.interval).field("data", line.data);
  }
  if (is_measured && line.timing.products)
    object.field("products", measured(*line.timing.products));
  if (!is_measured) object.field("error", line.error);
  return object.text();
}

std::string table_heading(const BenchLine& line) {
  return line.problem + " on " + line.device + ", batch " + std::to_string(line.batch) + ", " +
         std::to_string(line.threads) + " threads, " + line.blas +
         (line.data.empty() ? ""
                            : ", " + line.data + " data, every " + std::to_string(line.interval)) +
         "\n" +
         text("  %-22s %10s %10s %8s %10s", "quantity", "plain ms", "ms", "ratio", "peak MB");
}

std::string table_row(const BenchLine& line) {
  const bool is_preset = !line.preset.empty() && line.preset != "none";
  const std::string quantity = text("  %-22s", (is_preset ? line.preset : line.quantity).c_str());
  if (!line.error.empty()) return quantity + " failed: " + line.error;
  const Timing& timing = line.timing;
  const std::string peak = timing.peak_mb ? text("%+.1f", *timing.peak_mb) : "-";
  return quantity +
         text(" %10.3f %10.3f %8.2f %10s", timing.plain_ms, timing.ms, timing.ratio, peak.c_str()) +
         (timing.products ? text("  %g products", *timing.products) : "");
}

}  // namespace flightdeck::cli
