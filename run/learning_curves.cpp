// SPDX-License-Identifier: MIT
#include "run/learning_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <c10/util/Exception.h>

#include "base/clock.h"
#include "base/order_statistics.h"

namespace flightdeck::run {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kPublishedSeeds = 10;
constexpr size_t kSeedsOfQuartiles = 4;

void evaluate_into(const Training& training, double seconds, LearningCurve& curve) {
  const bool has_diverged = !curve.train_loss.empty() && !std::isfinite(curve.train_loss.back());
  suite::Score train, test;  // not a number
  if (!has_diverged) {
    train = training.evaluate(suite::Part::kTrainEval);
    test = training.evaluate(suite::Part::kTest);
  }
  curve.seconds.push_back(seconds);
  curve.train_loss.push_back(std::isfinite(train.loss) ? train.loss : kNan);
  curve.train_accuracy.push_back(train.accuracy);
  curve.test_loss.push_back(std::isfinite(test.loss) ? test.loss : kNan);
  curve.test_accuracy.push_back(test.accuracy);
}

LearningCurve train_one(Training& training, const Contest& contest) {
  LearningCurve curve;
  double seconds = 0;
  evaluate_into(training, seconds, curve);
  for (int64_t step = 1; step <= contest.steps; ++step) {
    if (std::isfinite(curve.train_loss.back())) {
      const Clock::time_point begin = Clock::now();
      training.step();
      seconds += seconds_since(begin);
    }
    if (step % contest.interval == 0) evaluate_into(training, seconds, curve);
  }
  return curve;
}

// Adds a band between the quartiles of the seeds, or from the lowest to the highest of a few. A
// line that lacks points, because they are not finite, gets none.
void add_band(const Competed& one, Competed::Measure measure, study::Line& line) {
  if (one.seeds.size() < 2 || line.x.size() != one.steps.size()) return;
  const double left_out = one.seeds.size() < kSeedsOfQuartiles ? 0 : 0.25;
  for (size_t k = 0; k < one.steps.size(); ++k) {
    std::vector<double> values;
    for (const LearningCurve& seed : one.seeds) values.push_back((seed.*measure)[k]);
    line.low.push_back(percentile(values, left_out));
    line.high.push_back(percentile(values, 1 - left_out));
  }
}

}  // namespace

const std::vector<std::string> kCompetedColumns = {
    "optimizer", "train_loss", "test_loss", "test_accuracy", "seconds"};

Competitor newton_competitor(const std::string& name,
                             const std::string& optimizer,
                             double rate,
                             double damping,
                             int64_t iterations,
                             int64_t batch_size) {
  return {name,
          optimizer,
          {{"learning_rate", rate},
           {"damping", damping},
           {"cg_tolerance", 0.1},
           {"cg_iterations", static_cast<double>(iterations)}},
          batch_size};
}

std::vector<double> Competed::medians(Measure measure) const {
  std::vector<double> middle;
  for (size_t k = 0; k < steps.size(); ++k) {
    std::vector<double> values;
    for (const LearningCurve& seed : seeds) values.push_back((seed.*measure)[k]);
    const bool is_finite = std::all_of(
        values.begin(), values.end(), [](double value) { return std::isfinite(value); });
    middle.push_back(is_finite ? median(values) : kNan);
  }
  return middle;
}

double Competed::step_below(double level) const {
  const std::vector<double> losses = medians(&LearningCurve::train_loss);
  for (size_t k = 0; k < losses.size(); ++k) {
    if (losses[k] < level) return steps[k];
  }
  return std::numeric_limits<double>::infinity();
}

void take_sizes(Contest& contest, const ExperimentOptions& options) {
  if (options.published) contest.seeds = kPublishedSeeds;
  if (options.published && contest.takes_all_epochs) {
    contest.training.data.augment = true;
    const Training whole(contest.problem, contest.training);
    contest.steps = whole.total_steps();
    contest.interval = whole.steps_per_epoch();
  }
  if (options.seeds > 0) contest.seeds = options.seeds;
  if (options.samples > 0) contest.training.data.limit = options.samples;
  if (options.steps == 0) return;
  contest.steps = options.steps;
  contest.interval = std::max<int64_t>(1, std::min(contest.interval, options.steps / 10));
  contest.steps -= contest.steps % contest.interval;
}

std::vector<Competed> compete(const Contest& contest,
                              const ExperimentOptions& options,
                              ExperimentResult& result) {
  Table curves({"optimizer",
                "seed",
                "step",
                "seconds",
                "train_loss",
                "train_accuracy",
                "test_loss",
                "test_accuracy"});
  std::vector<Competed> all;
  for (const Competitor& competitor : contest.competitors) {
    Competed one{competitor, {}, {}};
    for (int64_t step = 0; step <= contest.steps; step += contest.interval) {
      one.steps.push_back(static_cast<double>(step));
    }
    for (int64_t seed = 0; seed < contest.seeds; ++seed) {
      TrainingOptions chosen = contest.training;
      chosen.optimizer = competitor.optimizer;
      chosen.hyperparameters = competitor.hyperparameters;
      chosen.batch_size = competitor.batch_size;
      chosen.seed += static_cast<uint64_t>(seed);
      chosen.steps = contest.steps;
      options.on_progress(contest.experiment + ": " + competitor.name + ", seed " +
                          std::to_string(chosen.seed));
      Training training(contest.problem, chosen);
      name_data(training, result);
      one.seeds.push_back(train_one(training, contest));
      const LearningCurve& curve = one.seeds.back();
      for (size_t k = 0; k < one.steps.size(); ++k) {
        curves.add({competitor.name,
                    static_cast<int64_t>(chosen.seed),
                    static_cast<int64_t>(one.steps[k]),
                    curve.seconds[k],
                    curve.train_loss[k],
                    curve.train_accuracy[k],
                    curve.test_loss[k],
                    curve.test_accuracy[k]});
      }
    }
    result.table.add({competitor.name,
                      one.last(&LearningCurve::train_loss),
                      one.last(&LearningCurve::test_loss),
                      one.last(&LearningCurve::test_accuracy),
                      one.last(&LearningCurve::seconds)});
    all.push_back(std::move(one));
  }
  result.figures.emplace("curves", std::move(curves));
  return all;
}

study::Panel curves_panel(const std::vector<Competed>& all,
                          Competed::Measure measure,
                          const std::string& title,
                          bool is_log_y) {
  study::Panel panel = panel_over("step", title, is_log_y);
  for (size_t place = 0; place < all.size(); ++place) {
    study::Line line = study::line_of(
        all[place].competitor.name, place, all[place].steps, all[place].medians(measure));
    add_band(all[place], measure, line);
    line.look.is_dashed = all[place].competitor.is_baseline;
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

study::Panel seconds_panel(const std::vector<Competed>& all,
                           Competed::Measure measure,
                           const std::string& title) {
  study::Panel panel = panel_over("seconds of steps", title);
  for (size_t place = 0; place < all.size(); ++place) {
    panel.lines.push_back(study::line_of(all[place].competitor.name,
                                         place,
                                         all[place].medians(&LearningCurve::seconds),
                                         all[place].medians(measure)));
    panel.lines.back().look.is_dashed = all[place].competitor.is_baseline;
  }
  return panel;
}

const Competed& competed_of(const std::vector<Competed>& all, const std::string& name) {
  for (const Competed& one : all) {
    if (one.competitor.name == name) return one;
  }
  TORCH_INTERNAL_ASSERT(false, "no competitor is called ", name);
}

}  // namespace flightdeck::run
