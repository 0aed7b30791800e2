// SPDX-License-Identifier: MIT
// Random models, random questions: the engine against the oracle.
//
//   conformance_test [--models N] [--seed S] [--verbose]
//
// checks the N models of seeds S, S+1, ... (200 from seed 0 by default). A failure prints its seed
// and the model; `--seed S --models 1` replays it. With --verbose every model is printed before it
// is checked. Exit code 0: all right, 1: not, 2: usage.
#include <cstdint>
#include <iostream>
#include <sstream>

#include <torch/torch.h>

#include "conformance/random_model.h"
#include "conformance/second_order.h"
#include "conformance/seeded_program.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

struct Question {
  Needs what;
  BatchOptions batch;
  GradientOptions options;
  int64_t reduction = 0;  // 0: gradients(); 1, 2, 3: a watch under mean, sum, weighted mean
};

struct Counts {
  int64_t failures = 0;
  int64_t fast = 0;
  int64_t slow = 0;
  int64_t unused = 0;
};

Question random_question(Sketch& dice, const RandomModel& model) {
  Question question;
  for (Need need : every_need()) {
    if (dice.chance(0.4)) question.what = question.what | need;
  }
  if (question.what.empty()) question.what = Need::kNorms;
  const int64_t N = model.losses.size(0);
  if (dice.chance(0.3)) {
    for (int64_t n = N - 1; n >= 0; --n) {
      if (dice.chance(0.5)) question.batch.samples.push_back(n);
    }
  }
  if (dice.chance(0.3)) question.batch.memory.scratch_bytes = 64 << dice.integer(0, 6);
  if (question.what.has(Need::kDots)) {
    question.options.directions = random_directions(model.parameters, dice.integer(1, 3));
  }
  question.reduction = dice.integer(0, 3);
  return question;
}

std::string describe(const Question& question) {
  static const char* const ways[] = {
      "gradients", "watch of the mean", "watch of the sum", "watch of a weighted mean"};
  std::ostringstream text;
  text << ways[question.reduction] << ", " << to_string(question.what) << ", samples "
       << (question.batch.samples.empty() ? "all" : "") << at::IntArrayRef(question.batch.samples)
       << ", scratch_bytes " << question.batch.memory.scratch_bytes;
  return text.str();
}

Tensor reduce(const Tensor& losses, int64_t reduction) {
  if (reduction == 1) return losses.mean();
  if (reduction == 2) return losses.sum();
  const Tensor weights = at::linspace(0.5, 2.0, losses.size(0), doubles());
  return (weights * losses).sum() / weights.sum();
}

// Asks the question; lines say what is wrong.
Gradients ask(const RandomModel& model, const Question& question, std::vector<std::string>& lines) {
  const Batch batch(model.losses, model.parameters, question.batch);
  if (question.reduction == 0) return gradients(batch, question.what, question.options);
  const auto backward = [&] {
    clear_gradients(model.parameters);
    reduce(model.losses, question.reduction).backward({}, /*retain_graph=*/true);
    return gradients_of(model.parameters);
  };
  const std::vector<Tensor> unwatched = backward();
  const bool is_deterministic = identical(unwatched, backward());
  Watch watch(batch, question.what, question.options);
  const std::vector<Tensor> watched = backward();
  if (is_deterministic && !identical(watched, unwatched)) {
    lines.push_back(".grad differs from the unwatched one");
  }
  return watch.finish();
}

void count_levels(const Coverage& coverage,
                  const Oracle& oracle,
                  Counts& counts,
                  std::vector<std::string>& lines) {
  for (size_t i = 0; i < coverage.parameters.size(); ++i) {
    const ParameterCoverage& covered = coverage.parameters[i];
    switch (covered.level) {
      case CoverageLevel::kExactFast:
        ++counts.fast;
        break;
      case CoverageLevel::kExactSlow:
        ++counts.slow;
        if (covered.reason.empty()) lines.push_back(covered.name + " is slow without a reason");
        break;
      case CoverageLevel::kUnused:
        ++counts.unused;
        if (oracle.individual[i].any().item<bool>()) {
          lines.push_back(covered.name + " is reported unused but has a gradient");
        }
        break;
      case CoverageLevel::kRefused:
        lines.push_back(covered.name + " is refused: " + covered.reason);
        break;
    }
  }
}

void check(uint64_t seed, bool is_verbose, Counts& counts) {
  const RandomModel model = random_model(seed);
  if (is_verbose) std::cout << "seed " << seed << ": " << model.description << std::endl;
  const Oracle oracle = differentiate(model.losses, model.parameters);
  // Another stream than the model's, so that questions can change without changing the models.
  Sketch dice(~seed);
  const Question question = random_question(dice, model);
  std::vector<std::string> lines;
  try {
    const Gradients answers = ask(model, question, lines);
    const std::vector<std::string> wrong = differences(answers,
                                                       oracle.select(question.batch.samples),
                                                       question.what,
                                                       question.options.directions,
                                                       kTolerances.float64);
    lines.insert(lines.end(), wrong.begin(), wrong.end());
    count_levels(answers.coverage, oracle, counts, lines);
    const std::vector<std::string> bent = second_order_differences(model, dice);
    lines.insert(lines.end(), bent.begin(), bent.end());
  } catch (const std::exception& error) {
    lines.push_back(std::string("threw: ") + error.what());
  }
  if (lines.empty()) return;
  ++counts.failures;
  std::cout << "FAILED seed " << seed << " (replay: --seed " << seed
            << " --models 1)\n  model: " << model.description << "\n  parameters:";
  for (const NamedParameter& parameter : model.parameters) {
    std::cout << " " << parameter.name << parameter.tensor.sizes();
  }
  std::cout << "\n  asked: " << describe(question) << "\n";
  for (const std::string& line : lines) std::cout << "  " << line << "\n";
  std::cout << std::flush;
}

int run(const Settings& settings) {
  Counts counts;
  for (int64_t i = 0; i < settings.models; ++i) {
    check(settings.seed + static_cast<uint64_t>(i), settings.is_verbose, counts);
  }
  std::cout << settings.models << " random models from seed " << settings.seed << " on "
            << test_device() << ": " << counts.failures << " failed; parameters: " << counts.fast
            << " exact-fast, " << counts.slow << " exact-slow, " << counts.unused << " unused\n";
  return counts.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace flightdeck::tests

int main(int argc, char** argv) {
  using namespace flightdeck::tests;
  return seeded_main("conformance_test", argc, argv, 200, &run);
}
