// SPDX-License-Identifier: MIT
#include "tests/study/made_up.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace flightdeck::study {
namespace {

struct MadeUpProblem {
  const char* name;
  double untrained, trained;
  bool has_accuracy;
  int64_t epochs, steps_per_epoch;
};

const MadeUpProblem kProblems[] = {
    {"quadratic_deep", 353.4, 87.1, false, 100, 7},
    {"mnist_vae", 181.4, 27.9, false, 50, 937},
    {"fmnist_2c2d", 0.112, 0.9225, true, 100, 468},
    {"cifar10_3c3d", 0.105, 0.84, true, 100, 390},
    {"fmnist_vae", 133.0, 23.1, false, 100, 937},
    {"cifar100_allcnnc", 0.0095, 0.57, true, 350, 195},
    {"svhn_wrn164", 0.114, 0.9545, true, 160, 572},
    {"tolstoi_char_rnn", 0.018, 0.619, true, 200, 1045},
};

const char* const kOptimizers[] = {"adabelief",
                                   "adabound",
                                   "adadelta",
                                   "adagrad",
                                   "adam",
                                   "amsbound",
                                   "amsgrad",
                                   "lookahead_momentum",
                                   "lookahead_radam",
                                   "momentum",
                                   "nadam",
                                   "nag",
                                   "radam",
                                   "rmsprop",
                                   "sgd"};

double hashed(const std::string& text) {
  uint64_t state = 1469598103934665603ULL;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return std::mt19937_64(state)() * 0x1p-64;
}

class MadeUpStudy {
 public:
  MadeUpStudy(const MadeUp& request) : request_(request) {}

  std::vector<Outcome> take() { return std::move(outcomes_); }

  void fill(const MadeUpProblem& problem,
            const std::string& optimizer,
            const std::string& schedule) {
    tuning_.clear();
    for (int64_t seed = 42; seed < 42 + request_.seeds; ++seed) {
      run(problem, optimizer, schedule, "default", 1e-2, static_cast<uint64_t>(seed));
    }
    const double best_rate = std::pow(10, -3 + 2 * hashed(std::string(problem.name) + optimizer));
    for (int64_t k = 0; k < request_.samples; ++k) {
      char name[32];
      const bool is_refined = k >= 50;
      std::snprintf(name,
                    sizeof name,
                    is_refined ? "refined-%03d" : "random-%03d",
                    static_cast<int>(is_refined ? k - 50 : k));
      const double draw = hashed(optimizer + name);
      const double rate =
          is_refined ? best_rate * std::pow(10, draw - 0.5) : std::pow(10, -4 + 4 * draw);
      run(problem, optimizer, schedule, name, rate, 42);
      if (k + 1 == 25 || k + 1 == 50 || k + 1 == request_.samples) repeat_best(problem);
    }
  }

 private:
  void run(const MadeUpProblem& problem,
           const std::string& optimizer,
           const std::string& schedule,
           const std::string& sample,
           double rate,
           uint64_t seed) {
    const double best_rate = std::pow(10, -3 + 2 * hashed(std::string(problem.name) + optimizer));
    Outcome outcome;
    outcome.setting = {problem.name,
                       optimizer,
                       schedule,
                       {{"learning_rate", rate}},
                       128,
                       request_.epochs > 0 ? request_.epochs : problem.epochs};
    if (optimizer != "sgd") outcome.setting.hyperparameters["epsilon"] = 1e-8;
    outcome.seed = seed;
    outcome.steps_per_epoch = problem.steps_per_epoch;
    outcome.reported_epoch = outcome.setting.epochs;
    outcome.tags = {{"sample", sample}};
    outcome.training_seconds = 2.5 * static_cast<double>(outcome.setting.epochs);
    const double off = std::log10(rate / best_rate);
    const bool diverges = off > 1.3 + 0.4 * hashed(sample + optimizer + problem.name);
    const double skill = hashed(optimizer + schedule + problem.name);
    const double bonus = schedule == "constant" ? 0 : 0.02 * hashed(schedule) * skill;
    const double quality = std::exp(-0.1 * off * off) * (0.96 + 0.04 * skill + bonus);
    const double pace = 4 + 10 * skill * std::exp(-off * off);
    outcome.ending = diverges ? Ending::kDiverged : Ending::kFinished;
    outcome.steps = outcome.setting.epochs * problem.steps_per_epoch;
    if (diverges) outcome.diverged_at = outcome.steps = 2 * problem.steps_per_epoch - 1;
    score(problem, outcome, quality, pace);
    tuning_.push_back(outcome);
    outcomes_.push_back(std::move(outcome));
  }

  void score(const MadeUpProblem& problem, Outcome& outcome, double quality, double pace) {
    std::mt19937_64 random(
        outcome.seed * 7919 +
        static_cast<uint64_t>(1e6 * hashed(outcome.tags["sample"] + problem.name)));
    std::normal_distribution<double> noise;
    const double seed_effect = noise(random);
    const auto epochs = static_cast<double>(outcome.setting.epochs);
    for (int64_t epoch = 0; epoch <= outcome.setting.epochs; ++epoch) {
      if (outcome.diverged_at >= 0 && epoch * outcome.steps_per_epoch > outcome.diverged_at) break;
      outcome.evaluated.push_back(epoch);
      const double done = quality * (1 - std::exp(-pace * static_cast<double>(epoch) / epochs));
      const double jitter = epoch == 0 ? 0 : 0.003 * seed_effect + 0.003 * noise(random);
      for (const double shift : {0.0, 0.01, 0.012}) {
        Curve& curve = shift == 0.0 ? outcome.train : shift == 0.01 ? outcome.valid : outcome.test;
        const double way = done * (1.0 + 0.012 - shift) + jitter;
        if (problem.has_accuracy) {
          curve.accuracy.push_back(problem.untrained + (problem.trained - problem.untrained) * way);
          curve.loss.push_back(2.4 - 2.2 * way);
        } else {
          curve.loss.push_back(problem.untrained + (problem.trained - problem.untrained) * way);
        }
      }
    }
  }

  // Of the tuning runs so far, with the other seeds, if that was not done before.
  void repeat_best(const MadeUpProblem& problem) {
    const Outcome* best = nullptr;
    const auto last = [&](const Outcome& outcome) {
      return problem.has_accuracy ? -outcome.valid.accuracy.back() : outcome.valid.loss.back();
    };
    for (const Outcome& outcome : tuning_) {
      if (outcome.tags.at("sample") == "default" || outcome.ending == Ending::kDiverged) continue;
      if (outcome.seed == 42 && (best == nullptr || last(outcome) < last(*best))) best = &outcome;
    }
    const std::string sample = best->tags.at("sample");
    const auto repeated =
        std::count_if(tuning_.begin(), tuning_.end(), [&](const Outcome& outcome) {
          return outcome.tags.at("sample") == sample;
        });
    if (repeated > 1) return;
    const Setting setting = best->setting;
    for (int64_t seed = 43; seed < 42 + request_.seeds; ++seed) {
      run(problem,
          setting.optimizer,
          setting.schedule,
          sample,
          setting.hyperparameters.at("learning_rate"),
          static_cast<uint64_t>(seed));
    }
  }

  MadeUp request_;
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> tuning_;  // of the problem, optimizer and schedule at hand
};

}  // namespace

std::vector<Outcome> made_up_study(const MadeUp& request) {
  MadeUpStudy study(request);
  for (size_t p = 0; p < std::min<size_t>(request.problems, std::size(kProblems)); ++p) {
    for (size_t o = 0; o < std::min<size_t>(request.optimizers, std::size(kOptimizers)); ++o) {
      for (const std::string& schedule : request.schedules) {
        study.fill(kProblems[p], kOptimizers[o], schedule);
      }
    }
  }
  return study.take();
}

AnalysisOptions made_up_benchmark() {
  AnalysisOptions options;
  for (const MadeUpProblem& problem : kProblems) {
    options.benchmark.push_back(problem.name);
    options.published_targets[problem.name] =
        problem.untrained + 0.97 * (problem.trained - problem.untrained);
  }
  return options;
}

}  // namespace flightdeck::study
