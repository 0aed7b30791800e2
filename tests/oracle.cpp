// SPDX-License-Identifier: MIT
#include "oracle.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tensors.h"

namespace flightdeck::tests {
namespace {

double largest_magnitude(const Tensor& tensor) {
  return tensor.numel() == 0 ? 0.0 : tensor.abs().max().item<double>();
}

Tensor as_matrix(const Tensor& stack) { return stack.reshape({stack.size(0), -1}); }

// Collects what differs between the answers for one parameter (or the total) and the textbook.
class Comparison {
 public:
  Comparison(std::string name, double tolerance, std::vector<std::string>& lines)
      : name_(std::move(name)), tolerance_(tolerance), lines_(lines) {}

  void field(
      const char* field, bool asked, const Tensor& actual, const Tensor& expected, double scale) {
    if (!asked) {
      if (actual.defined()) line(field, "was not asked for but is present");
      return;
    }
    if (!actual.defined()) {
      line(field, "was asked for but is undefined");
      return;
    }
    if (actual.sizes() != expected.sizes()) {
      std::ostringstream text;
      text << "has shape " << actual.sizes() << ", the oracle " << expected.sizes();
      line(field, text.str());
      return;
    }
    const double error = largest_magnitude(actual.to(at::kDouble) - expected);
    // Written so that a NaN error is a difference.
    if (!(error <= tolerance_ * scale)) {
      std::ostringstream text;
      text << "differs by " << error << " where the scale is " << scale << " (allowed "
           << tolerance_ * scale << ")";
      line(field, text.str());
    }
  }

 private:
  void line(const char* field, const std::string& text) {
    lines_.push_back(name_ + "." + field + " " + text);
  }

  std::string name_;
  double tolerance_;
  std::vector<std::string>& lines_;
};

Tensor squared(const Tensor& norms) {
  return norms.defined() ? norms.to(at::kDouble).square() : norms;
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
  static const std::vector<Need> needs = {Need::kMean,
                                          Need::kIndividual,
                                          Need::kNorms,
                                          Need::kSecondMoment,
                                          Need::kVariance,
                                          Need::kGram,
                                          Need::kDots,
                                          Need::kMeanDots,
                                          Need::kDeviations};
  return needs;
}

Needs all_needs() {
  Needs all;
  for (Need need : every_need()) all = all | need;
  return all;
}

std::string to_string(Needs needs) {
  static const char* const names[] = {"mean",
                                      "individual",
                                      "norms",
                                      "second_moment",
                                      "variance",
                                      "gram",
                                      "dots",
                                      "mean_dots",
                                      "deviations"};
  std::string text;
  for (size_t i = 0; i < every_need().size(); ++i) {
    if (!needs.has(every_need()[i])) continue;
    text += text.empty() ? "" : "|";
    text += names[i];
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
                                     double tolerance) {
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

  std::vector<Tensor> all_rows, all_directions;
  for (size_t i = 0; i < count; ++i) {
    all_rows.push_back(as_matrix(oracle.individual[i]));
    if (what.has(Need::kDots)) all_directions.push_back(as_matrix(directions[i]));
  }
  const ParameterGradients total = textbook_answers(
      at::cat(all_rows, 1), all_directions.empty() ? Tensor() : at::cat(all_directions, 1));
  const double largest_entry = largest_magnitude(total.individual);
  const double largest_norm = largest_magnitude(total.norms);
  for (size_t i = 0; i < count; ++i) {
    const ParameterGradients& actual = answers.parameters[i];
    const Tensor direction = what.has(Need::kDots) ? directions[i] : Tensor();
    const ParameterGradients expected = textbook_answers(oracle.individual[i], direction);
    if (actual.name != oracle.names[i]) {
      lines.push_back("parameter " + oracle.names[i] + " is called " + actual.name);
    }
    const double own = largest_magnitude(expected.individual);
    const bool is_nothing = own < kTolerances.nothing * tolerance * largest_entry;
    const double floor = is_nothing ? kTolerances.nothing : kTolerances.floor;
    const double entry = std::max(own, floor * largest_entry);
    const double moment =
        std::max(largest_magnitude(expected.second_moment), floor * largest_entry * largest_entry);
    const double norm = std::max(largest_magnitude(expected.norms), floor * largest_norm);
    const double square =
        std::max(largest_magnitude(expected.gram), floor * largest_norm * largest_norm);
    const double dot =
        direction.defined()
            ? norm * as_matrix(direction).to(at::kDouble).norm(2, 1).max().item<double>()
            : 0.0;
    Comparison compare(oracle.names[i], tolerance, lines);
    compare.field("mean", what.has(Need::kMean), actual.mean, expected.mean, entry);
    compare.field(
        "individual", what.has(Need::kIndividual), actual.individual, expected.individual, entry);
    compare.field(
        "norms²", what.has(Need::kNorms), squared(actual.norms), squared(expected.norms), square);
    compare.field("second_moment",
                  what.has(Need::kSecondMoment),
                  actual.second_moment,
                  expected.second_moment,
                  moment);
    compare.field(
        "variance", what.has(Need::kVariance), actual.variance, expected.variance, moment);
    compare.field("gram", what.has(Need::kGram), actual.gram, expected.gram, square);
    compare.field("dots", what.has(Need::kDots), actual.dots, expected.dots, dot);
    compare.field(
        "mean_dots", what.has(Need::kMeanDots), actual.mean_dots, expected.mean_dots, square);
    compare.field(
        "deviations", what.has(Need::kDeviations), actual.deviations, expected.deviations, square);
  }

  const double square = largest_norm * largest_norm;
  const double dot =
      all_directions.empty()
          ? 0.0
          : largest_norm *
                at::cat(all_directions, 1).to(at::kDouble).norm(2, 1).max().item<double>();
  Comparison compare("total", tolerance, lines);
  compare.field(
      "norms²", what.has(Need::kNorms), squared(answers.total.norms), squared(total.norms), square);
  compare.field("gram", what.has(Need::kGram), answers.total.gram, total.gram, square);
  compare.field("dots", what.has(Need::kDots), answers.total.dots, total.dots, dot);
  compare.field(
      "mean_dots", what.has(Need::kMeanDots), answers.total.mean_dots, total.mean_dots, square);
  compare.field("deviations",
                what.has(Need::kDeviations),
                answers.total.deviations,
                total.deviations,
                square);
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
