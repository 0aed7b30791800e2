// SPDX-License-Identifier: MIT
// JSON lines and CSV; TensorBoard's files are examined by check_tensorboard.py.
#include <cstdlib>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

TEST(JsonLines, HaveOneObjectPerStep) {
  RunFolder run;
  Recorder recorder(run.path());
  Reading list = made_reading(ReadingKind::kList, "top");
  list.list = {0.1, -kInfinity};
  Reading histogram = made_reading(ReadingKind::kHistogram, "hist", "fc");
  histogram.axes = {{-1, 1, 2}};
  histogram.counts = {3, 0};
  histogram.above = 4;
  recorder.write(step_of(2, {number("loss", 0.1), number("loss", kNan, "\"ü\n", "x")}));
  recorder.write(step_of(3, {list, histogram}));
  recorder.finish(Ending::kFinished);
  std::ostringstream out;
  export_json_lines(RunReader(run.path()), out);
  EXPECT_EQ(out.str(),
            R"({"step":2,"time":102,"values":[)"
            R"({"quantity":"loss","field":"","group":"","kind":"number","value":0.1},)"
            R"({"quantity":"loss","field":"x","group":"\"ü\n","kind":"number","value":"NaN"}]})"
            "\n"
            R"({"step":3,"time":103,"values":[)"
            R"({"quantity":"top","field":"","group":"","kind":"list","value":[0.1,"-Infinity"]},)"
            R"({"quantity":"hist","field":"","group":"fc","kind":"histogram",)"
            R"("axes":[{"low":-1,"high":1,"count":2}],"counts":[3,0],)"
            R"("below":0,"above":4,"not_a_number":0}]})"
            "\n");
}

TEST(Csv, HasOneColumnPerSeriesOfNumbers) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.write(step_of(0, {number("loss", 0.5), number("norm", 2, "a,b")}));
  recorder.write(step_of(1, {made_reading(ReadingKind::kList, "top")}));
  recorder.write(step_of(2, {number("ev", kInfinity, "fc", "residual"), number("loss", kNan)}));
  recorder.finish(Ending::kFinished);
  std::ostringstream out;
  export_csv(RunReader(run.path()), out);
  EXPECT_EQ(out.str(),
            "step,time,loss,\"norm@a,b\",ev/residual@fc\r\n"
            "0,100,0.5,2,\r\n"
            "2,102,NaN,,Infinity\r\n");
}

TEST(Exports, OfARunWithoutStepsAreValid) {
  RunFolder run;
  Recorder(run.path()).finish(Ending::kFinished);
  const RunReader reader(run.path());
  std::ostringstream json, csv;
  export_json_lines(reader, json);
  export_csv(reader, csv);
  EXPECT_EQ(json.str(), "");
  EXPECT_EQ(csv.str(), "step,time\r\n");
  EXPECT_FALSE(export_tensorboard(reader, run.path() + "/events").empty());
}

TEST(Exports, StayInTheirFolderWhateverTheRecordSays) {
  RunFolder run;
  RunInfo info;
  info.start_time = 1e300;
  info.host = "../../" + std::string(300, 'x') + "\n";
  {
    Recorder recorder(run.path());
    recorder.begin(info);
    recorder.finish(Ending::kFinished);
  }
  const std::string folder = run.path() + "/events";
  const std::string path = export_tensorboard(RunReader(run.path()), folder);
  EXPECT_EQ(path.rfind(folder + "/events.out.tfevents.0000000000..._.._x", 0), 0u) << path;
  EXPECT_EQ(path.find('\n'), std::string::npos);
}

TEST(Exports, SayWhenTheyCannotBeWritten) {
  RunFolder run;
  Recorder(run.path()).finish(Ending::kFinished);
  const RunReader reader(run.path());
  const std::string message =
      message_of([&] { export_tensorboard(reader, run.path() + "/run.sqlite/events"); });
  EXPECT_NE(message.find("run.sqlite/events"), std::string::npos) << message;
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  EXPECT_THROW(export_json_lines(reader, broken), std::runtime_error);
  EXPECT_THROW(export_csv(reader, broken), std::runtime_error);
}

}  // namespace
}  // namespace flightdeck::tests
