// SPDX-License-Identifier: MIT
#include "serve/report.h"

#include <cmath>
#include <memory>
#include <regex>

#include <gtest/gtest.h>

#include "serve/assets.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"
#include "tests/serve/decoding.h"

namespace flightdeck::tests {
namespace {

using serve::make_report;
using serve::ReportFile;
using serve::ReportOptions;

// A finished run in a folder of its own.
class RecordedRun {
 public:
  explicit RecordedRun(int64_t steps, StepReadings (*make)(int64_t) = &make_step) {
    Recorder recorder(folder_.path());
    recorder.begin(full_info());
    for (int64_t step = 0; step < steps; ++step) recorder.write(make(step));
    recorder.finish(Ending::kFinished);
    reader_ = std::make_unique<RunReader>(folder_.path());
  }
  const RunReader& reader() const { return *reader_; }

 private:
  RunFolder folder_;
  std::unique_ptr<RunReader> reader_;
};

std::string embedded_values(const std::string& html) {
  const std::string begin = "<script type=\"text/plain\" id=\"flightdeck-report\">";
  const size_t from = html.find(begin) + begin.size();
  return gunzip(decode_base64(html.substr(from, html.find("</script>", from) - from)));
}

// What the full preset of a network with eight parameters records at one step.
StepReadings full_step(int64_t step) {
  StepReadings made;
  made.step = step;
  made.time = 1.7e9 + static_cast<double>(step);
  const double noise = std::sin(12.9898 * static_cast<double>(step)) * 43758.5453;
  const double value = noise - std::floor(noise);
  for (int group = -1; group < 8; ++group) {
    const std::string name = group < 0 ? "" : "layer" + std::to_string(group) + ".weight";
    for (int quantity = 0; quantity < (group < 0 ? 16 : 9); ++quantity) {
      Reading reading;
      reading.quantity = "quantity_" + std::to_string(quantity);
      reading.group = name;
      reading.number = value * (quantity + 1) / (group + 3);
      made.readings.push_back(reading);
    }
    for (const int axes : {1, 2}) {
      Reading histogram;
      histogram.kind = ReadingKind::kHistogram;
      histogram.quantity = axes == 1 ? "grad_hist_1d" : "grad_hist_2d";
      histogram.group = name;
      if (axes == 1) {
        histogram.axes = {{-2, 2, 100}};
        histogram.counts.resize(100);
      } else {
        histogram.axes = {{-1, 1, 40}, {-2, 2, 50}};
        histogram.counts.resize(2000);
      }
      for (size_t bin = 0; bin < histogram.counts.size(); bin += 3) {
        histogram.counts[bin] = static_cast<int64_t>(1000 * value) + static_cast<int64_t>(bin);
      }
      made.readings.push_back(histogram);
    }
  }
  return made;
}

class Report : public testing::Test {
 protected:
  void SetUp() override {
    if (!serve::has_page()) GTEST_SKIP() << "built without the page (no npm)";
  }
};

TEST_F(Report, HoldsTheRunAsThePageReadsIt) {
  const RecordedRun run(40);
  const ReportFile report = make_report(run.reader(), "first");
  EXPECT_EQ(embedded_values(report.html), to_json(report.content));
  EXPECT_EQ(report.content.run.summary.id, "first");
  EXPECT_EQ(report.content.run.summary.last_step, 39);
  EXPECT_EQ(report.content.points_kept, report.content.points_recorded);
  EXPECT_EQ(report.content.frames_kept, report.content.frames_recorded);
}

TEST_F(Report, AsksForNothingFromOutside) {
  const RecordedRun run(2);
  const std::string html = make_report(run.reader(), "first").html;
  // The page's own script is left out: it may name addresses, the policy keeps it from asking.
  const std::string head = html.substr(0, html.find("id=\"flightdeck-report\""));
  const std::regex reference("(src|href)=\"(?!data:|/api/v1/runs\")");
  EXPECT_FALSE(std::regex_search(head, reference));
  EXPECT_NE(head.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(head.find("connect-src"), std::string::npos);
}

TEST_F(Report, CannotBeBrokenOutOfByTheNameOfARun) {
  const RecordedRun run(1);
  const std::string html = make_report(run.reader(), "</script><script>alert(1)</script>").html;
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
}

TEST_F(Report, ReducesUntilItFitsAndSaysSo) {
  const RecordedRun run(3000);
  const ReportFile whole = make_report(run.reader(), "first");
  ReportOptions options;
  options.max_bytes = static_cast<int64_t>(whole.html.size()) - 10'000;
  const ReportFile reduced = make_report(run.reader(), "first", options);
  EXPECT_LE(static_cast<int64_t>(reduced.html.size()), options.max_bytes);
  EXPECT_LT(reduced.content.points_kept, whole.content.points_kept);
  EXPECT_EQ(reduced.content.points_recorded, 6000);
  EXPECT_EQ(reduced.content.frames_recorded, 6000);
}

TEST_F(Report, OfTenThousandStepsOfTheFullPresetIsBelowFiveMegabytes) {
  const RecordedRun run(10'000, &full_step);
  const ReportFile report = make_report(run.reader(), "long");
  EXPECT_LT(report.html.size(), 5'000'000u);
  EXPECT_EQ(report.content.points_recorded, 10'000 * (16 + 8 * 9));
  EXPECT_LT(report.content.points_kept, report.content.points_recorded);
  // Enough is left to look at.
  for (const auto& points : report.content.points) EXPECT_GE(points.steps.size(), 60u);
}

}  // namespace
}  // namespace flightdeck::tests
