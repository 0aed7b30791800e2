// SPDX-License-Identifier: MIT
#include "cli/bench/low_rank.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "cli/bench/answer_checker.h"
#include "flightdeck/data_set_operator.h"
#include "flightdeck/ggn_factor.h"
#include "flightdeck/vivit.h"

namespace flightdeck::cli {
namespace {

constexpr double kDamping = 1.0;
constexpr int64_t kVectors = 4;
constexpr int64_t kBatches = 4;
// A power iteration takes at most this many products for each pair.
constexpr int64_t kMostIterations = 100;
constexpr int64_t kFactorBytes = int64_t{512} << 20;
// The exact loss Hessian of ten classes has about this many columns.
constexpr int64_t kExactColumns = 9;

Vivit new_vivit(const Tensor& losses, const Workload& workload, bool gradients) {
  VivitOptions options;
  options.gradients = gradients;
  return Vivit(losses, workload.parameters(), options);
}

BenchQuantity ggn_spectrum() {
  return {"ggn_spectrum", [](Workload& workload) {
            return candidate_of(
                [&workload] {
                  const Tensor losses = workload.losses();
                  return new_vivit(losses, workload, /*gradients=*/false).eigenvalues();
                },
                [&workload](const Tensor& eigenvalues) {
                  const AnswerChecker checker(workload, "ggn_spectrum");
                  checker.shape(eigenvalues, {eigenvalues.numel()});
                  checker.finite(eigenvalues);
                  checker.not_negative(eigenvalues);
                });
          }};
}

// Eigenvalues and the leading eigenvectors, per parameter.
struct LeadingPairs {
  Tensor eigenvalues;
  std::vector<Tensor> eigenvectors;
};

LeadingPairs leading_pairs(Workload& workload, int64_t wanted) {
  const Tensor losses = workload.losses();
  const Vivit vivit = new_vivit(losses, workload, /*gradients=*/false);
  // A small batch has fewer nontrivial pairs than are wanted.
  return {vivit.eigenvalues(), vivit.eigenvectors(std::min(wanted, vivit.rank()))};
}

void check_pairs(const Workload& workload,
                 const AnswerChecker& checker,
                 const LeadingPairs& pairs,
                 int64_t wanted) {
  checker.finite(pairs.eigenvalues);
  const int64_t count = std::min(wanted, pairs.eigenvalues.numel());
  double squared_norms = 0;
  for (size_t index = 0; index < workload.parameters().size(); ++index) {
    const Tensor& part = pairs.eigenvectors.at(index);
    std::vector<int64_t> shape = workload.parameters()[index].tensor.sizes().vec();
    shape.insert(shape.begin(), count);
    checker.shape(part, shape);
    squared_norms += part.square().sum(at::kDouble).item<double>();
  }
  checker.equal(
      "the sum of the eigenvectors' squared norms", squared_norms, static_cast<double>(count));
}

BenchQuantity ggn_eigenpairs(const std::string& name, int64_t wanted) {
  return {name, [=](Workload& workload) {
            return candidate_of([&workload, wanted] { return leading_pairs(workload, wanted); },
                                [&workload, name, wanted](const LeadingPairs& pairs) {
                                  check_pairs(
                                      workload, AnswerChecker(workload, name), pairs, wanted);
                                });
          }};
}

// Leading pairs by power iteration, which is what they cost without the low rank. Each multiplies a
// random vector until the value moves by less than the tolerance; pairs found before are taken out.
struct PowerPairs {
  Tensor values;   // [k]
  Tensor vectors;  // [k, D]
  int64_t products = 0;
};

PowerPairs power_iteration(const LinearOperator& op, int64_t wanted) {
  PowerPairs pairs;
  pairs.vectors = at::zeros({0, op.dim()}, op.options());
  std::vector<double> values;
  for (int64_t k = 0; k < wanted; ++k) {
    Tensor vector = at::randn({1, op.dim()}, op.options());
    double value = 0;
    for (int64_t i = 0; i < kMostIterations; ++i) {
      vector = vector - at::mm(at::mm(vector, pairs.vectors.t()), pairs.vectors);
      vector = vector / vector.norm();
      const Tensor product = op.multiply(vector);
      ++pairs.products;
      const double before = value;
      value = (vector * product).sum(at::kDouble).item<double>();
      vector = product;
      if (i > 0 && std::abs(value - before) <= kEigenvalueTolerance * std::abs(value)) break;
    }
    vector = vector - at::mm(at::mm(vector, pairs.vectors.t()), pairs.vectors);
    pairs.vectors = at::cat({pairs.vectors, vector / vector.norm()});
    values.push_back(value);
  }
  pairs.values = at::tensor(values, at::kDouble);
  return pairs;
}

BenchQuantity power_pairs(const std::string& name, int64_t wanted) {
  return {name, [=](Workload& workload) {
            const auto products = std::make_shared<int64_t>(0);
            Candidate candidate = candidate_of(
                [&workload, wanted, products] {
                  const PowerPairs pairs =
                      power_iteration(*new_operator(workload, CurvatureKind::kGgn), wanted);
                  *products = pairs.products;
                  return pairs;
                },
                [&workload, name, wanted](const PowerPairs& pairs) {
                  const AnswerChecker checker(workload, name);
                  checker.shape(pairs.vectors, {wanted, dim(workload)});
                  checker.finite(pairs.values);
                  checker.equal("the sum of the vectors' squared norms",
                                pairs.vectors.square().sum(at::kDouble).item<double>(),
                                static_cast<double>(wanted));
                });
            candidate.products = [products] { return *products; };
            return candidate;
          }};
}

// Computes V of as many samples as fit into kFactorBytes, one at least.
BenchQuantity factor(const std::string& name, LossColumns columns) {
  return {name, [=](Workload& workload) {
            const auto bytes_of_column =
                dim(workload) *
                static_cast<int64_t>(workload.parameters()[0].tensor.element_size());
            const int64_t most = std::max<int64_t>(1, kFactorBytes / bytes_of_column);
            return candidate_of(
                [&workload, columns, most] {
                  const Tensor losses = workload.losses();
                  const int64_t K = columns == LossColumns::kExact ? kExactColumns : 1;
                  std::vector<int64_t> some(std::clamp<int64_t>(most / K, 1, losses.size(0)));
                  std::iota(some.begin(), some.end(), int64_t{0});
                  GgnFactorOptions options;
                  options.columns = columns;
                  return ggn_factor(Batch(losses, workload.parameters()).of(some), options);
                },
                [&workload, name](const std::vector<ParameterFactor>& factors) {
                  const AnswerChecker checker(workload, name);
                  for (size_t index = 0; index < workload.parameters().size(); ++index) {
                    const Tensor& V = factors.at(index).factor;
                    checker.shape(V[0][0], workload.parameters()[index].tensor.sizes());
                    checker.finite(V);
                  }
                });
          }};
}

// Computes (G + damping I)^-1 times a few vectors, the Gram matrix and its eigenvectors included.
BenchQuantity inverse_products() {
  const char* name = "ggn_inverse_vp";
  return {name, [=](Workload& workload) {
            const Tensor vectors =
                at::randn({kVectors, dim(workload)}, workload.parameters()[0].tensor.options());
            return candidate_of(
                [&workload, vectors] {
                  const Tensor losses = workload.losses();
                  return new_vivit(losses, workload, /*gradients=*/false)
                      .inverse(kDamping)
                      ->multiply(vectors);
                },
                [&workload, name, vectors](const Tensor& solved) {
                  const AnswerChecker checker(workload, name);
                  checker.shape(solved, vectors.sizes());
                  checker.finite(solved);
                  const Tensor back = new_operator(workload, CurvatureKind::kGgn)
                                          ->multiply(solved)
                                          .add(solved, kDamping);
                  checker.equal(
                      "|(G + dI) x|", back.norm().item<double>(), vectors.norm().item<double>());
                });
          }};
}

// Computes one product over kBatches batches, to show what streaming costs beside as many products.
BenchQuantity data_set_product(const char* name, CurvatureKind kind) {
  return {name, [=](Workload& workload) {
            const Tensor vector =
                at::randn({1, dim(workload)}, workload.parameters()[0].tensor.options());
            return candidate_of(
                [&workload, kind, vector] {
                  const auto source = [&workload](int64_t) {
                    return Batch(workload.losses(), workload.parameters());
                  };
                  return data_set_operator(kBatches, source, kind)->multiply(vector);
                },
                [&workload, name, kind, vector](const Tensor& product) {
                  const AnswerChecker checker(workload, name);
                  checker.shape(product, vector.sizes());
                  const Tensor of_one = new_operator(workload, kind)->multiply(vector);
                  checker.equal(
                      "the norm of the difference to one batch and |product|",
                      (product - of_one).norm().item<double>() + of_one.norm().item<double>(),
                      of_one.norm().item<double>());
                });
          }};
}

BenchQuantity newton_step() {
  return {"newton_step", [](Workload& workload) {
            const Tensor damping =
                at::full({1}, kDamping, workload.parameters()[0].tensor.options());
            return candidate_of(
                [&workload, damping] {
                  const Tensor losses = workload.losses();
                  return new_vivit(losses, workload, /*gradients=*/true).newton_step(damping);
                },
                [&workload](const std::vector<Tensor>& step) {
                  const AnswerChecker checker(workload, "newton_step");
                  for (size_t index = 0; index < workload.parameters().size(); ++index) {
                    checker.shape(step.at(index), workload.parameters()[index].tensor.sizes());
                    checker.finite(step[index]);
                  }
                });
          }};
}

}  // namespace

std::vector<BenchQuantity> low_rank_quantities() {
  return {
      ggn_spectrum(),
      ggn_eigenpairs("ggn_eigenpairs_1", 1),
      ggn_eigenpairs("ggn_eigenpairs_3", 3),
      ggn_eigenpairs("ggn_eigenpairs", 10),
      power_pairs("power_iteration_1", 1),
      power_pairs("power_iteration_3", 3),
      power_pairs("power_iteration_10", 10),
      newton_step(),
      inverse_products(),
      factor("ggn_factor", LossColumns::kExact),
      factor("ggn_factor_mc", LossColumns::kSampled),
      data_set_product("data_set_ggn_vp", CurvatureKind::kGgn),
      data_set_product("data_set_hvp", CurvatureKind::kHessian),
  };
}

}  // namespace flightdeck::cli
