// SPDX-License-Identifier: MIT
// flightdeck coverage: how the individual gradients of a problem's model are obtained, and what its
// curvature falls back on.
#include "flightdeck/coverage.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <ATen/ATen.h>
#include <CLI/CLI.hpp>
#include <torch/nn/module.h>

#include "cli/command.h"
#include "cli/machine/process.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/tracking_options.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/tool_words.h"
#include "cli/text/work_line.h"
#include "flightdeck/curvature_coverage.h"
#include "flightdeck/gradients.h"
#include "flightdeck/products.h"
#include "passes/gradient_fields.h"
#include "suite/problem.h"

namespace flightdeck::cli {
namespace {

// Rules decide by the shapes of a batch of at least two; more samples only take longer.
constexpr int64_t kBatchSize = 2;

struct CoverageOptions {
  std::string problem;
  std::vector<std::string> needs = {"norms"};
  std::string batch_norm = "refuse";
  int64_t batch_size = kBatchSize;
  bool json = false;
};

struct NamedNeed {
  std::string name;
  Need need;
};

// Returns needs by name: those of rows, but for products with directions, which nobody gives here.
std::vector<NamedNeed> find_needs() {
  std::vector<NamedNeed> needs;
  for (const GradientField& field : gradient_fields()) {
    if (field.need == Need::kDots || !asks_rows(field.need)) continue;
    needs.push_back({field.name, field.need});
  }
  std::sort(needs.begin(), needs.end(), [](const NamedNeed& a, const NamedNeed& b) {
    return a.name < b.name;
  });
  return needs;
}

const std::vector<NamedNeed>& all_needs() {
  static const std::vector<NamedNeed> needs = find_needs();
  return needs;
}

Needs chosen_needs(const std::vector<std::string>& names) {
  Needs chosen;
  for (const std::string& name : names) {
    check_name("need", name, names_of(all_needs()));
    for (const NamedNeed& entry : all_needs()) {
      if (entry.name == name) chosen = chosen | entry.need;
    }
  }
  return chosen;
}

// A second-order question and the remarks of its answer; none where rules serve it all.
struct SecondOrder {
  std::string what;
  std::vector<std::string> remarks;
};

SecondOrder ask(const std::string& what, const std::function<std::vector<std::string>()>& remarks) {
  try {
    return {what, remarks()};
  } catch (const std::exception& error) {
    return {what, {"refused: " + message_of(error)}};
  }
}

// Asks one question after the other, and tells `at` which comes next.
std::vector<SecondOrder> second_order(
    const Batch& batch,
    const std::function<void(size_t done, size_t of, const std::string& what)>& at) {
  const auto diagonals = [&](CurvatureNeed need) {
    return [&, need] { return curvature_coverage(batch, need).remarks; };
  };
  const auto products = [&](CurvatureKind kind) {
    return [&, kind] {
      const auto matrix = curvature_operator(batch, kind);
      matrix->multiply(at::ones({1, matrix->dim()}, matrix->options()));
      return matrix->remarks();
    };
  };
  const std::vector<std::pair<std::string, std::function<std::vector<std::string>()>>> questions = {
      {"GGN diagonal and trace", diagonals(CurvatureNeed::kTraceGgn)},
      {"Hessian diagonal and trace", diagonals(CurvatureNeed::kTraceHessian)},
      {"GGN-vector products", products(CurvatureKind::kGgn)},
      {"Hessian-vector products", products(CurvatureKind::kHessian)}};
  std::vector<SecondOrder> answers;
  for (const auto& [what, question] : questions) {
    at(answers.size(), questions.size(), what);
    answers.push_back(ask(what, question));
  }
  return answers;
}

struct ProblemCoverage {
  std::string problem;
  Coverage coverage;
  std::vector<SecondOrder> second_order;
};

// Tells `on_coverage` the first part before the second is computed.
ProblemCoverage examine(const CoverageOptions& options,
                        const std::function<void(const Coverage&)>& on_coverage) {
  Needs needs;
  BatchOptions batch_options;
  read_arguments("coverage", [&] {
    suite::find_problem(options.problem);
    needs = chosen_needs(options.needs);
    batch_options.batch_norm = batch_norm_policy(options.batch_norm);
    if (options.batch_size < 1) {
      throw UsageError("--batch-size is " + std::to_string(options.batch_size) +
                       " but must be at least 1");
    }
  });
  prepare_process(0);

  const suite::Problem& problem = suite::find_problem(options.problem);
  WorkLine progress("coverage");
  progress.show(0, 0, "building " + problem.name);
  at::manual_seed(0);
  const suite::Model model = problem.build();
  model.module->train();
  const suite::Batch read = problem.random_batch(options.batch_size);
  const Tensor losses = problem.losses(model.forward(read.inputs), read.targets);
  const Batch batch(losses, model.module->named_parameters(), batch_options);
  ProblemCoverage report{problem.name, {}, {}};
  progress.show(0, 0, "individual gradients");
  report.coverage = flightdeck::coverage(batch, needs);
  progress.clear();
  on_coverage(report.coverage);
  WorkLine questions("coverage");
  report.second_order = second_order(batch, [&](size_t done, size_t of, const std::string& what) {
    questions.show(static_cast<int64_t>(done), static_cast<int64_t>(of), what);
  });
  return report;
}

void print_coverage(const Coverage& coverage, int64_t batch_size) {
  std::printf("%sasked of a random batch of %s\n",
              in_words_of_the_tool(coverage.text()).c_str(),
              counted(batch_size, "sample").c_str());
  std::fflush(stdout);
}

// Prints each remark once, with all the questions that it is about.
void print_second_order(const ProblemCoverage& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;  // remark, of what
  const auto say = [&](const std::string& what, const std::string& remark) {
    for (auto& [text, names] : said) {
      if (text == remark) return names.push_back(what);
    }
    said.push_back({remark, {what}});
  };
  for (const SecondOrder& line : report.second_order) {
    if (line.remarks.empty()) say(line.what, "exact, by rules");
    for (const std::string& remark : line.remarks) say(line.what, remark);
  }
  std::printf("\nsecond order\n");
  for (const auto& [remark, names] : said) {
    std::printf("  %s: %s\n", joined(names).c_str(), remark.c_str());
  }
}

Json json_of(const ParameterCoverage& parameter) {
  Json uses = Json::array();
  for (const UseCoverage& use : parameter.uses) {
    uses.add(Json::object()
                 .field("op", use.op)
                 .field("form", use.form)
                 .field("algorithm", use.algorithm));
  }
  return Json::object()
      .field("name", parameter.name)
      .field("level", to_string(parameter.level))
      .field("reason", parameter.reason)
      .field("uses", uses);
}

void print_json(const ProblemCoverage& report) {
  Json parameters = Json::array(), second_order = Json::array();
  for (const ParameterCoverage& parameter : report.coverage.parameters) {
    parameters.add(json_of(parameter));
  }
  for (const SecondOrder& line : report.second_order) {
    second_order.add(Json::object().field("name", line.what).field("remarks", line.remarks));
  }
  std::printf("%s\n",
              Json::object()
                  .field("problem", report.problem)
                  .field("parameters", parameters)
                  .field("second_order", second_order)
                  .text()
                  .c_str());
}

void add_coverage(CLI::App* command) {
  const auto options = std::make_shared<CoverageOptions>();
  command->add_option("PROBLEM", options->problem, "See 'flightdeck list problems'")->required();
  command
      ->add_option("--needs",
                   options->needs,
                   "What is asked of the gradients: one or more of " +
                       joined(names_of(all_needs())) + "; default norms")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--batch-size",
                      options->batch_size,
                      "Samples; default " + std::to_string(kBatchSize) +
                          ", which is enough to tell; algorithms are chosen by it too");
  command->add_option("--batch-norm", options->batch_norm, "refuse (default), constant or split");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Every parameter is exact and fast, exact and slow, or refused. A random batch is taken; no\n"
      "data are needed. Second order is tried with two columns of each op.\n"
      "Examples:\n"
      "  flightdeck coverage cifar10_3c3d\n"
      "  flightdeck coverage transformer --needs norms,gram --batch-size 32");
  command->callback([options] {
    const ProblemCoverage report = examine(*options, [options](const Coverage& coverage) {
      if (!options->json) print_coverage(coverage, options->batch_size);
    });
    if (options->json) {
      print_json(report);
    } else {
      print_second_order(report);
    }
  });
}

}  // namespace

Command coverage_command() {
  return {"coverage",
          "Report how individual gradients and curvature of a problem's model are obtained.",
          120,
          &add_coverage};
}

}  // namespace flightdeck::cli
