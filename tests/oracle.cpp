// SPDX-License-Identifier: MIT
#include "oracle.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "passes/gradient_fields.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

double largest_magnitude(const Tensor& tensor) {
  return tensor.numel() == 0 ? 0.0 : tensor.abs().max().item<double>();
}

Tensor as_matrix(const Tensor& stack) { return stack.reshape({stack.size(0), -1}); }

// The answers for one parameter (or the total) beside the textbook's.
struct Compared {
  std::string name;
  const ParameterGradients& actual;
  ParameterGradients expected;
  ParameterGradients shaken;  // undefined tensors: no trial was made
};

// Collects what differs.
class Comparison {
 public:
  using Field = Tensor ParameterGradients::*;

  Comparison(Needs what, double tolerance, std::vector<std::string>& lines)
      : what_(what), tolerance_(tolerance), lines_(lines) {}

  void field(const char* word, Need need, const Compared& of, Field field, double scale) {
    compared_ = compared_ | need;
    const std::string what = of.name + "." + word + " ";
    const Tensor& actual = of.actual.*field;
    const Tensor& expected = of.expected.*field;
    if (!what_.has(need)) {
      if (actual.defined()) lines_.push_back(what + "was not asked for but is present");
      return;
    }
    if (!actual.defined()) {
      lines_.push_back(what + "was asked for but is undefined");
      return;
    }
    std::ostringstream text;
    if (actual.sizes() != expected.sizes()) {
      text << what << "has shape " << actual.sizes() << ", the oracle " << expected.sizes();
      lines_.push_back(text.str());
      return;
    }
    // Squares of norms do not magnify the rounding of a norm near zero.
    const auto value = [&](const Tensor& tensor) {
      const Tensor in_double = tensor.to(at::kDouble);
      return need == Need::kNorms ? in_double.square() : in_double;
    };
    const Tensor& shaken = of.shaken.*field;
    const double moved =
        shaken.defined() ? largest_magnitude(value(shaken) - value(expected)) : 0.0;
    const double allowed = tolerance_ * scale + kTolerances.roundings * moved;
    const double error = largest_magnitude(value(actual) - value(expected));
    // Written so that a NaN error is a difference.
    if (error <= allowed) return;
    text << what << "differs by " << error << " where the scale is " << scale << " (allowed "
         << allowed << ")";
    lines_.push_back(text.str());
  }

  // An answer that nobody holds to its formula is a difference, too.
  void expect_all_compared() {
    for (const Need need : every_need()) {
      if (compared_.has(need)) continue;
      lines_.push_back(to_string(need) + " is not compared: tests/oracle.cpp wants its formula");
    }
  }

 private:
  Needs what_, compared_;
  double tolerance_;
  std::vector<std::string>& lines_;
};

ParameterGradients textbook_total(const Oracle& oracle, const Tensor& directions) {
  if (oracle.individual.empty()) return {};
  std::vector<Tensor> rows;
  for (const Tensor& individual : oracle.individual) rows.push_back(as_matrix(individual));
  return textbook_answers(at::cat(rows, 1), directions);
}

double largest_norm_of(const Tensor& directions) {
  if (!directions.defined()) return 0.0;
  return as_matrix(directions).to(at::kDouble).norm(2, 1).max().item<double>();
}

// What one entry of each answer of a parameter is compared with.
struct Magnitudes {
  double entry, moment, norm, square;
};

Magnitudes magnitudes_of(const ParameterGradients& expected,
                         double tolerance,
                         double largest_entry,
                         double largest_norm) {
  const double largest = largest_magnitude(expected.individual);
  const bool is_nothing = largest < kTolerances.nothing * tolerance * largest_entry;
  const double floor = is_nothing ? kTolerances.nothing : kTolerances.floor;
  return {
      std::max(largest, floor * largest_entry),
      std::max(largest_magnitude(expected.second_moment), floor * largest_entry * largest_entry),
      std::max(largest_magnitude(expected.norms), floor * largest_norm),
      std::max(largest_magnitude(expected.gram), floor * largest_norm * largest_norm)};
}

}  // namespace

double tolerance_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return kTolerances.float64;
    case at::kFloat:
      return kTolerances.float32;
    default:
      return kTolerances.bfloat16;
  }
}

const std::vector<Need>& every_need() {
  static const std::vector<Need> needs = [] {
    std::vector<Need> found;
    for (const GradientField& field : gradient_fields()) {
      if (asks_rows(field.need)) found.push_back(field.need);
    }
    return found;
  }();
  return needs;
}

Needs all_needs() {
  Needs all;
  for (Need need : every_need()) all = all | need;
  return all;
}

std::string to_string(Needs needs) {
  std::string text;
  for (const GradientField& field : gradient_fields()) {
    if (!needs.has(field.need)) continue;
    text += (text.empty() ? "" : "|") + std::string(field.name);
  }
  return text;
}

Oracle Oracle::select(const std::vector<int64_t>& samples) const {
  if (samples.empty()) return *this;
  Oracle chosen{names, {}};
  for (const Tensor& rows : individual) {
    const Tensor index = at::tensor(samples, at::kLong).to(rows.device());
    chosen.individual.push_back(rows.index_select(0, index));
  }
  return chosen;
}

Oracle differentiate(const Tensor& losses, const Parameters& parameters) {
  std::vector<Tensor> inputs;  // those that can be differentiated by
  Oracle oracle;
  for (const NamedParameter& parameter : parameters) {
    if (parameter.tensor.requires_grad()) inputs.push_back(parameter.tensor);
    oracle.names.push_back(parameter.name);
  }
  std::vector<std::vector<Tensor>> rows(parameters.size());
  for (int64_t n = 0; n < losses.size(0); ++n) {
    const std::vector<Tensor> found = torch::autograd::grad({losses[n]},
                                                            inputs,
                                                            /*grad_outputs=*/{},
                                                            /*retain_graph=*/true,
                                                            /*create_graph=*/false,
                                                            /*allow_unused=*/true);
    auto next = found.begin();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& tensor = parameters[i].tensor;
      const Tensor row = tensor.requires_grad() ? *next++ : Tensor();
      const Tensor dense = !row.defined()    ? at::zeros_like(tensor)
                           : row.is_sparse() ? row.to_dense()
                                             : row;
      rows[i].push_back(dense.detach().to(at::kDouble));
    }
  }
  for (const auto& stack : rows) oracle.individual.push_back(at::stack(stack));
  return oracle;
}

std::vector<Tensor> random_directions(const Parameters& parameters, int64_t count) {
  std::vector<Tensor> directions;
  for (const NamedParameter& parameter : parameters) {
    std::vector<int64_t> shape = parameter.tensor.sizes().vec();
    shape.insert(shape.begin(), count);
    directions.push_back(
        random(shape).to(parameter.tensor.device(), parameter.tensor.scalar_type()));
  }
  return directions;
}

ParameterGradients textbook_answers(const Tensor& individual, const Tensor& directions) {
  const Tensor rows = as_matrix(individual);
  ParameterGradients answers;
  answers.individual = individual;
  answers.mean = individual.mean(0);
  answers.norms = rows.square().sum(1).sqrt();
  answers.second_moment = individual.square().mean(0);
  answers.variance = (individual - answers.mean).square().mean(0);
  answers.gram = rows.matmul(rows.t());
  answers.mean_dots = rows.matmul(rows.mean(0));
  answers.deviations = (rows - rows.mean(0)).square().sum(1);
  if (directions.defined()) {
    answers.dots = rows.matmul(as_matrix(directions).to(at::kDouble).t());
  }
  return answers;
}

std::vector<std::string> differences(const Gradients& answers,
                                     const Oracle& oracle,
                                     Needs what,
                                     const std::vector<Tensor>& directions,
                                     double tolerance,
                                     const Oracle& shaken) {
  using Answers = ParameterGradients;
  std::vector<std::string> lines;
  const size_t count = oracle.individual.size();
  if (answers.parameters.size() != count) {
    return {"answers hold " + std::to_string(answers.parameters.size()) +
            " parameters, the oracle " + std::to_string(count)};
  }
  const int64_t batch_size = oracle.individual[0].size(0);
  if (answers.batch_size != batch_size) {
    lines.push_back("batch_size is " + std::to_string(answers.batch_size) + ", the oracle has " +
                    std::to_string(batch_size));
  }

  std::vector<Tensor> matrices;
  for (size_t i = 0; i < count && what.has(Need::kDots); ++i) {
    matrices.push_back(as_matrix(directions[i]));
  }
  const Tensor all = matrices.empty() ? Tensor() : at::cat(matrices, 1);
  const Compared total{
      "total", answers.total, textbook_total(oracle, all), textbook_total(shaken, all)};
  const double largest_entry = largest_magnitude(total.expected.individual);
  const double largest_norm = largest_magnitude(total.expected.norms);
  Comparison compare(what, tolerance, lines);
  const auto sums = [&](const Compared& of, double square, double dot) {
    compare.field("norms²", Need::kNorms, of, &Answers::norms, square);
    compare.field("gram", Need::kGram, of, &Answers::gram, square);
    compare.field("dots", Need::kDots, of, &Answers::dots, dot);
    compare.field("mean_dots", Need::kMeanDots, of, &Answers::mean_dots, square);
    compare.field("deviations", Need::kDeviations, of, &Answers::deviations, square);
  };
  for (size_t i = 0; i < count; ++i) {
    const Answers& actual = answers.parameters[i];
    const Tensor direction = what.has(Need::kDots) ? directions[i] : Tensor();
    Compared own{oracle.names[i], actual, textbook_answers(oracle.individual[i], direction), {}};
    if (!shaken.individual.empty()) own.shaken = textbook_answers(shaken.individual[i], direction);
    if (actual.name != own.name) {
      lines.push_back("parameter " + own.name + " is called " + actual.name);
    }
    const Magnitudes size = magnitudes_of(own.expected, tolerance, largest_entry, largest_norm);
    compare.field("mean", Need::kMean, own, &Answers::mean, size.entry);
    compare.field("individual", Need::kIndividual, own, &Answers::individual, size.entry);
    compare.field("second_moment", Need::kSecondMoment, own, &Answers::second_moment, size.moment);
    compare.field("variance", Need::kVariance, own, &Answers::variance, size.moment);
    sums(own, size.square, size.norm * largest_norm_of(direction));
  }
  sums(total, largest_norm * largest_norm, largest_norm * largest_norm_of(all));
  compare.expect_all_compared();
  return lines;
}

void expect_matches_oracle(const Gradients& answers,
                           const Oracle& oracle,
                           Needs what,
                           const std::vector<Tensor>& directions,
                           double tolerance) {
  for (const std::string& line : differences(answers, oracle, what, directions, tolerance)) {
    ADD_FAILURE() << line;
  }
}

void expect_close(const Tensor& actual,
                  const Tensor& expected,
                  const std::string& what,
                  double tolerance) {
  ASSERT_TRUE(actual.defined()) << what << " is undefined";
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const double scale = largest_magnitude(expected.to(at::kDouble));
  EXPECT_LE(largest_magnitude(actual.to(at::kDouble) - expected.to(at::kDouble)), tolerance * scale)
      << what << " where the largest magnitude is " << scale;
}

}  // namespace flightdeck::tests
