// SPDX-License-Identifier: MIT
// The figures of the optimizer comparison: all problems at once, all seeds, tunings repeated.
#include <cmath>

#include <gtest/gtest.h>

#include "study/analysis/analysis.h"
#include "study/analysis/html.h"
#include "study/analysis/latex.h"
#include "study/analysis/records.h"
#include "study/analysis/report_parts.h"
#include "study/plan.h"
#include "tests/study/made_up.h"
#include "tests/study/outcomes.h"

namespace flightdeck::study {
namespace {

MadeUp small_comparison() {
  MadeUp request;
  request.optimizers = 6;
  request.problems = 4;
  request.epochs = 6;
  request.samples = 75;
  request.seeds = 3;
  request.schedules = {"constant", "cosine"};
  return request;
}

const Analysis& made_up_analysis() {
  static const Analysis analysis =
      analyze(made_up_study(small_comparison()), {}, made_up_benchmark());
  return analysis;
}

const Coordinates& of_large_budget() {
  for (const Coordinates& figure : made_up_analysis().coordinates) {
    if (figure.schedule == "constant" && figure.budget == "large") return figure;
  }
  throw std::runtime_error("there is none");
}

// ---- parallel coordinates -----------------------------------------------------------------------

TEST(Coordinates, HaveAnAxisForEachProblemInTheirOrder) {
  const Coordinates& figure = of_large_budget();
  ASSERT_EQ(figure.axes.size(), 4u);
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(figure.axes[k].problem, made_up_analysis().problems[k]);
  }
  EXPECT_EQ(figure.tuned.size(), 6u * 4u);
  EXPECT_EQ(figure.untuned.size(), 2u * 4u);                  // adam and adabound
  EXPECT_EQ(made_up_analysis().coordinates.size(), 2u * 4u);  // schedules by budgets
}

TEST(Coordinates, PutTheBestOfAllBudgetsAtOneAndUntunedAdamAtTheReference) {
  const Coordinates& figure = of_large_budget();
  for (size_t k = 0; k < figure.axes.size(); ++k) {
    const Axis& axis = figure.axes[k];
    double best = NAN, untuned = NAN;
    for (const Result& result : made_up_analysis().results) {
      if (result.choice.problem != axis.problem) continue;
      const double mean = result.performance.mean;
      if (std::isnan(best) || axis.measure.is_better(mean, best)) best = mean;
      if (result.choice.competitor == "adam" && result.choice.budget == "one_shot" &&
          result.choice.schedule == "constant") {
        untuned = mean;
      }
    }
    EXPECT_DOUBLE_EQ(axis.best, best);
    EXPECT_DOUBLE_EQ(axis.height(best), 1.0);
    EXPECT_NEAR(axis.height(untuned), kReferenceHeight, 1e-12);  // roundings of a line
    EXPECT_NEAR(axis.height((best + untuned) / 2), (1.0 + kReferenceHeight) / 2, 1e-12);
    for (const Coordinate& place : figure.tuned) {
      if (place.axis != k) continue;
      EXPECT_LE(axis.height(place.performance.mean), 1.0 + 1e-12);
    }
  }
}

TEST(Coordinates, TakeTheWorstForReferenceWhereAdamWasNotRun) {
  std::vector<Outcome> outcomes;
  for (const char* problem : {"one", "two"}) {
    outcomes.push_back(outcome_with(problem, "sgd", "default", 42, {10, 8}, false));
    outcomes.push_back(outcome_with(problem, "nag", "default", 42, {10, 4}, false));
    outcomes.push_back(outcome_with(problem, "radam", "default", 42, {10, 6}, false));
  }
  const Analysis analysis = analyze(outcomes, {}, {});
  ASSERT_EQ(analysis.coordinates.size(), 1u);
  const Axis& axis = analysis.coordinates[0].axes[0];
  EXPECT_EQ(axis.best, 4);
  EXPECT_EQ(axis.reference, 8);
  EXPECT_NEAR(axis.height(6), 0.6, 1e-12);
}

TEST(Coordinates, AreDrawnWithTheBarOfAdamAndTheMarksOfUntunedOnes) {
  const Figure figure = coordinates_figure(made_up_analysis(), of_large_budget());
  ASSERT_EQ(figure.panels.size(), 1u);
  int lines = 0, bars = 0, marks = 0;
  for (const Line& line : figure.panels[0].lines) {
    lines += line.style == Line::Style::kLine ? 1 : 0;
    if (line.style == Line::Style::kBars) {
      ++bars;
      EXPECT_EQ(line.name, "adam");
      for (size_t k = 0; k < line.x.size(); ++k) {
        EXPECT_LE(line.low[k], line.y[k]);
        EXPECT_GE(line.high[k], line.y[k]);
      }
    }
    if (line.style == Line::Style::kMarks) ++marks;
  }
  EXPECT_EQ(lines, 6);
  EXPECT_EQ(bars, 1);
  EXPECT_EQ(marks, 2);
  EXPECT_EQ(figure.panels[0].x_tops.size(), 4u);
}

TEST(Coordinates, CanBeChosenFromOnThePageAndCompileAsLatex) {
  const AnalysisReport report = make_report(made_up_analysis());
  const std::string html = to_html(report);
  EXPECT_NE(html.find("id=\"coordinates_constant_large-pick-0\""), std::string::npos);
  EXPECT_NE(html.find("<label for=\"coordinates_constant_large-pick-5\">"), std::string::npos);
  EXPECT_NE(html.find("pick k5"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  const std::string latex = to_latex(report).at("coordinates_constant_large.tex");
  EXPECT_NE(latex.find("only marks"), std::string::npos);
  EXPECT_NE(latex.find("mark=-"), std::string::npos);
}

// ---- matrices -----------------------------------------------------------------------------------

TEST(ImprovementOnTheTuningSeed, IsTheDifferenceOfThatSeedAlone) {
  const Analysis& analysis = made_up_analysis();
  const Heatmap map = improvement_on_tuning_seed(analysis, "fmnist_2c2d", "large");
  ASSERT_EQ(map.rows.size(), 6u);
  ASSERT_EQ(map.columns.size(), 6u);
  const auto on_seed = [&](const std::string& competitor, const std::string& budget) -> double {
    for (const Result& result : analysis.results) {
      const Choice& choice = result.choice;
      if (choice.problem != "fmnist_2c2d" || choice.competitor != competitor ||
          choice.schedule != "constant" || choice.budget != budget) {
        continue;
      }
      const Trial& trial = analysis.trials[choice.trial];
      return run_on(trial, 42).test.accuracy.at(trial.reported());
    }
    return NAN;
  };
  for (size_t row = 0; row < 6; ++row) {
    for (size_t column = 0; column < 6; ++column) {
      const double before = on_seed(map.rows[row], "one_shot");
      const double after = on_seed(map.columns[column], "large");
      EXPECT_NEAR(map.values[row][column], 100 * (after - before), 1e-9);
    }
  }
  const std::string html = to_html(make_report(analysis));
  EXPECT_NE(html.find("improvement_large_tuning_seed_fmnist_2c2d"), std::string::npos);
}

// ---- all seeds ----------------------------------------------------------------------------------

std::vector<Outcome> grid_with_seeds(int64_t seeds) {
  std::vector<Outcome> outcomes;
  const double rates[] = {0.01, 0.1, 1.0};
  for (int k = 0; k < 3; ++k) {
    for (int64_t seed = 42; seed < 42 + seeds; ++seed) {
      const double end = 5.0 - k + 0.1 * static_cast<double>(seed - 42);
      Outcome outcome = with_losses(
          "sgd", "grid-00" + std::to_string(k), static_cast<uint64_t>(seed), {10, 6, end});
      outcome.setting.hyperparameters["learning_rate"] = rates[k];
      outcomes.push_back(outcome);
    }
  }
  return outcomes;
}

TEST(AllSeeds, AreShownAtEveryLearningRate) {
  const Analysis analysis = analyze(grid_with_seeds(4), {}, {});
  ASSERT_EQ(analysis.seed_points.size(), 3u * 4u);
  for (const SeedPoint& point : analysis.seed_points) {
    EXPECT_EQ(point.is_tuning_seed, point.seed == 42);
  }
  EXPECT_EQ(analysis.seed_points.front().learning_rate, 0.01);
  EXPECT_DOUBLE_EQ(analysis.seed_points.back().score, 3.3);
  const Figure figure = seeds_figure(analysis);
  ASSERT_EQ(figure.panels.size(), 1u);
  const Panel& panel = figure.panels[0];
  ASSERT_EQ(panel.lines.size(), 3u);
  EXPECT_EQ(panel.lines[0].x.size(), 3u);  // means
  EXPECT_NEAR(panel.lines[0].y[0], 5.15, 1e-12);
  EXPECT_EQ(panel.lines[1].x.size(), 9u);  // other seeds
  EXPECT_EQ(panel.lines[2].x.size(), 3u);  // that of tuning
  EXPECT_EQ(seed_records(analysis).rows.size(), 12u);
}

TEST(AllSeeds, AreNotShownWhereOnlyTheBestHasSeveral) {
  std::vector<Outcome> outcomes = grid_with_seeds(1);
  Outcome repeated = outcomes.back();
  repeated.seed = 43;
  outcomes.push_back(repeated);
  EXPECT_TRUE(analyze(outcomes, {}, {}).seed_points.empty());
}

TEST(AllSeeds, ArePlannedForEveryPointOfTheGrid) {
  Request request;
  request.problems = {"p"};
  request.optimizers = {{"sgd", {{"learning_rate", {}, 0.1}}}};
  request.schedules = {"constant"};
  request.budgets = {"grid"};
  request.grid = {{"learning_rate", {0.01, 0.1, 1.0}}};
  request.seeds = 4;
  EXPECT_EQ(planned_runs(request, combinations(request)[0], {}).size(), 3u);
  request.has_all_seeds = true;
  const std::vector<PlannedRun> runs = planned_runs(request, combinations(request)[0], {});
  EXPECT_EQ(runs.size(), 12u);
  EXPECT_EQ(most_runs(request), 12u);
  Scores scores;
  for (const PlannedRun& run : runs) scores[run.id] = RunScore();
  EXPECT_EQ(planned_runs(request, combinations(request)[0], scores).size(), 12u);
  EXPECT_TRUE(request_from_json(to_json(request)).has_all_seeds);
  Request one = request;
  one.has_all_seeds = false;
  ASSERT_EQ(differences(one, request).size(), 1u);
  EXPECT_NE(differences(one, request)[0].find("all_seeds"), std::string::npos);
}

// ---- the edge of a grid -------------------------------------------------------------------------

TEST(Interior, IsABestSettingWithNeighboursOnBothSides) {
  std::vector<Outcome> outcomes = grid_with_seeds(1);
  const auto row = [](const Analysis& analysis) { return analysis.tuneabilities.at(0); };
  const Tuneability at_end = row(analyze(outcomes, {}, {}));
  EXPECT_TRUE(at_end.is_on_grid);
  EXPECT_FALSE(at_end.is_interior);
  EXPECT_EQ(at_end.at_edge, "learning_rate at the upper end");
  for (Curve* curve : {&outcomes[1].train, &outcomes[1].valid, &outcomes[1].test}) {
    curve->loss.back() = 1;
  }
  const Analysis inside = analyze(outcomes, {}, {});
  EXPECT_TRUE(row(inside).is_interior);
  EXPECT_EQ(tuneability_table(inside, "quadratic_deep").columns[2], "interior");
  EXPECT_EQ(tuneability_table(inside, "quadratic_deep").rows[0][2].text, "yes");
}

TEST(Interior, IsNoMatterOfRandomDraws) {
  for (const Tuneability& row : made_up_analysis().tuneabilities) {
    EXPECT_FALSE(row.is_on_grid);
    EXPECT_EQ(row.at_edge, "");
  }
}

// ---- tuned again --------------------------------------------------------------------------------

std::vector<Outcome> tuned_to(const std::vector<double>& ends) {
  std::vector<Outcome> outcomes;
  for (const char* problem : {"one", "two"}) {
    for (size_t k = 0; k < ends.size(); ++k) {
      outcomes.push_back(
          outcome_with(problem, "rmsprop", "random-000", 42 + k, {10, ends[k]}, false));
      outcomes.push_back(
          outcome_with(problem, "sgd", "random-000", 42 + k, {10, ends[k] + 1}, false));
    }
  }
  return outcomes;
}

TEST(StudiesApart, AreComparedByWhatEachFound) {
  const Analysis analysis =
      analyze_apart({{"first", tuned_to({4, 6})}, {"again", tuned_to({7, 8})}}, {}, {});
  ASSERT_EQ(analysis.retunings.size(), 4u);  // problems by optimizers
  const Retuning& row = analysis.retunings[0];
  EXPECT_EQ(row.competitor, "rmsprop");
  ASSERT_EQ(row.found.size(), 2u);
  EXPECT_EQ(row.found[0].study, "first");
  EXPECT_DOUBLE_EQ(row.found[0].performance.mean, 5);
  EXPECT_DOUBLE_EQ(row.found[1].performance.mean, 7.5);
  EXPECT_EQ(row.found[1].seeds, (std::vector<double>{7, 8}));
  EXPECT_DOUBLE_EQ(row.shift, 2.5);
  EXPECT_DOUBLE_EQ(row.largest_deviation, 1);
  // Tables are of the first study: joined, its runs would be those of the second.
  EXPECT_DOUBLE_EQ(analysis.headline_of("one", "rmsprop")->performance.mean, 5);
}

TEST(StudiesApart, AreDrawnSeedBySeed) {
  const Analysis analysis =
      analyze_apart({{"first", tuned_to({4, 6})}, {"again", tuned_to({7, 8})}}, {}, {});
  const ShownTable table = retuning_table(analysis);
  EXPECT_EQ(table.columns[4], "first");
  EXPECT_EQ(table.columns[5], "again");
  const std::vector<Figure> figures = retuning_figures(analysis);
  ASSERT_EQ(figures.size(), 2u);
  int thin = 0, muted = 0, dashed = 0;
  for (const Line& line : figures[0].panels[0].lines) {
    thin += line.style == Line::Style::kThin ? 1 : 0;
    muted += line.look.colour == Look::kMuted ? 1 : 0;
    dashed += line.look.is_dashed ? 1 : 0;
  }
  EXPECT_EQ(thin, 4);    // two seeds of two studies
  EXPECT_EQ(muted, 1);   // the other optimizer
  EXPECT_EQ(dashed, 3);  // seeds and mean of the second study
  EXPECT_NE(to_html(make_report(analysis)).find("retuning_rmsprop_constant_small"),
            std::string::npos);
  EXPECT_EQ(retuning_records(analysis).rows.size(), 8u);
}

TEST(StudiesApart, AreTwoAtLeast) {
  EXPECT_THROW(analyze_apart({{"first", tuned_to({4})}}, {}, {}), std::invalid_argument);
  EXPECT_TRUE(made_up_analysis().retunings.empty());
}

// ---- measures, curves, versions -----------------------------------------------------------------

TEST(TrainLoss, CanBeTheMeasureOfProblemsWithAnAccuracy) {
  Outcome outcome = with_accuracies("sgd", "default", 42, {0.1, 0.5, 0.8});
  outcome.train.loss = {2.3, 1.5, 0.25};
  AnalysisOptions options;
  options.part = MeasuredPart::kTrain;
  options.published_targets["mnist_mlp"] = 0.9;
  EXPECT_DOUBLE_EQ(analyze({outcome}, {}, options).results[0].performance.mean, 0.8);
  options.is_of_losses = true;
  const Analysis analysis = analyze({outcome}, {}, options);
  EXPECT_DOUBLE_EQ(analysis.results[0].performance.mean, 0.25);
  EXPECT_EQ(analysis.results[0].measure.name(), "train loss");
  EXPECT_EQ(analysis.targets.at("mnist_mlp").origin, "derived");
  EXPECT_EQ(performance_table(analysis).columns[1], "mnist_mlp");
  // The published constant is an accuracy.
  options.part = MeasuredPart::kTest;
  EXPECT_EQ(analyze({outcome}, {}, options).targets.at("mnist_mlp").origin, "derived");
}

TEST(Curves, AreMediansAndQuartilesIfAsked) {
  std::vector<Outcome> outcomes;
  const double ends[] = {1, 2, 3, 4, 90};
  for (uint64_t k = 0; k < 5; ++k) {
    outcomes.push_back(with_losses("sgd", "default", 42 + k, {10, ends[k]}));
  }
  AnalysisOptions options;
  const Figure mean = curves_figure(analyze(outcomes, {}, options), "quadratic_deep");
  EXPECT_DOUBLE_EQ(mean.panels[0].lines[0].y[1], 20);
  options.has_median_curves = true;
  const Analysis analysis = analyze(outcomes, {}, options);
  const Line line = curves_figure(analysis, "quadratic_deep").panels[0].lines[0];
  EXPECT_DOUBLE_EQ(line.y[1], 3);
  EXPECT_DOUBLE_EQ(line.low[1], 2);
  EXPECT_DOUBLE_EQ(line.high[1], 4);
  const Records records = curve_records(analysis);
  EXPECT_EQ(records.columns[11], "median");
  EXPECT_EQ(std::get<double>(records.rows[1][11]), 3);
}

bool has_warning(const Analysis& analysis, const std::string& text) {
  for (const std::string& warning : analysis.warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Versions, ThatDifferAreTold) {
  Outcome first = with_losses("sgd", "default", 42, {10, 5});
  Outcome second = with_losses("adam", "default", 42, {10, 5});
  EXPECT_FALSE(has_warning(analyze({first, second}, {}, {}), "version"));
  first.version = "0.1.0";
  EXPECT_TRUE(has_warning(analyze({first, second}, {}, {}),
                          "0.1.0 (1 runs), one before versions were kept (1 runs)"));
  second.version = "0.2.0";
  EXPECT_TRUE(has_warning(analyze({first, second}, {}, {}), "0.1.0 (1 runs), 0.2.0 (1 runs)"));
  second.version = "0.1.0";
  EXPECT_FALSE(has_warning(analyze({first, second}, {}, {}), "version"));
  Outcome baseline = with_losses("nag", "default", 42, {10, 5});
  EXPECT_FALSE(has_warning(analyze({first}, {baseline}, {}), "baselines come"));
  baseline.version = "0.0.9";
  EXPECT_TRUE(
      has_warning(analyze({first}, {baseline}, {}), "baselines come from flightdeck 0.0.9"));
}

}  // namespace
}  // namespace flightdeck::study
