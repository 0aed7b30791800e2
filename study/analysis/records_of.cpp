// SPDX-License-Identifier: MIT
// Which columns each table has.
#include <cmath>

#include "study/analysis/competitor.h"
#include "study/analysis/records.h"

namespace flightdeck::study {
namespace {

Value baseline_of(const std::string& competitor) {
  return int64_t{is_baseline(competitor) ? 1 : 0};
}

int64_t seeds_of(const Analysis& analysis, const Choice& choice) {
  return static_cast<int64_t>(analysis.trials[choice.trial].runs.size());
}

bool is_headline(const Analysis& analysis, const Result& result) {
  return analysis.headline_of(result.choice.problem, result.choice.competitor) == &result;
}

void add_curve(Records& records, const Choice& choice, const Trial& trial, const Measure& measure) {
  for (size_t k = 0; k < trial.evaluated.size(); ++k) {
    const Spread spread = trial.spread(measure, k);
    records.rows.push_back({choice.problem,
                            optimizer_of(choice.competitor),
                            baseline_of(choice.competitor),
                            choice.schedule,
                            choice.budget,
                            trial.evaluated[k],
                            name_of(measure.part),
                            std::string(measure.is_accuracy ? "accuracy" : "loss"),
                            spread.mean,
                            spread.deviation,
                            trial.quantile(measure, k, 0.25),
                            trial.quantile(measure, k, 0.5),
                            trial.quantile(measure, k, 0.75),
                            spread.count});
  }
}

}  // namespace

Records performance_records(const Analysis& analysis) {
  Records records{"performance",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "budget",
                   "measure",
                   "mean",
                   "std",
                   "seeds",
                   "diverged",
                   "epoch",
                   "samples",
                   "sample",
                   "headline"},
                  {}};
  for (const Result& result : analysis.results) {
    const Choice& choice = result.choice;
    const Trial& trial = analysis.trials[choice.trial];
    records.rows.push_back({choice.problem,
                            optimizer_of(choice.competitor),
                            baseline_of(choice.competitor),
                            choice.schedule,
                            choice.budget,
                            result.measure.name(),
                            result.performance.mean,
                            result.performance.deviation,
                            seeds_of(analysis, choice),
                            result.diverged,
                            trial.evaluated[trial.reported()],
                            choice.samples,
                            trial.sample,
                            int64_t{is_headline(analysis, result) ? 1 : 0}});
  }
  return records;
}

Records speed_records(const Analysis& analysis) {
  Records records{"speed",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "budget",
                   "target",
                   "epochs_mean",
                   "epochs_std",
                   "iterations_mean",
                   "iterations_std",
                   "iterations_median",
                   "seconds_mean",
                   "seeds",
                   "not_reached"},
                  {}};
  for (const Result& result : analysis.results) {
    const Choice& choice = result.choice;
    records.rows.push_back({choice.problem,
                            optimizer_of(choice.competitor),
                            baseline_of(choice.competitor),
                            choice.schedule,
                            choice.budget,
                            analysis.targets.at(choice.problem).value,
                            result.epochs.mean,
                            result.epochs.deviation,
                            result.iterations.mean,
                            result.iterations.deviation,
                            result.median_iterations,
                            result.seconds.mean,
                            seeds_of(analysis, choice),
                            result.not_reached});
  }
  return records;
}

Records target_records(const Analysis& analysis) {
  Records records{"targets", {"problem", "measure", "target", "origin"}, {}};
  for (const auto& [problem, target] : analysis.targets) {
    records.rows.push_back({problem, target.measure.name(), target.value, target.origin});
  }
  return records;
}

Records tuneability_records(const Analysis& analysis) {
  Records records{"tuneability",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "budget",
                   "samples",
                   "diverged",
                   "within_1_percent",
                   "within_10_percent",
                   "median_relative",
                   "best",
                   "interior",
                   "at_edge"},
                  {}};
  for (const Tuneability& row : analysis.tuneabilities) {
    std::string best;
    char text[32];
    for (const auto& [name, value] : row.best) {
      std::snprintf(text, sizeof text, "=%.6g", value);
      best += (best.empty() ? "" : ";") + name + text;
    }
    records.rows.push_back({row.problem,
                            optimizer_of(row.competitor),
                            baseline_of(row.competitor),
                            row.schedule,
                            row.budget,
                            row.samples,
                            row.diverged,
                            row.within_1,
                            row.within_10,
                            row.median_rel,
                            best,
                            std::string(!row.is_on_grid   ? ""
                                        : row.is_interior ? "yes"
                                                          : "no"),
                            row.at_edge});
  }
  return records;
}

Records sensitivity_records(const Analysis& analysis) {
  Records records{"sensitivity",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "sample",
                   "learning_rate",
                   "score",
                   "relative",
                   "relative_to_own_best",
                   "diverged"},
                  {}};
  for (const TunedPoint& point : analysis.points) {
    records.rows.push_back({point.problem,
                            optimizer_of(point.competitor),
                            baseline_of(point.competitor),
                            point.schedule,
                            point.sample,
                            point.learning_rate,
                            point.score,
                            point.relative,
                            point.relative_to_own,
                            int64_t{point.has_diverged ? 1 : 0}});
  }
  return records;
}

Records curve_records(const Analysis& analysis) {
  Records records{"learning_curves",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "budget",
                   "epoch",
                   "part",
                   "measure",
                   "mean",
                   "std",
                   "lower_quartile",
                   "median",
                   "upper_quartile",
                   "seeds"},
                  {}};
  for (const size_t k : analysis.headline) {
    const Choice& choice = analysis.results[k].choice;
    const Trial& trial = analysis.trials[choice.trial];
    for (const MeasuredPart part :
         {MeasuredPart::kTrain, MeasuredPart::kValid, MeasuredPart::kTest}) {
      for (const bool is_accuracy : {false, true}) {
        const Measure measure{part, is_accuracy};
        if (trial.has(measure)) add_curve(records, choice, trial, measure);
      }
    }
  }
  return records;
}

Records improvement_records(const Analysis& analysis) {
  Records records{"improvement",
                  {"problem",
                   "untuned",
                   "untuned_baseline",
                   "tuned",
                   "tuned_baseline",
                   "budget",
                   "absolute",
                   "relative",
                   "absolute_on_tuning_seed",
                   "problems"},
                  {}};
  for (const Improvement& cell : analysis.improvements) {
    records.rows.push_back({cell.problem.empty() ? "(mean)" : cell.problem,
                            optimizer_of(cell.untuned),
                            baseline_of(cell.untuned),
                            optimizer_of(cell.tuned),
                            baseline_of(cell.tuned),
                            cell.budget,
                            cell.absolute,
                            cell.relative,
                            cell.absolute_on_tuning_seed,
                            cell.problems});
  }
  return records;
}

Records gain_records(const Analysis& analysis) {
  Records records{"gains",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "budget",
                   "over_one_shot",
                   "over_less_tuning",
                   "over_constant"},
                  {}};
  for (const Gain& gain : analysis.gains) {
    records.rows.push_back({gain.problem,
                            optimizer_of(gain.competitor),
                            baseline_of(gain.competitor),
                            gain.schedule,
                            gain.budget,
                            gain.over_one_shot,
                            gain.over_less_tuning,
                            gain.over_constant});
  }
  return records;
}

Records gain_summary_records(const Analysis& analysis) {
  Records records{
      "gain_summary",
      {"kind", "schedule", "budget", "lower_quartile", "median", "upper_quartile", "count"},
      {}};
  const std::pair<const char*, double Gain::*> kinds[] = {
      {"over_one_shot", &Gain::over_one_shot},
      {"over_less_tuning", &Gain::over_less_tuning},
      {"over_constant", &Gain::over_constant}};
  for (const auto& [name, kind] : kinds) {
    for (const GainSummary& row : summarise(analysis.gains, kind)) {
      records.rows.push_back({std::string(name),
                              row.schedule,
                              row.budget,
                              row.lower,
                              row.middle,
                              row.upper,
                              row.count});
    }
  }
  return records;
}

Records profile_records(const Analysis& analysis) {
  Records records{"profile", {"optimizer", "baseline", "problem", "factor"}, {}};
  for (const Profile& profile : analysis.profiles) {
    for (const auto& [problem, factor] : profile.factors) {
      records.rows.push_back(
          {optimizer_of(profile.competitor), baseline_of(profile.competitor), problem, factor});
    }
  }
  return records;
}

Records profile_score_records(const Analysis& analysis) {
  Records records{"profile_scores", {"optimizer", "baseline", "score", "reached", "problems"}, {}};
  for (const Profile& profile : analysis.profiles) {
    records.rows.push_back({optimizer_of(profile.competitor),
                            baseline_of(profile.competitor),
                            profile.score,
                            profile.reached,
                            static_cast<int64_t>(profile.factors.size())});
  }
  return records;
}

Records seed_records(const Analysis& analysis) {
  Records records{"seeds",
                  {"problem",
                   "optimizer",
                   "baseline",
                   "schedule",
                   "budget",
                   "sample",
                   "learning_rate",
                   "seed",
                   "tuning_seed",
                   "measure",
                   "score",
                   "diverged"},
                  {}};
  for (const SeedPoint& point : analysis.seed_points) {
    records.rows.push_back({point.problem,
                            optimizer_of(point.competitor),
                            baseline_of(point.competitor),
                            point.schedule,
                            point.budget,
                            point.sample,
                            point.learning_rate,
                            static_cast<int64_t>(point.seed),
                            int64_t{point.is_tuning_seed ? 1 : 0},
                            point.measure.name(),
                            point.score,
                            int64_t{point.has_diverged ? 1 : 0}});
  }
  return records;
}

Records coordinate_records(const Analysis& analysis) {
  Records records{"coordinates",
                  {"schedule",
                   "budget",
                   "problem",
                   "optimizer",
                   "baseline",
                   "tuned",
                   "mean",
                   "std",
                   "height",
                   "best",
                   "reference"},
                  {}};
  for (const Coordinates& figure : analysis.coordinates) {
    for (const bool is_tuned : {true, false}) {
      for (const Coordinate& place : is_tuned ? figure.tuned : figure.untuned) {
        const Axis& axis = figure.axes[place.axis];
        records.rows.push_back({figure.schedule,
                                figure.budget,
                                axis.problem,
                                optimizer_of(place.competitor),
                                baseline_of(place.competitor),
                                int64_t{is_tuned ? 1 : 0},
                                place.performance.mean,
                                place.performance.deviation,
                                axis.height(place.performance.mean),
                                axis.best,
                                axis.reference});
      }
    }
  }
  return records;
}

Records retuning_records(const Analysis& analysis) {
  Records records{"retuning",
                  {"problem",
                   "optimizer",
                   "schedule",
                   "budget",
                   "study",
                   "sample",
                   "measure",
                   "mean",
                   "std",
                   "seeds",
                   "shift",
                   "largest_std"},
                  {}};
  for (const Retuning& row : analysis.retunings) {
    for (const RetunedChoice& found : row.found) {
      records.rows.push_back({row.problem,
                              row.competitor,
                              row.schedule,
                              row.budget,
                              found.study,
                              found.sample,
                              row.measure.name(),
                              found.performance.mean,
                              found.performance.deviation,
                              found.performance.count,
                              row.shift,
                              row.largest_deviation});
    }
  }
  return records;
}

}  // namespace flightdeck::study
