// SPDX-License-Identifier: MIT
// flightdeck bench training: a step of the suite's training against a loop written by hand on the
// same model and batches.
#include "run/training.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <ATen/ATen.h>
#include <CLI/CLI.hpp>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/optim/sgd.h>

#include "cli/bench/bench_command.h"
#include "cli/bench/data_kind.h"
#include "cli/bench/turns.h"
#include "cli/command.h"
#include "cli/machine/blas.h"
#include "cli/machine/process.h"
#include "cli/machine/processor.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"

namespace flightdeck::cli {
namespace {

struct BenchTrainingOptions {
  std::vector<std::string> problems = {"mnist_mlp"};
  run::TrainingOptions training;
  std::string device = "cpu";
  int threads = 0, repeats = 41, warm_up = 3;
  bool json = false, augment = false;
};

// The loop that somebody writes who has the samples in memory as the network reads them: LibTorch's
// own SGD, a permutation, no runner.
class HandWritten {
 public:
  HandWritten(const run::Training& training, const run::TrainingOptions& options)
      : problem_(training.problem()),
        batch_size_(training.batch_size()),
        per_epoch_(training.steps_per_epoch()) {
    at::manual_seed(options.seed);
    model_ = problem_.build();
    model_.module->to(options.device);
    model_.module->train();
    optimizer_ = std::make_unique<torch::optim::SGD>(
        model_.module->parameters(),
        torch::optim::SGDOptions(training.hyperparameters().at("learning_rate")));
    for (const auto& item : model_.module->named_parameters()) {
      const bool is_spared = problem_.l2_spares_dense && item.value().dim() < 4;
      const bool is_weight = item.key().find("weight") != std::string::npos;
      if (is_weight && item.value().dim() >= 2 && !is_spared) weights_.push_back(item.value());
    }
    const suite::DataSet& data = training.data();
    inputs_ = data.prepare(data.train.inputs);
    targets_ = data.train.targets;
  }

  void steps(int64_t count) {
    for (int64_t k = 0; k < count; ++k) step();
  }

 private:
  void start_epoch() {
    next_ = 0;
    const int64_t used = per_epoch_ * batch_size_;
    const auto whole = torch::TensorOptions(targets_.device()).dtype(torch::kLong);
    // A network with a state reads streams in order.
    order_ = problem_.carries_state ? at::arange(used, whole).view({batch_size_, -1}).t().flatten()
                                    : at::randperm(targets_.size(0), whole);
    if (model_.start_pass) model_.start_pass();
  }

  Tensor loss_of(const Tensor& outputs, const Tensor& targets) const {
    const bool is_plain = problem_.has_accuracy() && !problem_.class_scores;
    return is_plain ? torch::nn::functional::cross_entropy(outputs, targets)
                    : problem_.losses(outputs, targets).mean();
  }

  void step() {
    if (!order_.defined() || next_ == per_epoch_) start_epoch();
    const Tensor places = order_.slice(0, next_ * batch_size_, (next_ + 1) * batch_size_);
    ++next_;
    optimizer_->zero_grad();
    Tensor loss =
        loss_of(model_.forward(inputs_.index_select(0, places)), targets_.index_select(0, places));
    if (problem_.l2 > 0) {
      Tensor squares;
      for (const Tensor& weight : weights_) {
        const Tensor sum = weight.square().sum();
        squares = squares.defined() ? squares + sum : sum;
      }
      loss = loss + 0.5 * problem_.l2 * squares;
    }
    loss.backward();
    optimizer_->step();
  }

  suite::Problem problem_;
  int64_t batch_size_, per_epoch_;
  suite::Model model_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  std::vector<Tensor> weights_;
  Tensor inputs_, targets_, order_;
  int64_t next_ = 0;
};

struct Result {
  Timing timing;
  double low = 0, high = 0;  // quartiles of the ratio
  int64_t batch = 0;
  std::string data;  // what kind
};

// Returns so many steps that a stretch is long beside the clock and short beside what disturbs it.
int64_t stretch_of(double step_ms) {
  constexpr double kStretchMs = 20.0;
  return std::clamp<int64_t>(std::llround(kStretchMs / step_ms), 1, 500);
}

Result measure(const BenchTrainingOptions& options, const std::string& problem) {
  run::TrainingOptions chosen = options.training;
  chosen.problem = problem;
  const suite::DataDescription data = suite::describe_data(suite::find_problem(problem).data_set);
  chosen.data.synthetic = chosen.data.synthetic || (data.needs_files && !data.is_found);
  // A tiny rate keeps the parameters in place, because time must not depend on where they go.
  chosen.hyperparameters["learning_rate"] = 1e-6;
  run::Training training(chosen);
  HandWritten loop(training, chosen);
  training.step();
  loop.steps(1);
  const int64_t count = stretch_of(milliseconds(chosen.device, [&] { loop.steps(2); }) / 2);
  Timings timings;
  for (int round = -options.warm_up; round < options.repeats; ++round) {
    const auto [plain, ms] = milliseconds_in_turn(
        chosen.device,
        round,
        [&] { loop.steps(count); },
        [&] {
          for (int64_t k = 0; k < count; ++k) training.step();
        });
    const auto steps = static_cast<double>(count);
    if (round >= 0) timings.add(plain / steps, ms / steps);
  }
  std::vector<double> ratios = timings.ratios();
  std::sort(ratios.begin(), ratios.end());
  Result result;
  result.timing = timings.medians();
  result.low = ratios[ratios.size() / 4];
  result.high = ratios[ratios.size() * 3 / 4];
  result.batch = training.batch_size();
  result.data = data_kind(problem, chosen.data);
  return result;
}

void print(const BenchTrainingOptions& options, const std::string& problem, const Result& result) {
  if (!options.json) {
    std::printf("%-22s %5lld %10.3f %10.3f %8.3f  %.3f to %.3f\n",
                problem.c_str(),
                static_cast<long long>(result.batch),
                result.timing.plain_ms,
                result.timing.ms,
                result.timing.ratio,
                result.low,
                result.high);
  } else {
    std::printf("%s\n",
                Json::object()
                    .field("bench", "training")
                    .field("problem", problem)
                    .field("data", result.data)
                    .field("augmented", options.augment)
                    .field("device", options.device)
                    .field("threads", options.threads)
                    .field("blas", blas().description())
                    .field("batch", result.batch)
                    .field("plain_ms", measured(result.timing.plain_ms))
                    .field("ms", measured(result.timing.ms))
                    .field("ratio", measured(result.timing.ratio))
                    .field("ratio_low_quartile", measured(result.low))
                    .field("ratio_high_quartile", measured(result.high))
                    .text()
                    .c_str());
  }
  std::fflush(stdout);
}

void run(BenchTrainingOptions& options) {
  for (const std::string& name : options.problems) {
    check_name("problem", name, names_of(suite::all_problems()));
  }
  options.training.device = chosen_device("bench training", options.device);
  options.training.data.augment = options.augment;
  if (options.threads == 0) options.threads = core_count();
  prepare_process(options.threads);
  if (!options.json) {
    std::printf("ms per step, %s on %s, %s\n%-22s %5s %10s %10s %8s  %s\n",
                counted(options.threads, "thread").c_str(),
                options.device.c_str(),
                blas().description().c_str(),
                "problem",
                "batch",
                "by hand",
                "flightdeck",
                "ratio",
                "quartiles");
  }
  for (const std::string& problem : options.problems) {
    print(options, problem, measure(options, problem));
  }
}

void add_bench_training(CLI::App* command) {
  const auto options = std::make_shared<BenchTrainingOptions>();
  options->training.data.limit = 4096;
  command->add_option("--problem", options->problems, "One or more problems; default mnist_mlp");
  command->add_option("--batch", options->training.batch_size, "Samples; default the problem's own")
      ->check(CLI::PositiveNumber);
  command->add_option("--limit", options->training.data.limit, "Samples in memory; default 4096")
      ->check(CLI::PositiveNumber);
  command->add_option("--device", options->device, "cpu or cuda; default cpu");
  command->add_option("--repeats", options->repeats, "Timed stretches of each; default 41")
      ->check(CLI::PositiveNumber);
  command->add_option("--warm-up", options->warm_up, "Stretches before those; default 3")
      ->check(CLI::NonNegativeNumber);
  command->add_flag(
      "--augment", options->augment, "Augment the suite's batches, not those by hand");
  command->add_flag(
      "--synthetic", options->training.data.synthetic, "Generated data even where files are found");
  add_threads_and_json(*command, options->threads, options->json);
  command->footer("Example:\n  flightdeck bench training --problem mnist_mlp fmnist_2c2d");
  command->callback([options] { run(*options); });
}

}  // namespace

Command bench_training_command() {
  return {
      "training",
      "Time the suite's training with SGD against a loop written by hand, with LibTorch's SGD and "
      "all samples ready in memory; in turn in one process. Ratios are medians.",
      40,
      &add_bench_training};
}

}  // namespace flightdeck::cli
