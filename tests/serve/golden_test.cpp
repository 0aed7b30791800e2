// SPDX-License-Identifier: MIT
// Pins the wire format: a fixed run has to be answered with the texts in golden/, to the byte.
// FLIGHTDECK_UPDATE_GOLDEN=1 writes them anew.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>

#include "tests/record/runs.h"
#include "tests/serve/client.h"

namespace flightdeck::tests {
namespace {

Reading reading_of(ReadingKind kind, const std::string& quantity, const std::string& group) {
  Reading reading;
  reading.kind = kind;
  reading.quantity = quantity;
  reading.group = group;
  return reading;
}

void record_fixed_run(const std::string& folder) {
  Recorder recorder(folder);
  RunInfo info = full_info();
  info.config["text"] = "quote \" backslash \\ line\nend, é";
  recorder.begin(info);
  for (int64_t step = 0; step < 6; ++step) {
    const double value = 1.0 / static_cast<double>(step + 3);
    Reading list = reading_of(ReadingKind::kList, "hess_max_ev", "scale");
    list.list = {value, -std::numeric_limits<double>::infinity()};
    Reading histogram = reading_of(ReadingKind::kHistogram, "grad_hist", "");
    histogram.axes = {{-1, 1, 3}};
    histogram.counts = {step, 0, 7};
    histogram.below = 1;
    histogram.above = 2;
    histogram.not_a_number = 3;
    Reading joint = reading_of(ReadingKind::kHistogram, "param_grad_hist", "conv1.weight");
    joint.axes = {{-1, 1, 2}, {-0.5, 0.25, 2}};
    joint.counts = {1, 2, 3, step};
    recorder.write(step_of(step,
                           {number("loss", step == 5 ? std::nan("") : value),
                            number("alpha", step == 2 ? INFINITY : -value, "", "mean"),
                            number("grad_norm", 1e-300 * value, "conv1.weight"),
                            list,
                            histogram,
                            joint}));
  }
  recorder.note({3, 103.5, NoteKind::kRemark, "", "a remark"});
  recorder.note({4, 104, NoteKind::kSwitchedOff, "hess_max_ev", "it did not converge"});
  recorder.note({5, 105, NoteKind::kNotStored, "", "steps 5 to 5"});
  recorder.finish(Ending::kFailed);
}

// Takes out what differs from run to run and from machine to machine.
std::string without(std::string text, const std::string& key) {
  const size_t at = text.find("\"" + key + "\":\"");
  if (at == std::string::npos) return text;
  const size_t begin = at + key.size() + 4;
  return text.replace(begin, text.find('"', begin) - begin, "...");
}

void expect_golden(int port, const std::string& target, const std::string& name) {
  std::string text = get(port, target).body;
  for (const char* key : {"epoch", "folder", "host", "version"}) text = without(text, key);
  const std::string path = std::string(FLIGHTDECK_SERVE_GOLDEN) + "/" + name;
  if (std::getenv("FLIGHTDECK_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text << "\n";
  std::ifstream in(path);
  const std::string expected(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(text + "\n", expected) << target;
}

TEST(WireFormat, IsWhatItWas) {
  // Recorded before it is served, so that the run has changed once.
  ServedFolder served;
  record_fixed_run(served.path() + "/.fixed");
  std::filesystem::rename(served.path() + "/.fixed", served.path() + "/fixed");
  get_until(served.port(), "/api/v1/runs", "\"failed\"");
  const int port = served.port();
  expect_golden(port, "/api/v1/server", "server.json");
  expect_golden(port, "/api/v1/runs", "runs.json");
  expect_golden(port, "/api/v1/run?id=fixed", "run.json");
  expect_golden(port, "/api/v1/series?run=fixed&ids=1,2,3", "series.json");
  expect_golden(port, "/api/v1/series?run=fixed&ids=1,2&points=2&first=1", "series_reduced.json");
  expect_golden(port, "/api/v1/frames?run=fixed&ids=4,5,6&count=2", "frames.json");
  expect_golden(port, "/api/v1/lamps?run=fixed", "lamps.json");
  expect_golden(port, "/api/v1/csv?run=fixed&ids=1,2,3", "series.csv");
  expect_golden(port, "/api/v1/run?id=other", "refusal.json");
}

}  // namespace
}  // namespace flightdeck::tests
