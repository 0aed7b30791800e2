// SPDX-License-Identifier: MIT
// Convex problems against a deep net: how the gradient's length and the scatter of individual
// gradients change while training, and the whole cockpit of each.
#include <algorithm>
#include <cmath>

#include <c10/util/Exception.h>

#include "base/shown_number.h"
#include "flightdeck/record.h"
#include "run/watched_run.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// Means over the first and the last tenth of the tracked steps.
struct Change {
  double first, last;
  double factor() const { return last / first; }
};

Change change_of(const std::vector<double>& values) {
  const auto tenth = static_cast<std::ptrdiff_t>(std::max<size_t>(1, values.size() / 10));
  return {mean({values.begin(), values.begin() + tenth}),
          mean({values.end() - tenth, values.end()})};
}

struct Subject {
  std::vector<std::string> problems;  // the first with data
  bool is_convex;
  double learning_rate;
  int64_t steps, quick_steps;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {{"quadratic_deep"}, true, 0.01, 1000, 100},
      {{"mnist_logreg", "fmnist_logreg"}, true, 0.05, 1000, 100},
      {{"cifar10_3c3d", "fmnist_2c2d"}, false, 0.01, 1000, 30},
  };
  return all;
}

struct View {
  std::string problem;
  bool is_convex;
  Change norm, scatter;
  std::vector<double> steps, norms, scatters;
};

// Tracks the whole cockpit at logarithmic steps, which let the early ones count as much as the many
// late ones, as in the thesis. A convex problem's curvature is exact and costs little; that of the
// deep net is sampled, as in figure 7.2, and asked for at fewer steps.
Tracking whole_cockpit(bool is_convex, const TrainingOptions& chosen, bool is_quick) {
  const double end = std::log10(static_cast<double>(chosen.steps));
  const DueSteps due = DueSteps::logarithmic(0, end);
  Tracking tracking = tracked_preset("full", due);
  tracking.cockpit.strict = true;
  if (is_convex) return tracking;
  const DueSteps some = DueSteps::logarithmic(0, end, is_quick ? 2 : 60);
  for (const char* name : {"hess_trace", "tic_diag"}) {
    track(tracking, quantity(name, {{"curvature", "ggn_mc"}}).on(some));
  }
  for (const char* name : {"hess_max_ev", "grad_hist_2d"}) track(tracking, quantity(name).on(some));
  return tracking;
}

View view_of(const RunReader& run, const std::string& problem, bool is_convex, Table& curves) {
  View view{problem, is_convex, {}, {}, {}, {}, {}};
  const auto by_step = [&run](const char* name) {
    std::map<int64_t, double> values;
    for (const NumberPoint& point : run.numbers(run.find(name)->id)) {
      values.emplace(point.step, point.value);
    }
    return values;
  };
  // The loss is known of every step, the others of those that are due.
  const std::map<int64_t, double> losses = by_step("loss"), scatters = by_step("norm_test");
  for (const auto& [step, norm] : by_step("grad_norm")) {
    curves.add({problem, step, losses.at(step), norm, scatters.at(step)});
    view.steps.push_back(static_cast<double>(step + 1));
    view.norms.push_back(norm);
    view.scatters.push_back(scatters.at(step));
  }
  view.norm = change_of(view.norms);
  view.scatter = change_of(view.scatters);
  return view;
}

View train(const Subject& subject,
           const ExperimentOptions& options,
           Table& curves,
           ExperimentResult& result) {
  RunOptions chosen;
  chosen.training = first_with_data(subject.problems, options);
  const std::string problem = chosen.training.problem;
  chosen.training.hyperparameters["learning_rate"] = subject.learning_rate;
  chosen.training.steps = options.quick ? subject.quick_steps : subject.steps;
  chosen.tracking = whole_cockpit(subject.is_convex, chosen.training, options.quick);
  chosen.folder = options.folder + "/" + problem;
  chosen.checkpoint_every = 0;
  if (options.quick) chosen.evaluate_every = 0;  // takes as long as the training of so few steps
  options.on_progress("convex_view: " + problem);
  WatchedRun run(chosen);
  name_data(run.training(), result);
  run.execute();
  result.runs.emplace(problem, chosen.folder);
  return view_of(RunReader(chosen.folder), problem, subject.is_convex, curves);
}

// Returns whether gradients of a convex problem go to zero, so that noise dominates, and those of a
// deep net do not get shorter.
bool is_as_claimed(const View& view) {
  if (!view.is_convex) return view.norm.factor() >= 1;
  return view.norm.factor() < 1 && view.scatter.factor() > 1;
}

std::string text_of(const View& view) {
  const auto tendency = [](const Change& change) {
    return (change.factor() < 1 ? "falls (factor " : "grows (factor ") +
           short_number(change.factor()) + ")";
  };
  return "on " + view.problem + (view.is_convex ? " (convex)" : " (deep)") + " the gradient norm " +
         tendency(view.norm) + " and the norm test " + tendency(view.scatter);
}

study::Figure drawn(const std::vector<View>& views) {
  study::Figure figure;
  figure.title = "Convex problems against a deep net";
  figure.panels.resize(2);
  figure.panels[0].title = "norm of the gradient";
  figure.panels[1].title = "norm test: scatter of individual gradients";
  for (study::Panel& panel : figure.panels) {
    panel.x_label = "step + 1";
    panel.is_log_x = panel.is_log_y = true;
  }
  for (size_t k = 0; k < views.size(); ++k) {
    const std::string name = views[k].problem + (views[k].is_convex ? " (convex)" : " (deep)");
    figure.panels[0].lines.push_back(study::line_of(name, k, views[k].steps, views[k].norms));
    figure.panels[1].lines.push_back(study::line_of(name, k, views[k].steps, views[k].scatters));
  }
  for (study::Panel& panel : figure.panels) study::fit_limits(panel);
  return figure;
}

ExperimentResult run_convex_view(const ExperimentOptions& options) {
  TORCH_CHECK(!options.folder.empty(),
              "convex_view: options.folder is empty but runs are recorded for their screens; name "
              "one");
  ExperimentResult result({"problem",
                           "convex",
                           "grad_norm_first",
                           "grad_norm_last",
                           "norm_test_first",
                           "norm_test_last"});
  Table curves({"problem", "step", "loss", "grad_norm", "norm_test"});
  result.holds = true;
  std::vector<View> views;
  for (const Subject& subject : subjects()) {
    const View view = train(subject, options, curves, result);
    result.table.add({view.problem,
                      view.is_convex ? "yes" : "no",
                      view.norm.first,
                      view.norm.last,
                      view.scatter.first,
                      view.scatter.last});
    result.compared.push_back({"gradient norm at the end over that at the start, " + view.problem,
                               view.norm.factor(),
                               view.is_convex ? "below 1 (C.6)" : "above 1 (7.4)"});
    views.push_back(view);
    result.holds = result.holds && is_as_claimed(view);
    result.finding += (result.finding.empty() ? "" : "; ") + text_of(view);
  }
  result.finding += ".";
  result.figures.emplace("curves", std::move(curves));
  result.pictures.emplace("figure", drawn(views));
  return result;
}

}  // namespace

Experiment convex_view() {
  return {"convex_view",
          "Gradient norm and scatter on convex problems against a deep net",
          "C.6",
          &run_convex_view};
}

}  // namespace flightdeck::run::experiments
