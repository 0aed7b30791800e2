// SPDX-License-Identifier: MIT
#include "run/preconditioned.h"

#include <algorithm>
#include <cmath>

#include "base/shown_number.h"

namespace flightdeck::run {

std::vector<Competitor> preconditioned_competitors(const PublishedSettings& published) {
  std::vector<Competitor> all = {
      {"momentum",
       "momentum",
       {{"learning_rate", published.momentum_rate}, {"momentum", 0.9}},
       0,
       true},
      {"adam", "adam", {{"learning_rate", published.adam_rate}}, 0, true}};
  const std::pair<const char*, RateAndDamping> methods[] = {{"diag_ggn", published.diag_ggn},
                                                            {"diag_ggn_mc", published.diag_ggn_mc},
                                                            {"kfac", published.kfac},
                                                            {"kflr", published.kflr},
                                                            {"kfra", published.kfra}};
  for (const auto& [name, setting] : methods) {
    if (setting.rate == 0) continue;
    all.push_back({name, name, {{"learning_rate", setting.rate}, {"damping", setting.damping}}});
  }
  return all;
}

ExperimentResult preconditioned_result(Contest contest,
                                       const PublishedSettings& published,
                                       const ExperimentOptions& options,
                                       const std::string& remark) {
  contest.competitors = preconditioned_competitors(published);
  for (Competitor& each : contest.competitors) each.batch_size = contest.training.batch_size;
  contest.takes_all_epochs = true;
  take_sizes(contest, options);
  ExperimentResult result(kCompetedColumns);
  if (!remark.empty()) result.data.push_back(remark);
  const std::vector<Competed> all = compete(contest, options, result);
  result.pictures.emplace(
      "figure",
      figure_of(
          "Curvature against Momentum and Adam: " + contest.problem.name,
          {curves_panel(all, &LearningCurve::train_loss, "loss on part of the training data", true),
           curves_panel(all, &LearningCurve::test_accuracy, "accuracy on the test data")}));
  double baseline = INFINITY, kronecker = INFINITY;
  for (const Competed& one : all) {
    const double loss = one.last(&LearningCurve::train_loss);
    if (one.competitor.is_baseline) baseline = std::min(baseline, loss);
    if (one.competitor.name[0] == 'k') kronecker = std::min(kronecker, loss);
  }
  const auto apart = [&all](const std::string& exact, const std::string& sampled) {
    return competed_of(all, sampled).last(&LearningCurve::train_loss) /
           competed_of(all, exact).last(&LearningCurve::train_loss);
  };
  result.compared = {
      {"training loss of the best Kronecker-factored method over the better baseline",
       kronecker / baseline,
       published.claim}};
  if (published.kflr.rate != 0) {
    result.compared.push_back({"training loss, sampled factors (KFAC) over exact ones (KFLR)",
                               apart("kflr", "kfac"),
                               "about 1 where both have the same hyperparameters"});
  }
  if (published.diag_ggn.rate != 0) {
    result.compared.push_back({"training loss, sampled diagonal over the exact one",
                               apart("diag_ggn", "diag_ggn_mc"),
                               "about 1"});
  }
  result.holds = kronecker <= 1.05 * baseline;
  result.finding =
      "after " + std::to_string(contest.steps) +
      " steps with the published hyperparameters the best Kronecker-factored method has a "
      "training loss of " +
      short_number(kronecker) + ", the better of Momentum and Adam " + short_number(baseline) + ".";
  return result;
}

ExperimentResult preconditioned_on_images(Contest contest,
                                          const PublishedSettings& published,
                                          const ExperimentOptions& options,
                                          int64_t quick_steps,
                                          const std::string& widths) {
  if (options.quick) contest.problem.name = "small " + contest.problem.name;
  contest.training = options_for(contest.problem, options);
  contest.steps = options.quick ? quick_steps : 1000;
  contest.interval = options.quick ? 10 : 100;
  contest.seeds = options.quick ? 1 : 3;
  if (!options.quick) return preconditioned_result(std::move(contest), published, options);
  contest.training.data.limit = 500;
  contest.training.batch_size = 64;
  return preconditioned_result(std::move(contest),
                               published,
                               options,
                               "a net of " + widths + ", batches of 64, 500 samples");
}

}  // namespace flightdeck::run
