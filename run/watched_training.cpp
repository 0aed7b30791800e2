// SPDX-License-Identifier: MIT
#include "run/watched_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "base/clock.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/data_set_operator.h"

namespace flightdeck::run {

bool is_read_from_files(const std::string& data_set, const ExperimentOptions& options) {
  return !options.synthetic && suite::describe_data(data_set).is_found;
}

TrainingOptions first_with_data(const std::vector<std::string>& problems,
                                const ExperimentOptions& options) {
  for (const std::string& name : problems) {
    const suite::Problem& problem = suite::find_problem(name);
    if (is_read_from_files(problem.data_set, options)) return options_for(problem, options);
  }
  return options_for(suite::find_problem(problems.front()), options);
}

TrainingOptions options_for(const suite::Problem& problem, const ExperimentOptions& options) {
  TrainingOptions training;
  training.problem = problem.name;
  training.seed = options.seed;
  training.device = options.device;
  training.data.augment = false;
  training.data.limit = options.samples > 0 ? options.samples : options.quick ? 2000 : 0;
  training.data.synthetic = !is_read_from_files(problem.data_set, options);
  return training;
}

suite::Problem on_images_here(const std::string& name,
                              const ExperimentOptions& options,
                              const std::function<suite::Model(int64_t classes)>& build) {
  suite::Problem problem = suite::find_problem(name);
  const bool is_grey = !is_read_from_files(problem.data_set, options) &&
                       is_read_from_files("fashion_mnist", options);
  if (is_grey) {
    problem.name += " on grey images as 3 x 32 x 32";
    problem.data_set = "fashion_mnist";
    problem.classes = 10;
  }
  problem.build = [build, is_grey, classes = problem.classes] {
    suite::Model model = build(classes);
    if (!is_grey) return model;
    const auto net = model.forward;
    model.forward = [net](const Tensor& images) {
      return net(at::constant_pad_nd(images, {2, 2, 2, 2}).expand({-1, 3, -1, -1}));
    };
    return model;
  };
  return problem;
}

std::shared_ptr<MemorySink> watched(Training& training,
                                    std::vector<Quantity> quantities,
                                    const Grouping& grouping) {
  CockpitOptions options;
  options.grouping = grouping;
  options.strict = true;
  auto values = std::make_shared<MemorySink>();
  Cockpit cockpit(training.parameters(), std::move(quantities), options);
  cockpit.add_sink(values);
  while (!training.is_done()) training.step(&cockpit);
  return values;
}

void name_data(const Training& training, ExperimentResult& result) {
  const std::string text =
      training.problem().name + ": " + training.data().name + ", " + training.data().origin;
  if (std::find(result.data.begin(), result.data.end(), text) == result.data.end()) {
    result.data.push_back(text);
  }
  result.is_synthetic = result.is_synthetic || training.data().is_synthetic;
}

std::vector<double> series(const MemorySink& values, const std::string& quantity) {
  std::vector<double> numbers;
  for (const auto& [step, readings] : values.steps()) {
    const Reading* reading = values.find(step, quantity);
    if (reading != nullptr && std::isfinite(reading->number)) numbers.push_back(reading->number);
  }
  return numbers;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double share_outside(const Reading& histogram, double limit) {
  const ReadingAxis& axis = histogram.axes.at(0);
  const double width = (axis.high - axis.low) / static_cast<double>(axis.count);
  int64_t all = histogram.below + histogram.above, outside = all;
  for (int64_t bin = 0; bin < axis.count; ++bin) {
    const double middle = axis.low + (static_cast<double>(bin) + 0.5) * width;
    all += histogram.counts[bin];
    if (std::abs(middle) > limit) outside += histogram.counts[bin];
  }
  return static_cast<double>(outside) / static_cast<double>(all);
}

void add_bins(Table& table, const std::vector<Cell>& labels, const Reading& histogram) {
  const ReadingAxis& axis = histogram.axes.at(0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto add = [&](double low, double high, int64_t count) {
    std::vector<Cell> row = labels;
    row.insert(row.end(), {low, high, count});
    table.add(std::move(row));
  };
  const auto edge = [&](int64_t bin) {
    return axis.low +
           (axis.high - axis.low) * static_cast<double>(bin) / static_cast<double>(axis.count);
  };
  add(-kInfinity, axis.low, histogram.below);
  for (int64_t bin = 0; bin < axis.count; ++bin) {
    add(edge(bin), edge(bin + 1), histogram.counts[bin]);
  }
  add(axis.high, kInfinity, histogram.above);
}

study::Line bins_line(const std::string& name, size_t place, const Reading& histogram) {
  const ReadingAxis& axis = histogram.axes.at(0);
  std::vector<double> edges, counts;
  for (int64_t bin = 0; bin <= axis.count; ++bin) {
    edges.push_back(axis.low + (axis.high - axis.low) * static_cast<double>(bin) /
                                   static_cast<double>(axis.count));
    const int64_t count = histogram.counts[std::min(bin, axis.count - 1)];
    counts.push_back(count > 0 ? static_cast<double>(count) : 0.5);
  }
  return study::line_of(name, place, edges, counts);
}

Tensor losses_of(const Training& training, int64_t first, int64_t count) {
  const suite::Samples& samples = training.data().train;
  TORCH_CHECK(first + count <= samples.size(),
              "experiment: samples ",
              first,
              " to ",
              first + count,
              " are asked for but there are ",
              samples.size(),
              "; raise the limit of the data");
  const Tensor inputs = training.data().prepare(samples.inputs.slice(0, first, first + count));
  const Tensor targets = samples.targets.slice(0, first, first + count);
  return training.problem().losses(training.model().forward(inputs), targets);
}

std::shared_ptr<const CurvatureOperator> training_data_operator(const Training& training,
                                                                CurvatureKind kind) {
  static constexpr int64_t kAtOnce = 256;
  const int64_t samples = training.data().train.size();
  const auto source = [&training, samples](int64_t k) {
    const int64_t first = k * kAtOnce;
    return Batch(losses_of(training, first, std::min(kAtOnce, samples - first)),
                 training.parameters());
  };
  return data_set_operator((samples + kAtOnce - 1) / kAtOnce, source, kind);
}

void visit_steps(Training& training,
                 const std::vector<int64_t>& steps,
                 const std::function<void(int64_t step)>& visit) {
  for (const int64_t step : steps) {
    while (training.next_step() < step) training.step();
    visit(step);
  }
}

std::vector<int64_t> log_spaced(int64_t last, int64_t count) {
  std::vector<int64_t> steps = {0};
  for (int64_t k = 0; k + 1 < count; ++k) {
    const double exponent =
        static_cast<double>(k) / static_cast<double>(std::max<int64_t>(1, count - 2));
    const auto step =
        static_cast<int64_t>(std::llround(std::pow(static_cast<double>(last), exponent)));
    if (step > steps.back()) steps.push_back(step);
  }
  return steps;
}

double shortest_seconds(int64_t rounds, const std::function<void()>& call) {
  call();
  double shortest = std::numeric_limits<double>::infinity();
  for (int64_t round = 0; round < rounds; ++round) {
    const Clock::time_point begin = Clock::now();
    call();
    shortest = std::min(shortest, seconds_since(begin));
  }
  return shortest;
}

study::Panel panel_over(const std::string& x_label, const std::string& title, bool is_log_y) {
  study::Panel panel;
  panel.title = title;
  panel.x_label = x_label;
  panel.is_log_y = is_log_y;
  return panel;
}

study::Figure figure_of(const std::string& title, std::vector<study::Panel> panels) {
  study::Figure figure;
  figure.title = title;
  figure.panels = std::move(panels);
  for (study::Panel& panel : figure.panels) study::fit_limits(panel);
  return figure;
}

}  // namespace flightdeck::run
