// SPDX-License-Identifier: MIT
// Each address answers what docs/wire_format.md says.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "record/labels.h"
#include "record/sqlite.h"
#include "serve/assets.h"
#include "serve/csv.h"
#include "tests/record/runs.h"
#include "tests/serve/client.h"

namespace flightdeck::tests {
namespace {

using testing::Test;

Reading histogram(const std::string& quantity, std::vector<int64_t> counts) {
  Reading reading;
  reading.quantity = quantity;
  reading.kind = ReadingKind::kHistogram;
  reading.axes = {{-1, 1, static_cast<int64_t>(counts.size())}};
  reading.counts = std::move(counts);
  return reading;
}

class Api : public Test {
 protected:
  Api() {
    Recorder recorder(served_.path() + "/first");
    recorder.begin(full_info());
    for (int64_t step = 0; step < 100; ++step) {
      const double value = step == 37 ? 1000.0 : static_cast<double>(step);
      recorder.write(step_of(step,
                             {number("loss", value),
                              number("grad_norm", 2 * value, "conv1.weight"),
                              number("grad_norm", 3 * value, "scale"),
                              number("alpha", -value, "", "mean"),
                              histogram("grad_hist", {step, 1})}));
    }
    recorder.note({7, 107, NoteKind::kSwitchedOff, "alpha", "the matrix is singular"});
    recorder.note({8, 108, NoteKind::kRemark, "", "batch norm is frozen"});
    recorder.finish(Ending::kFinished);
    get_until(served_.port(), "/api/v1/runs", "\"status\":\"finished\"");
  }

  Reply ask(const std::string& target) const { return get(served_.port(), target); }

  void expect(const std::string& target, const std::string& text) const {
    const Reply reply = ask(target);
    EXPECT_EQ(reply.status, 200) << target << reply.body;
    EXPECT_NE(reply.body.find(text), std::string::npos) << target << "\n" << reply.body;
  }

  void expect_refusal(int status, const std::string& target, const std::string& text) const {
    const Reply reply = ask(target);
    EXPECT_EQ(reply.status, status) << target;
    EXPECT_EQ(reply.headers.at("content-type"), "application/json") << target;
    EXPECT_NE(reply.body.find("\"error\":\""), std::string::npos) << target << reply.body;
    EXPECT_NE(reply.body.find("\"remedy\":\""), std::string::npos) << target << reply.body;
    EXPECT_NE(reply.body.find(text), std::string::npos) << target << reply.body;
  }

  ServedFolder served_;
};

TEST_F(Api, TellsWhoAnswers) {
  expect("/api/v1/server", "\"api\":1,");
  expect("/api/v1/server", "\"refresh_ms\":20,\"edit\":false}");
}

TEST_F(Api, ListsRunsWithTheirLastNumbers) {
  expect("/api/v1/runs", "\"status\":\"finished\"");
  expect("/api/v1/runs", "\"values\":{\"alpha/mean\":-99,\"loss\":99}");
  expect("/api/v1/runs", "\"config\":{\"optimizer\":\"sgd\",\"seed\":\"3\"}");
}

TEST_F(Api, ListsTheNewestRunFirst) {
  Recorder recorder(served_.path() + "/a_newer_one");
  RunInfo info = full_info();
  info.start_time += 1;
  recorder.begin(info);
  const std::string body = get_until(served_.port(), "/api/v1/runs", "a_newer_one").body;
  EXPECT_LT(body.find("a_newer_one"), body.find("\"first\""));
}

TEST_F(Api, DescribesARun) {
  expect("/api/v1/run?id=first", "\"command\":\"run --out 'a b'\"");
  expect("/api/v1/run?id=first",
         "{\"name\":\"conv1.weight\",\"shape\":[16,1,5,5],\"type\":\"float32\"}");
  expect("/api/v1/run?id=first", "\"quantity\":\"grad_norm\",\"field\":\"\",\"group\":\"scale\"");
  expect("/api/v1/run?id=first", "\"kind\":\"switched_off\",\"quantity\":\"alpha\"");
}

TEST_F(Api, GivesExactPointsWhereThereAreFew) {
  expect("/api/v1/series?run=first&quantity=loss&first=3&last=5",
         "\"reduced\":false,\"count\":3,\"steps\":[3,4,5],\"values\":[3,4,5],\"low\":[],"
         "\"high\":[]}");
}

TEST_F(Api, KeepsPeaksOfReducedSeries) {
  const Reply reply = ask("/api/v1/series?run=first&quantity=loss&points=10");
  EXPECT_NE(reply.body.find("\"reduced\":true,\"count\":100,"), std::string::npos) << reply.body;
  EXPECT_NE(reply.body.find("1000"), std::string::npos) << reply.body;
}

TEST_F(Api, GivesAllGroupsOfAQuantity) {
  const std::string body = ask("/api/v1/series?run=first&quantity=grad_norm&last=1").body;
  EXPECT_NE(body.find("\"values\":[0,2]"), std::string::npos) << body;
  EXPECT_NE(body.find("\"values\":[0,3]"), std::string::npos) << body;
}

TEST_F(Api, GivesAFieldOfAQuantity) {
  expect("/api/v1/series?run=first&quantity=alpha&field=mean&last=1", "\"values\":[0,-1]");
  expect("/api/v1/series?run=first&quantity=alpha&last=1", "\"series\":[]");
}

TEST_F(Api, GivesSeriesInTheOrderAskedFor) {
  const std::string body = ask("/api/v1/series?run=first&ids=3,1&last=0").body;
  EXPECT_LT(body.find("{\"id\":3,"), body.find("{\"id\":1,")) << body;
}

TEST_F(Api, GivesTheLastFrameUnlessAskedForMore) {
  expect("/api/v1/frames?run=first&quantity=grad_hist", "\"step\":99,");
  const std::string body = ask("/api/v1/frames?run=first&quantity=grad_hist&count=3").body;
  EXPECT_EQ(std::count(body.begin(), body.end(), '{'), 1 + 3 * 2) << body;
  expect("/api/v1/frames?run=first&quantity=grad_hist&last=41", "\"counts\":[41,1]");
}

TEST_F(Api, WritesSeriesAsCsv) {
  const Reply reply = ask("/api/v1/csv?run=first&quantity=grad_norm");
  EXPECT_EQ(reply.headers.at("content-disposition"), "attachment; filename=\"first.csv\"");
  EXPECT_EQ(reply.body.substr(0, 83),
            "step,time,grad_norm@conv1.weight,grad_norm@scale\r\n0,100,0,0\r\n1,101,2,3\r\n2,102,4,"
            "6\r\n");
  EXPECT_EQ(std::count(reply.body.begin(), reply.body.end(), '\n'), 101);
}

TEST_F(Api, WritesAWideCsvInSmallPieces) {
  class Measure : public serve::Outlet {
   public:
    bool write(std::string_view bytes) override {
      longest = std::max(longest, bytes.size());
      lines += std::count(bytes.begin(), bytes.end(), '\n');
      return true;
    }
    bool is_open() const override { return true; }
    size_t longest = 0;
    int64_t lines = 0;
  };
  served_.add_run("long", 4000);
  const auto run = std::make_shared<const RunReader>(served_.path() + "/long");
  const std::vector<SeriesInfo> wide(300, run->series().front());
  const serve::Response answer = serve::csv_of(run, wide, "long");
  Measure measure;
  while (answer.stream(measure)) continue;
  EXPECT_EQ(measure.lines, 4001);
  EXPECT_LT(measure.longest, 8'000'000u);
}

TEST_F(Api, WritesStepsThatAreFarApartAsCsv) {
  const std::string folder = served_.path() + "/far";
  {
    Recorder recorder(folder);
    recorder.begin(full_info());
    constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
    for (const int64_t step : {-kEnd - 1, int64_t{0}, kEnd}) {
      recorder.write(step_of(step, {number("loss", 1)}));
      recorder.write(step_of(step / 2, {number("alpha", 2)}));
    }
    recorder.finish(Ending::kFinished);
  }
  // What a piece has in memory follows from the points, whatever the list of series says.
  record::Database(folder + "/run.sqlite", record::Database::Mode::kWrite)
      .run("UPDATE series SET count = 4611686018427387904");
  get_until(served_.port(), "/api/v1/runs", "\"far\"");
  const Reply reply = ask("/api/v1/csv?run=far&ids=1,2");
  EXPECT_EQ(std::count(reply.body.begin(), reply.body.end(), '\n'), 6) << reply.body;
}

TEST_F(Api, RefusesFramesOfTooManyNumbersBeforeItReadsThem) {
  {
    Recorder recorder(served_.path() + "/wide");
    recorder.begin(full_info());
    for (int64_t step = 0; step < 10; ++step) {
      recorder.write(step_of(step, {histogram("wide", std::vector<int64_t>(1 << 20, 0))}));
    }
    recorder.finish(Ending::kFinished);
  }
  get_until(served_.port(), "/api/v1/runs", "\"wide\"");
  EXPECT_EQ(ask("/api/v1/frames?run=wide&ids=1&count=3").status, 200);
  expect_refusal(400, "/api/v1/frames?run=wide&ids=1&count=4", "more than 4000000 numbers");
}

TEST_F(Api, LightsLampsTheGravestFirst) {
  const std::string body = ask("/api/v1/lamps?run=first").body;
  EXPECT_LT(body.find("alpha was switched off"), body.find("batch norm is frozen")) << body;
  EXPECT_EQ(body.find("failure"), std::string::npos) << body;
}

TEST_F(Api, LightsALampForALossThatIsNotFinite) {
  Recorder recorder(served_.path() + "/broken");
  recorder.begin(full_info());
  recorder.write(step_of(4, {number("loss", std::nan(""))}));
  recorder.finish(Ending::kFailed);
  get_until(served_.port(), "/api/v1/runs", "\"failed\"");
  expect("/api/v1/lamps?run=broken", "loss is NaN at step 4");
  expect("/api/v1/lamps?run=broken", "The run failed");
  expect("/api/v1/runs", "\"loss\":\"NaN\"");
}

TEST_F(Api, DiagnosesWithTheSeriesAndLimitsBehindItsEvidence) {
  Recorder recorder(served_.path() + "/long");
  recorder.begin(full_info());
  for (int64_t step = 0; step < 30; ++step) {
    recorder.write(step_of(step, {number("loss", 1.0), number("alpha", 4.0)}));
  }
  recorder.finish(Ending::kFinished);
  get_until(served_.port(), "/api/v1/runs", "\"long\"");
  const std::string body = ask("/api/v1/diagnosis?run=long").body;
  const int64_t alpha = RunReader(served_.path() + "/long").find("alpha")->id;
  const size_t evidence = body.find("{\"lamp\":\"long_steps\",\"title\":");
  ASSERT_NE(evidence, std::string::npos) << body;
  // Causes name it by its lamp: what it found is told once.
  EXPECT_EQ(body.find("{\"lamp\":\"long_steps\",\"title\":", evidence + 1), std::string::npos);
  EXPECT_NE(body.find("\"series\":[" + std::to_string(alpha) + "],\"limits\":[1]", evidence),
            std::string::npos)
      << body;
  EXPECT_NE(body.find("{\"lamp\":\"long_steps\",\"weight\":"), std::string::npos) << body;
  expect("/api/v1/diagnosis?run=long", "\"title\":\"The steps are too long\"");
}

TEST_F(Api, LightsOneLampAtTheFirstLossThatIsNotFinite) {
  Recorder recorder(served_.path() + "/lost");
  recorder.begin(full_info());
  for (const int64_t step : {0, 10, 20, 30}) {
    const double value = step < 20 ? 1.0 : std::nan("");
    recorder.write(step_of(step, {number("loss", value), number("train_loss", value)}));
  }
  recorder.finish(Ending::kFinished);
  get_until(served_.port(), "/api/v1/runs", "\"lost\"");
  const std::string body = ask("/api/v1/lamps?run=lost").body;
  EXPECT_NE(body.find("loss is NaN at step 20"), std::string::npos) << body;
  EXPECT_EQ(body.find("no longer finite"), body.rfind("no longer finite")) << body;
}

TEST_F(Api, SaysTheStepOfADivergenceThatTheProgramTold) {
  Recorder recorder(served_.path() + "/diverged");
  RunInfo info = full_info();
  info.config["diverged_at"] = "8";
  recorder.begin(info);
  for (const int64_t step : {0, 10}) {
    recorder.write(step_of(step, {number("loss", step < 8 ? 1.0 : std::nan(""))}));
  }
  recorder.finish(Ending::kDiverged);
  get_until(served_.port(), "/api/v1/runs", "\"diverged\"");
  const std::string body = ask("/api/v1/lamps?run=diverged").body;
  EXPECT_NE(body.find("not finite at step 8"), std::string::npos) << body;
  EXPECT_EQ(body.find("exception"), std::string::npos) << body;
  EXPECT_EQ(body.find("failure"), body.rfind("failure")) << body;
  expect("/metrics", "flightdeck_runs{status=\"diverged\"} 1\n");
  expect("/metrics", "flightdeck_lamps{run=\"diverged\",severity=\"failure\"} 1\n");
  expect("/metrics", "flightdeck_lamps{run=\"first\",severity=\"failure\"} 0\n");
}

TEST_F(Api, LightsOneLampForAllThatWasSwitchedOffForOneReason) {
  Recorder recorder(served_.path() + "/off");
  recorder.begin(full_info());
  recorder.write(step_of(0, {number("loss", 1.0)}));
  recorder.note({0, 100, NoteKind::kSwitchedOff, "alpha, norm_test", "no rows"});
  recorder.finish(Ending::kFinished);
  get_until(served_.port(), "/api/v1/runs", "\"off\"");
  expect("/api/v1/lamps?run=off", "2 quantities were switched off: alpha, norm_test");
}

TEST_F(Api, SaysWhenStepsWereRecorded) {
  expect("/api/v1/run?id=first", "\"clock\":{\"steps\":[0,");
}

TEST_F(Api, SpeaksPrometheus) {
  expect("/metrics", "flightdeck_runs{status=\"finished\"} 1\n");
  expect("/metrics", "flightdeck_run_last_step{run=\"first\"} 99\n");
  expect("/metrics", "flightdeck_value{run=\"first\",quantity=\"alpha\",field=\"mean\"} -99\n");
  expect("/metrics", "# TYPE flightdeck_http_requests_total counter\n");
}

TEST_F(Api, EscapesLabelsForPrometheus) {
  served_.add_run("a\"b\\c\nd");
  get_until(served_.port(), "/api/v1/runs", "a\\\"b");
  expect("/metrics", "flightdeck_run_last_step{run=\"a\\\"b\\\\c\\nd\"} 2\n");
}

TEST_F(Api, SpeaksValidUtf8WithPrometheus) {
  Recorder recorder(served_.path() + "/odd");
  recorder.begin(full_info());
  recorder.write(step_of(0, {number("loss\xff", 0.5)}));
  recorder.finish(Ending::kFinished);
  get_until(served_.port(), "/metrics", "run=\"odd\"");
  expect("/metrics", "quantity=\"loss\xef\xbf\xbd\"");
}

TEST_F(Api, ServesThePageAndItsTag) {
  const Reply page = ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.headers.at("cache-control"), "no-cache");
  const Reply again = get(served_.port(), "/", {"If-None-Match: " + page.headers.at("etag")});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
}

TEST_F(Api, ServesEveryFileOfThePage) {
  for (const serve::Asset& asset : serve::assets()) {
    EXPECT_EQ(ask("/" + asset.name).body, asset.bytes) << asset.name;
  }
}

TEST_F(Api, AnswersHeadWithoutBody) {
  const Reply reply = get(served_.port(), "/api/v1/runs", {}, "HEAD");
  EXPECT_EQ(reply.status, 200);
  EXPECT_GT(std::stoi(reply.headers.at("content-length")), 0);
  EXPECT_EQ(reply.body, "");
}

TEST_F(Api, CompressesNothing) {
  const Reply reply = get(served_.port(), "/api/v1/runs", {"Accept-Encoding: gzip, deflate, br"});
  EXPECT_EQ(reply.headers.count("content-encoding"), 0u);
}

TEST_F(Api, KeepsAConnectionForFurtherRequests) {
  Client client(served_.port());
  for (int k = 0; k < 3; ++k) {
    client.send("GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.reply().status, 200);
  }
}

TEST_F(Api, AnswersRequestsThatComeTogether) {
  Client client(served_.port());
  const std::string one = "GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(one + one);
  EXPECT_EQ(client.reply().status, 200);
  EXPECT_EQ(client.reply().status, 200);
}

TEST_F(Api, RefusesWrongParameters) {
  const struct {
    const char *target, *text;
  } table[] = {
      {"/api/v1/runs?x=1", "no parameter 'x'"},
      {"/api/v1/run", "parameter id is missing"},
      {"/api/v1/run?id=first&id=second", "parameter id comes twice"},
      {"/api/v1/series?run=first", "neither ids nor quantity"},
      {"/api/v1/series?run=first&ids=1&quantity=loss", "both ids and quantity"},
      {"/api/v1/series?run=first&ids=1&field=mean", "both ids and field"},
      {"/api/v1/series?run=first&ids=", "ids of series separated by commas"},
      {"/api/v1/series?run=first&ids=1,,2", "ids of series separated by commas"},
      {"/api/v1/series?run=first&ids=1x", "parameter ids is '1x'"},
      {"/api/v1/series?run=first&ids=99", "99, which is no series"},
      {"/api/v1/series?run=first&ids=99999999999999999999", "ids of series separated by commas"},
      {"/api/v1/series?run=first&ids=5", "is a histogram"},
      {"/api/v1/frames?run=first&ids=1", "is a number"},
      {"/api/v1/csv?run=first&ids=5", "is a histogram"},
      {"/api/v1/series?run=first&ids=1&points=0", "an integer from 1 to 20000"},
      {"/api/v1/series?run=first&ids=1&points=20001", "an integer from 1 to 20000"},
      {"/api/v1/series?run=first&ids=1&points=1e3", "parameter points is '1e3'"},
      {"/api/v1/series?run=first&ids=1&first=abc", "an integer from -2^63 to 2^63-1"},
      {"/api/v1/frames?run=first&quantity=grad_hist&count=501", "an integer from 1 to 500"},
  };
  for (const auto& row : table) expect_refusal(400, row.target, row.text);
}

TEST_F(Api, RefusesWhatIsNotThere) {
  expect_refusal(404, "/api/v1/run?id=second", "there is no run 'second'");
  expect_refusal(404, "/api/v2/runs", "nothing at this address");
  expect_refusal(404, "/index.htm", "nothing at this address");
  expect_refusal(404, "/api/v1/runs/", "nothing at this address");
}

TEST_F(Api, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"}) {
    const Reply reply = get(served_.port(), "/api/v1/runs", {}, method);
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.headers.at("allow"), "GET, HEAD") << method;
  }
}

TEST_F(Api, WritesNothingUnlessItMayEdit) {
  const Reply reply = get(served_.port(), "/api/v1/labels?run=first&add=baseline", {}, "POST");
  EXPECT_EQ(reply.status, 403);
  EXPECT_NE(reply.body.find("only reads"), std::string::npos) << reply.body;
  EXPECT_NE(reply.body.find("option for editing"), std::string::npos) << reply.body;
  EXPECT_FALSE(std::filesystem::exists(served_.path() + "/first/labels.txt"));
  EXPECT_NE(get(served_.port(), "/api/v1/server").body.find("\"edit\":false"), std::string::npos);
}

TEST_F(Api, BoundsTheSizeOfAnAnswer) {
  std::string ids = "1";
  for (int k = 0; k < 3000; ++k) ids += ",1";
  expect_refusal(400, "/api/v1/frames?run=first&count=500&ids=" + ids, "is a number");
  std::string frames = "5";
  for (int k = 0; k < 100; ++k) frames += ",5";
  expect_refusal(400, "/api/v1/frames?run=first&count=500&ids=" + frames, "more than 5000");
}

// ---- labels -------------------------------------------------------------------------------------

class Labels : public testing::Test {
 protected:
  Labels() : served_([](serve::ServerOptions& options) { options.edit = true; }) {
    served_.add_run("first");
    get_until(served_.port(), "/api/v1/runs", "first");
  }
  Reply post(const std::string& query, const HeaderLines& lines = {}) const {
    return get(served_.port(), "/api/v1/labels?" + query, lines, "POST");
  }

  ServedFolder served_;
};

TEST_F(Labels, AreChangedWhereTheServerMayEdit) {
  EXPECT_NE(get(served_.port(), "/api/v1/server").body.find("\"edit\":true"), std::string::npos);
  const Reply reply = post("run=first&add=baseline&note=two%0Alines&archived=true");
  EXPECT_EQ(reply.status, 200) << reply.body;
  for (const char* text : {"\"tags\":[\"baseline\"]", "two\\nlines", "\"archived\":true"}) {
    EXPECT_NE(reply.body.find(text), std::string::npos) << reply.body;
    EXPECT_NE(get(served_.port(), "/api/v1/runs").body.find(text), std::string::npos) << text;
  }
  const record::Labels labels = record::read_labels(served_.path() + "/first");
  EXPECT_EQ(labels.note, "two\nlines");
  EXPECT_TRUE(labels.is_archived);
  EXPECT_EQ(post("run=first&remove=baseline&note=&archived=false").status, 200);
  EXPECT_TRUE(record::read_labels(served_.path() + "/first").is_empty());
}

TEST_F(Labels, ThatOthersChangeAreSeen) {
  record::change_labels(served_.path() + "/first",
                        [](record::Labels& labels) { record::add_tag(labels, "by-hand"); });
  served_.add_run("second");  // ended runs are looked at when their folder changes
  const Reply reply = get_until(served_.port(), "/api/v1/runs", "by-hand");
  EXPECT_NE(reply.body.find("by-hand"), std::string::npos);
}

TEST_F(Labels, AreTheRunsOwnAndWithinLimits) {
  const struct {
    std::string query;
    int status;
  } table[] = {{"", 400},
               {"run=second&add=a", 404},
               {"run=..&add=a", 404},
               {"run=first&add=two%20words", 400},
               {"run=first&add=", 400},
               {"run=first&add=%1b", 400},
               {"run=first&add=" + std::string(65, 'a'), 400},
               {"run=first&note=" + std::string(2001, 'a'), 400},
               {"run=first&remove=missing", 400},
               {"run=first&archived=perhaps", 400},
               {"run=first&name=other", 400},
               {"run=first&add=a&add=b", 400}};
  for (const auto& row : table) EXPECT_EQ(post(row.query).status, row.status) << row.query;
  EXPECT_TRUE(record::read_labels(served_.path() + "/first").is_empty());
  const Reply read = get(served_.port(), "/api/v1/labels?run=first");
  EXPECT_EQ(read.status, 405);
  EXPECT_EQ(read.headers.at("allow"), "POST");
}

TEST_F(Labels, AreNotChangedFromOtherSites) {
  const std::vector<HeaderLines> others = {{"Origin: http://evil.example"},
                                           {"Origin: null"},
                                           {"Sec-Fetch-Site: cross-site"},
                                           {"Sec-Fetch-Site: same-site"},
                                           {"Host: evil.example"}};
  for (const HeaderLines& lines : others) {
    EXPECT_EQ(post("run=first&add=a", lines).status, 403) << lines.back();
  }
  EXPECT_EQ(post("run=first&add=a", {"Content-Length: 5"}).status, 413);
  EXPECT_TRUE(record::read_labels(served_.path() + "/first").is_empty());
}

TEST_F(Labels, AreChangedOnlyWithTheToken) {
  ServedFolder guarded([](serve::ServerOptions& options) {
    options.edit = true;
    options.token = "0123456789abcdef";
  });
  guarded.add_run("first");
  const HeaderLines token = {"Authorization: Bearer 0123456789abcdef"};
  const auto add = [&](const HeaderLines& lines) {
    return get(guarded.port(), "/api/v1/labels?run=first&add=a", lines, "POST").status;
  };
  EXPECT_EQ(add({}), 401);
  EXPECT_FALSE(std::filesystem::exists(guarded.path() + "/first/labels.txt"));
  for (int k = 0; k < 1000 && add(token) != 200; ++k) {
  }
  EXPECT_EQ(record::read_labels(guarded.path() + "/first").tags, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace flightdeck::tests
