// SPDX-License-Identifier: MIT
// What the analysis is written as, and outcomes packed into one file.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/whole_file.h"
#include "study/analysis/html.h"
#include "study/analysis/latex.h"
#include "study/analysis/records.h"
#include "study/analysis/svg.h"
#include "study/analysis/ticks.h"
#include "study/analysis/write.h"
#include "study/baselines.h"
#include "study/pack.h"
#include "tests/study/folders.h"
#include "tests/study/made_up.h"
#include "tests/study/outcomes.h"

namespace flightdeck::study {
namespace {

MadeUp small_study() {
  MadeUp request;
  request.optimizers = 3;
  request.problems = 3;
  request.epochs = 6;
  request.samples = 27;
  request.seeds = 3;
  request.schedules = {"constant", "cosine"};
  return request;
}

TEST(Csv, QuotesWhatNeedsItAndKeepsAllDigits) {
  const Records records{"x",
                        {"name", "value", "count"},
                        {{std::string("step:0.1,5"), 1.0 / 3, int64_t{7}},
                         {std::string("a \"b\""), NAN, int64_t{-1}},
                         {std::string("plain"), INFINITY, int64_t{0}}}};
  EXPECT_EQ(to_csv(records),
            "name,value,count\n"
            "\"step:0.1,5\",0.3333333333333333,7\n"
            "\"a \"\"b\"\"\",,-1\n"
            "plain,inf,0\n");
}

TEST(Latex, EscapesWhatIsSpecial) {
  EXPECT_EQ(latex_text("a_b 5 % & ± {x}"), "a\\_b 5 \\% \\& $\\pm$ \\{x\\}");
  EXPECT_EQ(latex_text("a\\b ~ ^ #1 $ <"), "a\\textbackslash{}b \\~{} \\^{} \\#1 \\$ $<$");
}

TEST(Html, HasWordsInColumnsOfWordsAlone) {
  ShownTable table;
  table.columns = {"optimizer", "epochs"};
  table.rows = {{{"adam"}, {"inf"}}, {{"5-step sgd"}, {"never"}}};
  const AnalysisReport report{"title", {}, {}, {}, {{"section", "Section", {table}}}};
  const std::string html = to_html(report);
  EXPECT_NE(html.find("<th class=\"words\">optimizer</th><th>epochs</th>"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"words\">adam</td><td>inf</td>"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"words\">5-step sgd</td><td>never</td>"), std::string::npos);
}

TEST(Svg, EscapesWhatIsSpecial) {
  EXPECT_EQ(escaped("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
}

TEST(Ticks, AreRoundAndInside) {
  EXPECT_EQ(ticks(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(ticks(87.1, 87.9, 4).front(), 87.2);
  EXPECT_EQ(ticks(-3, 3, 3), (std::vector<double>{-2, 0, 2}));
  EXPECT_EQ(ticks(5, 5, 3), (std::vector<double>{5}));
  EXPECT_EQ(log_ticks(2e-3, 5, 5).size(), 3u);
  // Two powers of ten alone would say too little.
  EXPECT_EQ(log_ticks(3e-3, 0.3, 5).size(), 6u);
  EXPECT_EQ(log_ticks(2e-3, 9e-3, 5).size(), 2u);
}

TEST(Svg, MarksWhereALineLeavesItsFrame) {
  Panel panel;
  panel.x_low = 0, panel.x_high = 2, panel.y_low = 0, panel.y_high = 1;
  const auto exits = [&](std::vector<double> y) {
    Line line;
    line.x = {0, 1, 2};
    line.y = std::move(y);
    panel.lines = {line};
    const std::string svg = svg_panel(panel, 100, 3);
    size_t count = 0;
    for (size_t k = svg.find("mark exit"); k != std::string::npos; k = svg.find("mark exit", k + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(exits({0, 1, 0.5}), 0u);
  EXPECT_EQ(exits({0.5, 1e9, 1e9}), 1u);
  EXPECT_EQ(exits({0.5, 2, 0.5}), 1u);
  EXPECT_EQ(exits({-1, 0.5, 2}), 2u);
}

TEST(Svg, WritesShortNumbersOnALogarithmicAxisInFull) {
  Panel panel;
  panel.is_log_y = true;
  panel.x_low = 0, panel.x_high = 1, panel.y_low = 2, panel.y_high = 300;
  const std::string few = svg_panel(panel, 100, 3);
  EXPECT_NE(few.find(">100</text>"), std::string::npos);
  EXPECT_EQ(few.find(">1e"), std::string::npos);
  panel.y_low = 1e-6, panel.y_high = 1e3;
  const std::string many = svg_panel(panel, 100, 3);
  EXPECT_NE(many.find(">1e-6</text>"), std::string::npos);
  EXPECT_EQ(many.find(">100</text>"), std::string::npos);
}

TEST(Looks, StayTheSameForAnOptimizerAndItsBaseline) {
  const std::vector<std::string> names = {
      "a", "b", "c", "d", "e", "f", "g", "h", "i", "b (baseline)"};
  EXPECT_EQ(look_of(names, "b").colour, look_of(names, "b (baseline)").colour);
  EXPECT_TRUE(look_of(names, "b (baseline)").is_dashed);
  EXPECT_EQ(look_of(names, "i").colour, look_of(names, "a").colour);
  EXPECT_NE(look_of(names, "i").marker, look_of(names, "a").marker);
}

TEST(Files, AreThoseOfTheFormatsAskedFor) {
  const TemporaryFolder folder;
  const Analysis analysis = analyze(made_up_study(small_study()), {}, made_up_benchmark());
  EXPECT_EQ(write_analysis(analysis, folder.path() + "/a", {"html"}).size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/a/index.html"));
  EXPECT_EQ(write_analysis(analysis, folder.path() + "/b", {"csv"}).size(), 12u);
  const std::vector<std::string> latex = write_analysis(analysis, folder.path() + "/c", {"latex"});
  EXPECT_NE(std::find(latex.begin(), latex.end(), folder.path() + "/c/analysis.tex"), latex.end());
}

TEST(AnalysisReport, OfOneRunHasNoEmptyPlaces) {
  const Analysis analysis = analyze({with_losses("sgd", "", 42, {10, 5})}, {}, {});
  const AnalysisReport report = make_report(analysis);
  for (const Section& section : report.sections) EXPECT_FALSE(section.parts.empty());
  EXPECT_EQ(to_html(report).find("nan"), std::string::npos);
  EXPECT_EQ(to_latex(report).count("analysis.tex"), 1u);
}

TEST(AnalysisReport, ZoomsInOnWhatDidNotBlowUp) {
  std::vector<Outcome> outcomes = {with_losses("sgd", "default", 42, {10, 6, 5}),
                                   with_losses("adam", "default", 42, {10, 5, 4}),
                                   with_losses("wild", "default", 42, {10, 1e20, 1e22})};
  const AnalysisReport report = make_report(analyze(outcomes, {}, {}));
  for (const Section& section : report.sections) {
    for (const ReportPart& part : section.parts) {
      const auto* figure = std::get_if<Figure>(&part);
      if (figure == nullptr || section.id != "curves") continue;
      for (const Panel& panel : figure->panels) EXPECT_LT(panel.y_high, 200);
    }
  }
}

TEST(Pack, KeepsTheAnalysisAndThrowsAwayTheRest) {
  std::vector<Outcome> outcomes = made_up_study(small_study());
  for (Outcome& outcome : outcomes) {
    outcome.batch_losses.assign(500, 1.0 / 3);
    outcome.batch_loss_every = 1;
  }
  const TemporaryFolder folder;
  replace_file(folder.path() + "/packed.jsonl", packed(outcomes));
  std::vector<std::string> problems;
  const std::vector<Outcome> read = find_outcomes(folder.path() + "/packed.jsonl", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(read.size(), outcomes.size());
  const Analysis before = analyze(outcomes, {}, made_up_benchmark()),
                 after = analyze(read, {}, made_up_benchmark());
  ASSERT_EQ(before.results.size(), after.results.size());
  for (size_t k = 0; k < before.results.size(); ++k) {
    const Result &then = before.results[k], &now = after.results[k];
    EXPECT_EQ(then.choice.trial, now.choice.trial);
    EXPECT_NEAR(then.performance.mean / now.performance.mean, 1, 1e-5);
    EXPECT_DOUBLE_EQ(then.epochs.mean, now.epochs.mean);
  }
  for (const Outcome& outcome : read) EXPECT_TRUE(outcome.batch_losses.empty());
  size_t thinned = 0;
  for (const Outcome& outcome : read) thinned += outcome.evaluated.size() <= 3 ? 1 : 0;
  EXPECT_GT(thinned, outcomes.size() / 3);
}

TEST(Pack, KeepsAllEvaluationsOfRunsWithoutATag) {
  const std::string lines = packed({with_losses("sgd", "", 42, {10, 7.12345678, 6, 5})});
  const Outcome outcome = outcome_from_json(lines);
  EXPECT_EQ(outcome.evaluated.size(), 4u);
  EXPECT_DOUBLE_EQ(outcome.test.loss[1], 7.12346);
}

TEST(Baselines, AreReadLineByLineForTheProblemsAskedFor) {
  const std::string file = to_json(with_losses("sgd", "grid-000", 42, {10, 5})) + "\n\n" +
                           to_json(with_accuracies("sgd", "grid-000", 42, {0.1, 0.5}));
  EXPECT_EQ(baselines_of({"quadratic_deep"}, {file}).size(), 1u);
  EXPECT_EQ(baselines_of({"quadratic_deep", "mnist_mlp"}, {file}).size(), 2u);
  EXPECT_TRUE(baselines_of({"quadratic_deep"}, {}).empty());
}

TEST(Baselines, ThatComeWithTheProgramCanBeRead) {
  for (const std::string_view file : baseline_files()) EXPECT_FALSE(file.empty());
  EXPECT_NO_THROW(baselines_of({"mnist_logreg"}));
}

}  // namespace
}  // namespace flightdeck::study
