// SPDX-License-Identifier: MIT
#include "check_model.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tensors.h"

namespace flightdeck::tests {
namespace {

using Reduce = std::function<Tensor(const Tensor& losses)>;

// Scratch for a few rows at most, so that work is done in pieces.
constexpr int64_t kTinyScratch = 256;

// Three samples out of order; fewer when there are fewer.
std::vector<int64_t> some_samples(int64_t batch_size) {
  if (batch_size == 1) return {0};
  if (batch_size == 2) return {1};
  return {batch_size - 1, 0};
}

std::vector<Tensor> plain_backward(const Tensor& loss, const Parameters& parameters) {
  clear_gradients(parameters);
  loss.backward({}, /*retain_graph=*/true);
  std::vector<Tensor> gradients = gradients_of(parameters);
  clear_gradients(parameters);
  return gradients;
}

// Watches one backward pass of `reduce(losses)` and compares its `.grad` with the unwatched one.
Gradients watched_backward(const Batch& batch,
                           const Reduce& reduce,
                           Needs what,
                           const GradientOptions& options) {
  const Tensor& losses = batch.losses();
  const Parameters& parameters = batch.parameters();
  const std::vector<Tensor> unwatched = plain_backward(reduce(losses), parameters);
  const bool is_deterministic = identical(unwatched, plain_backward(reduce(losses), parameters));

  Watch watch(batch, what, options);
  reduce(losses).backward({}, /*retain_graph=*/true);
  const std::vector<Tensor> watched = gradients_of(parameters);
  clear_gradients(parameters);
  // Some CUDA kernels add in an order that differs from call to call; no bit can be compared then.
  if (is_deterministic) {
    EXPECT_TRUE(identical(watched, unwatched)) << "the watch changed .grad";
  }
  return watch.finish();
}

struct Question {
  std::string description;
  Needs what;
  std::vector<int64_t> samples;
  int64_t scratch_bytes;
  Reduce reduce;  // empty: gradients(), otherwise a watch
};

std::vector<Question> questions(int64_t batch_size, const Tensor& losses) {
  const Reduce mean = [](const Tensor& l) { return l.mean(); };
  const Reduce sum = [](const Tensor& l) { return l.sum(); };
  const Tensor weights =
      at::linspace(0.5, 2.0, batch_size, doubles()).to(losses.device(), losses.scalar_type());
  const Reduce weighted = [weights](const Tensor& l) {
    return (weights * l).sum() / weights.sum();
  };
  const std::vector<int64_t> subset = some_samples(batch_size);
  const int64_t scratch = MemoryLimits().scratch_bytes;
  const Needs all = all_needs();

  std::vector<Question> list = {
      {"gradients, everything", all, {}, scratch, {}},
      {"gradients, everything, some samples", all, subset, scratch, {}},
      {"gradients, everything, tiny scratch", all, {}, kTinyScratch, {}},
      {"gradients, norms and mean_dots", Need::kNorms | Need::kMeanDots, {}, scratch, {}},
      {"watch, everything, mean", all, {}, scratch, mean},
      {"watch, everything, sum", all, {}, scratch, sum},
      {"watch, everything, weighted mean", all, {}, scratch, weighted},
      {"watch, everything, some samples, weighted mean", all, subset, scratch, weighted},
  };
  for (Need need : every_need()) {
    list.push_back({"gradients, " + to_string(need) + " alone", need, {}, scratch, {}});
    list.push_back(
        {"gradients, " + to_string(need) + " alone, some samples", need, subset, scratch, {}});
    list.push_back(
        {"gradients, " + to_string(need) + " alone, tiny scratch", need, {}, kTinyScratch, {}});
    list.push_back({"watch, " + to_string(need) + " alone", need, {}, scratch, mean});
  }
  return list;
}

Tensor entry(const Tensor& rows) { return rows.to(at::kDouble); }

}  // namespace

Path fast_where_unrolled() { return test_device().is_cpu() ? Path::kFast : Path::kExact; }

void expect_identities(const Gradients& answers, double tolerance) {
  double largest_norm = 0.0;
  for (const ParameterGradients& answer : answers.parameters) {
    largest_norm = std::max(largest_norm, entry(answer.norms).max().item<double>());
  }
  // The scales are those of Tolerances; here they come from the answers themselves.
  for (const ParameterGradients& answer : answers.parameters) {
    const double floor = kTolerances.floor * largest_norm;
    const double largest = std::max(entry(answer.norms).max().item<double>(), floor);
    const Tensor mean = entry(answer.mean);
    const auto error = [](const Tensor& a, const Tensor& b) {
      return a.numel() == 0 ? 0.0 : (a - b).abs().max().item<double>();
    };
    EXPECT_LE(error(entry(answer.individual).sum(0), mean * double(answers.batch_size)),
              tolerance * largest * double(answers.batch_size))
        << answer.name << ": rows do not sum to N times the mean";
    EXPECT_LE(error(entry(answer.gram).diagonal(), entry(answer.norms).square()),
              tolerance * largest * largest_norm)
        << answer.name << ": the Gram diagonal is not the squared norms";
    EXPECT_LE(error(entry(answer.variance), entry(answer.second_moment) - mean.square()),
              tolerance * largest * largest)
        << answer.name << ": the variance does not follow from the moments";
  }
}

void expect_coverage(const Coverage& coverage, const Oracle& oracle, Path path) {
  ASSERT_EQ(coverage.parameters.size(), oracle.names.size());
  for (size_t i = 0; i < oracle.names.size(); ++i) {
    const ParameterCoverage& covered = coverage.parameters[i];
    EXPECT_EQ(covered.name, oracle.names[i]);
    EXPECT_NE(coverage.text().find(covered.name), std::string::npos)
        << covered.name << " is not in the coverage text";
    EXPECT_NE(covered.level, CoverageLevel::kRefused) << covered.name << ": " << covered.reason;
    if (covered.level == CoverageLevel::kUnused) {
      EXPECT_FALSE(oracle.individual[i].any().item<bool>())
          << covered.name << " is reported unused but has a gradient";
      continue;
    }
    EXPECT_FALSE(covered.uses.empty()) << covered.name << " takes part but reports no use";
    for (const UseCoverage& use : covered.uses) {
      EXPECT_FALSE(use.op.empty()) << covered.name;
      EXPECT_FALSE(use.form.empty()) << covered.name;
    }
    if (covered.level == CoverageLevel::kExactSlow) {
      EXPECT_FALSE(covered.reason.empty()) << covered.name << " is slow without a reason";
    }
    if (path == Path::kFast) {
      EXPECT_EQ(covered.level, CoverageLevel::kExactFast) << covered.name << ": " << covered.reason;
    }
  }
}

void check_model(const Tensor& losses, const Parameters& parameters, Path path) {
  check_model(losses, losses, parameters, path, tolerance_of(parameters[0].tensor.scalar_type()));
}

void check_model(const Tensor& losses,
                 const Tensor& oracle_losses,
                 const Parameters& parameters,
                 Path path,
                 double tolerance) {
  clear_gradients(parameters);
  const Oracle oracle = differentiate(oracle_losses, parameters);
  const std::vector<Tensor> directions = random_directions(parameters);

  for (const Question& question : questions(losses.size(0), losses)) {
    SCOPED_TRACE(question.description);
    BatchOptions limits;
    limits.memory.scratch_bytes = question.scratch_bytes;
    const Batch batch = Batch(losses, parameters, limits).of(question.samples);
    GradientOptions options;
    if (question.what.has(Need::kDots)) options.directions = directions;
    try {
      const Gradients answers =
          question.reduce ? watched_backward(batch, question.reduce, question.what, options)
                          : gradients(batch, question.what, options);
      expect_matches_oracle(
          answers, oracle.select(question.samples), question.what, directions, tolerance);
      expect_coverage(answers.coverage, oracle, path);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "threw: " << error.what();
    }
    for (const Tensor& gradient : gradients_of(parameters)) {
      EXPECT_FALSE(gradient.defined()) << "gradients() wrote to .grad";
    }
  }

  GradientOptions options;
  options.directions = directions;
  try {
    expect_identities(gradients(losses, parameters, all_needs(), options), tolerance);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw: " << error.what();
  }
}

void check_scalar_loss(const Tensor& loss,
                       Reduction reduction,
                       const Tensor& oracle_losses,
                       const Parameters& parameters,
                       Path path) {
  clear_gradients(parameters);
  const Oracle oracle = differentiate(oracle_losses, parameters);
  const double tolerance = tolerance_of(parameters[0].tensor.scalar_type());
  const int64_t batch_size = oracle_losses.size(0);
  BatchOptions said;
  said.batch_size = batch_size;
  said.reduction = reduction;
  const Batch batch(loss, parameters, said);
  GradientOptions options;
  options.directions = random_directions(parameters);
  const Needs all = all_needs();
  const Reduce itself = [](const Tensor& l) { return l; };
  const Reduce scaled = [](const Tensor& l) { return l * 1024.0; };

  try {
    const Gradients answers = gradients(batch, all, options);
    expect_matches_oracle(answers, oracle, all, options.directions, tolerance);
    expect_coverage(answers.coverage, oracle, path);
    expect_identities(answers, tolerance);
    for (const Reduce& reduce : {itself, scaled}) {
      SCOPED_TRACE("watch");
      expect_matches_oracle(watched_backward(batch, reduce, all, options),
                            oracle,
                            all,
                            options.directions,
                            tolerance);
    }
    SCOPED_TRACE("some samples");
    const std::vector<int64_t> samples = some_samples(batch_size);
    expect_matches_oracle(gradients(batch.of(samples), all, options),
                          oracle.select(samples),
                          all,
                          options.directions,
                          tolerance);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw: " << error.what();
  }
}

}  // namespace flightdeck::tests
