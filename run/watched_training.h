// SPDX-License-Identifier: MIT
// What experiments share: a problem whose data are here, trained under a cockpit into memory, and
// what they read from the values.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flightdeck/grouping.h"
#include "flightdeck/products.h"
#include "flightdeck/quantity.h"
#include "flightdeck/reading.h"
#include "run/experiment.h"
#include "run/training.h"

namespace flightdeck::run {

// Returns options for the first of `problems` whose data are found; for the first of all on
// generated data if there is none, or if the experiment asks for it. Nothing is augmented, so that
// twins see the same images.
TrainingOptions first_with_data(const std::vector<std::string>& problems,
                                const ExperimentOptions& options);

// Returns whether `data_set` is to be read from files.
bool is_read_from_files(const std::string& data_set, const ExperimentOptions& options);

// Returns the problem on its colour images where their files are here. Else, where there are none
// of them, takes grey images of clothes with a black frame and three equal channels: real images of
// the right shape, ten classes. `build` makes the network for the number of classes it is given.
suite::Problem on_images_here(const std::string& problem,
                              const ExperimentOptions& options,
                              const std::function<suite::Model(int64_t classes)>& build);

// Returns options for a problem that is not in the catalogue; otherwise as `first_with_data`.
TrainingOptions options_for(const suite::Problem& problem, const ExperimentOptions& options);

// Takes all steps of the training. A quantity that fails throws.
std::shared_ptr<MemorySink> watched(Training& training,
                                    std::vector<Quantity> quantities,
                                    const Grouping& grouping = {});

// Adds problem and data to those that the result names, once.
void name_data(const Training& training, ExperimentResult& result);

// Returns the values of a number by step, without those that are not finite.
std::vector<double> series(const MemorySink& values, const std::string& quantity);

double mean(const std::vector<double>& values);

// ---- histograms ---------------------------------------------------------------------------------

// Returns the share of the entries, without NaN, outside [-limit, limit]; `limit` is a bin's edge.
double share_outside(const Reading& histogram, double limit);

// Adds a row per bin, and one at either end for the entries beyond: `labels`, low, high, count.
void add_bins(Table& table, const std::vector<Cell>& labels, const Reading& histogram);

// Draws the counts as a stepped line over the bins. A bin without an entry stands at one half,
// because a logarithmic axis has no 0.
study::Line bins_line(const std::string& name, size_t place, const Reading& histogram);

// ---- batches, times, figures --------------------------------------------------------------------

// Returns the individual losses of `count` samples of the training part from `first` on, at the
// parameters as they are.
Tensor losses_of(const Training& training, int64_t first, int64_t count);

// Returns the matrix of all samples of the training part, streamed in batches, at the parameters as
// they are whenever it is multiplied.
std::shared_ptr<const CurvatureOperator> training_data_operator(const Training& training,
                                                                CurvatureKind kind);

// Trains on to each of `steps`, which ascend, and makes the call there, before the step is taken.
void visit_steps(Training& training,
                 const std::vector<int64_t>& steps,
                 const std::function<void(int64_t step)>& visit);

// Returns 0, then whole numbers at equal distances of their logarithm up to `last`, each once.
std::vector<int64_t> log_spaced(int64_t last, int64_t count);

// Returns the shortest of `rounds` calls, after one that is not counted.
double shortest_seconds(int64_t rounds, const std::function<void()>& call);

study::Panel panel_over(const std::string& x_label,
                        const std::string& title,
                        bool is_log_y = false);
// Sets the limits of all panels.
study::Figure figure_of(const std::string& title, std::vector<study::Panel> panels);

}  // namespace flightdeck::run
