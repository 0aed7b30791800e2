// SPDX-License-Identifier: MIT
#include "cli/bench/second_order.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <ATen/ATen.h>

#include "flightdeck/curvature.h"
#include "flightdeck/products.h"
#include "flightdeck/spectra.h"
#include "flightdeck/vivit.h"

namespace flightdeck::cli {
namespace {

constexpr int64_t kLeadingPairs = 10;
constexpr double kEigenvalueTolerance = 1e-3;
// Far beyond what the networks need, so that the cost is that of the tolerance.
constexpr int64_t kMaxProducts = 1000;
// What happens to the parameters between two calls that follow an eigenvalue.
constexpr double kLearningRate = 0.01;
constexpr double kDamping = 1.0;
// Norms and products of float32 vectors with up to a million entries.
constexpr double kTolerance = 1e-3;

// ---- checks -------------------------------------------------------------------------------------

// Holds the answers of one quantity on one problem to what is known of them.
class Checker {
 public:
  Checker(const Workload& workload, const std::string& quantity)
      : where_("bench: " + workload.name() + ", " + quantity + ": ") {}

  void shape(const Tensor& answer, at::IntArrayRef expected) const {
    TORCH_CHECK(answer.defined(), where_, "there is no answer where one was asked for", kReport);
    TORCH_CHECK(answer.sizes() == expected,
                where_,
                "an answer has shape ",
                answer.sizes(),
                " instead of ",
                expected,
                kReport);
  }

  void finite(const Tensor& answer) const {
    const int64_t bad = answer.numel() - at::isfinite(answer).sum().item<int64_t>();
    TORCH_CHECK(bad == 0, where_, bad, " of ", answer.numel(), " numbers are not finite", kReport);
  }

  void not_negative(const Tensor& answer) const {
    const double smallest = answer.min().item<double>();
    TORCH_CHECK(smallest >= 0, where_, "there is a ", smallest, " among squares", kReport);
  }

  void equal(const char* what, double value, double expected) const {
    TORCH_CHECK(std::abs(value - expected) <= kTolerance * std::abs(expected),
                where_,
                what,
                " is ",
                value,
                " instead of ",
                expected,
                kReport);
  }

  void converged(const Eigenpairs& pairs) const {
    TORCH_CHECK(pairs.all_converged(),
                where_,
                "the eigenvalue has not converged to ",
                kEigenvalueTolerance,
                " after ",
                pairs.products,
                " products; try another --batch");
  }

 private:
  static constexpr const char* kReport =
      "; please report this with the output of flightdeck doctor";
  std::string where_;
};

// ---- diagonals, traces and Kronecker factors ----------------------------------------------------

template <typename Step, typename Check>
Candidate candidate_of(Step step, Check check) {
  Candidate candidate;
  candidate.check = [step, check] { check(step()); };
  candidate.step = [step] { return std::any(step()); };
  return candidate;
}

// A quantity that flightdeck::curvature answers; `check` is called with the workload, the checker
// and the answer.
template <typename Check>
BenchQuantity answered(const char* name, CurvatureNeed need, Check check) {
  return {
      name, [=](Workload& workload) {
        return candidate_of(
            [&workload, need] { return curvature(workload.losses(), workload.parameters(), need); },
            [&workload, name, check](const Curvature& answer) {
              check(workload, Checker(workload, name), answer);
            });
      }};
}

enum class Sign { kAny, kNotNegative };

BenchQuantity diagonal_of(const char* name,
                          CurvatureNeed need,
                          Tensor ParameterCurvature::*field,
                          Sign sign) {
  return answered(
      name,
      need,
      [field, sign](const Workload& workload, const Checker& checker, const Curvature& answer) {
        for (size_t index = 0; index < workload.parameters().size(); ++index) {
          const Tensor& diagonal = answer.parameters.at(index).*field;
          checker.shape(diagonal, workload.parameters()[index].tensor.sizes());
          checker.finite(diagonal);
          if (sign == Sign::kNotNegative) checker.not_negative(diagonal);
        }
      });
}

void check_factors(const Checker& checker,
                   const NamedParameter& parameter,
                   const KroneckerFactors& factors) {
  const int64_t J = parameter.tensor.size(0);
  checker.shape(factors.output, {J, J});
  checker.finite(factors.output);
  if (!factors.input.defined()) return;
  const int64_t I = parameter.tensor.numel() / J;
  checker.shape(factors.input, {I, I});
  checker.finite(factors.input);
}

BenchQuantity factors_of(const char* name,
                         CurvatureNeed need,
                         KroneckerFactors ParameterCurvature::*field) {
  return answered(
      name,
      need,
      [field](const Workload& workload, const Checker& checker, const Curvature& answer) {
        for (size_t index = 0; index < workload.parameters().size(); ++index) {
          const KroneckerFactors& factors = answer.parameters.at(index).*field;
          // A parameter without that structure has none.
          if (factors.defined()) check_factors(checker, workload.parameters()[index], factors);
        }
      });
}

BenchQuantity hessian_trace() {
  return answered("hess_trace",
                  CurvatureNeed::kTraceHessian,
                  [](const Workload&, const Checker& checker, const Curvature& answer) {
                    checker.shape(answer.total.trace_hessian, {});
                    checker.finite(answer.total.trace_hessian);
                  });
}

// ---- products and eigenvalues -------------------------------------------------------------------

std::shared_ptr<const CurvatureOperator> new_operator(Workload& workload, CurvatureKind kind) {
  return curvature_operator(workload.losses(), workload.parameters(), kind);
}

int64_t dim(const Workload& workload) {
  int64_t entries = 0;
  for (const NamedParameter& parameter : workload.parameters()) entries += parameter.tensor.numel();
  return entries;
}

// For a symmetric matrix |A v|² = v · A (A v).
void check_symmetric(const Checker& checker, const LinearOperator& op, const Tensor& vector) {
  const Tensor product = op.multiply(vector);
  checker.shape(product, vector.sizes());
  checker.finite(product);
  checker.equal("v·A(Av)",
                (vector * op.multiply(product)).sum(at::kDouble).item<double>(),
                product.square().sum(at::kDouble).item<double>());
}

BenchQuantity product_with(const char* name, CurvatureKind kind) {
  return {name, [=](Workload& workload) {
            const Tensor vector =
                at::randn({1, dim(workload)}, workload.parameters()[0].tensor.options());
            Candidate candidate;
            candidate.step = [&workload, kind, vector] {
              return std::any(new_operator(workload, kind)->multiply(vector));
            };
            candidate.check = [&workload, name, kind, vector] {
              check_symmetric(Checker(workload, name), *new_operator(workload, kind), vector);
            };
            return candidate;
          }};
}

// From a new random vector every time or from the eigenvector that the last call found, until the
// value stands still; or from a random vector until it is proved.
enum class Search { kCold, kWarm, kProof };

// Looks for the largest eigenvalue of the Hessian.
class LargestEigenvalue {
 public:
  LargestEigenvalue(Workload& workload, Search search) : workload_(workload), search_(search) {}

  Eigenpairs find() {
    EigenOptions options;
    options.largest = 1;
    options.tolerance = kEigenvalueTolerance;
    options.max_products = kMaxProducts;
    options.seed = ++calls_;
    options.until_proved = search_ == Search::kProof;
    if (search_ == Search::kWarm) options.start = tracked_;  // undefined in the first call
    const Eigenpairs pairs = eigenpairs(*new_operator(workload_, CurvatureKind::kHessian), options);
    tracked_ = pairs.vectors;
    products_ = pairs.products;
    return pairs;
  }

  // A step of training and a new batch lie between two calls.
  void move_on() {
    if (search_ == Search::kWarm) workload_.move_on(kLearningRate);
  }

  int64_t products() const { return products_; }

 private:
  Workload& workload_;
  Search search_;
  uint64_t calls_ = 0;
  Tensor tracked_;
  int64_t products_ = 0;
};

BenchQuantity largest_eigenvalue(const char* name, Search kind) {
  return {name, [=](Workload& workload) {
            const auto search = std::make_shared<LargestEigenvalue>(workload, kind);
            Candidate candidate = candidate_of(
                [search] { return search->find(); },
                [&workload, name, kind](const Eigenpairs& pairs) {
                  const Checker checker(workload, name);
                  checker.shape(pairs.values, {1});
                  checker.shape(pairs.vectors, {1, dim(workload)});
                  checker.finite(pairs.values);
                  if (kind == Search::kProof) checker.converged(pairs);
                  checker.equal("the eigenvector's norm", pairs.vectors.norm().item<double>(), 1);
                });
            candidate.prepare = [search] { search->move_on(); };
            candidate.products = [search] { return search->products(); };
            return candidate;
          }};
}

// ---- low rank -----------------------------------------------------------------------------------

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
                  const Checker checker(workload, "ggn_spectrum");
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

LeadingPairs leading_pairs(Workload& workload) {
  const Tensor losses = workload.losses();
  const Vivit vivit = new_vivit(losses, workload, /*gradients=*/false);
  // A small batch has fewer nontrivial ones.
  return {vivit.eigenvalues(), vivit.eigenvectors(std::min(kLeadingPairs, vivit.rank()))};
}

void check_pairs(const Workload& workload, const Checker& checker, const LeadingPairs& pairs) {
  checker.finite(pairs.eigenvalues);
  const int64_t count = std::min(kLeadingPairs, pairs.eigenvalues.numel());
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

BenchQuantity ggn_eigenpairs() {
  return {"ggn_eigenpairs", [](Workload& workload) {
            return candidate_of([&workload] { return leading_pairs(workload); },
                                [&workload](const LeadingPairs& pairs) {
                                  check_pairs(workload, Checker(workload, "ggn_eigenpairs"), pairs);
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
                  const Checker checker(workload, "newton_step");
                  for (size_t index = 0; index < workload.parameters().size(); ++index) {
                    checker.shape(step.at(index), workload.parameters()[index].tensor.sizes());
                    checker.finite(step[index]);
                  }
                });
          }};
}

}  // namespace

std::vector<BenchQuantity> second_order_quantities() {
  using Need = CurvatureNeed;
  using Answer = ParameterCurvature;
  return {
      diagonal_of("diag_ggn", Need::kDiagGgn, &Answer::diag_ggn, Sign::kNotNegative),
      diagonal_of("diag_ggn_mc", Need::kDiagGgnMc, &Answer::diag_ggn_mc, Sign::kNotNegative),
      diagonal_of("diag_hessian", Need::kDiagHessian, &Answer::diag_hessian, Sign::kAny),
      factors_of("kfac", Need::kKfac, &Answer::kfac),
      factors_of("kflr", Need::kKflr, &Answer::kflr),
      factors_of("kfra", Need::kKfra, &Answer::kfra),
      product_with("ggn_vp", CurvatureKind::kGgn),
      product_with("hvp", CurvatureKind::kHessian),
      largest_eigenvalue("hess_max_ev_cold", Search::kCold),
      largest_eigenvalue("hess_max_ev_warm", Search::kWarm),
      largest_eigenvalue("hess_max_ev_proof", Search::kProof),
      hessian_trace(),
      ggn_spectrum(),
      ggn_eigenpairs(),
      newton_step(),
  };
}

}  // namespace flightdeck::cli
