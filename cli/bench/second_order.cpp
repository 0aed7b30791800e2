// SPDX-License-Identifier: MIT
#include "cli/bench/second_order.h"

#include <memory>

#include <ATen/ATen.h>

#include "cli/bench/answer_checker.h"
#include "cli/bench/low_rank.h"
#include "flightdeck/curvature.h"
#include "flightdeck/products.h"
#include "flightdeck/spectra.h"

namespace flightdeck::cli {
namespace {

// The limit is far beyond what the networks need, so that the cost is that of the tolerance.
constexpr int64_t kMaxProducts = 1000;
// The parameters take a step of this rate between two calls that follow an eigenvalue.
constexpr double kLearningRate = 0.01;

// ---- diagonals, traces and Kronecker factors ----------------------------------------------------

// Makes a quantity that flightdeck::curvature answers; `check` is called with the workload, the
// checker and the answer.
template <typename Check>
BenchQuantity answered(const char* name, CurvatureNeed need, Check check) {
  return {
      name, [=](Workload& workload) {
        return candidate_of(
            [&workload, need] { return curvature(workload.losses(), workload.parameters(), need); },
            [&workload, name, check](const Curvature& answer) {
              check(workload, AnswerChecker(workload, name), answer);
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
      [field, sign](
          const Workload& workload, const AnswerChecker& checker, const Curvature& answer) {
        for (size_t index = 0; index < workload.parameters().size(); ++index) {
          const Tensor& diagonal = answer.parameters.at(index).*field;
          checker.shape(diagonal, workload.parameters()[index].tensor.sizes());
          checker.finite(diagonal);
          if (sign == Sign::kNotNegative) checker.not_negative(diagonal);
        }
      });
}

void check_factors(const AnswerChecker& checker,
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
      [field](const Workload& workload, const AnswerChecker& checker, const Curvature& answer) {
        for (size_t index = 0; index < workload.parameters().size(); ++index) {
          const KroneckerFactors& factors = answer.parameters.at(index).*field;
          // A parameter without Kronecker structure has no factors.
          if (factors.defined()) check_factors(checker, workload.parameters()[index], factors);
        }
      });
}

BenchQuantity hessian_trace() {
  return answered("hess_trace",
                  CurvatureNeed::kTraceHessian,
                  [](const Workload&, const AnswerChecker& checker, const Curvature& answer) {
                    checker.shape(answer.total.trace_hessian, {});
                    checker.finite(answer.total.trace_hessian);
                  });
}

// ---- products and eigenvalues -------------------------------------------------------------------

// Checks that |A v|² = v · A (A v), as it is for a symmetric matrix.
void check_symmetric(const AnswerChecker& checker, const LinearOperator& op, const Tensor& vector) {
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
              check_symmetric(AnswerChecker(workload, name), *new_operator(workload, kind), vector);
            };
            return candidate;
          }};
}

// kCold starts from a new random vector every time, kWarm from the eigenvector that the last call
// found; both end when the value stands still. kProof starts from a random vector and ends when it
// is proved.
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

  // Puts a step of training and a new batch between two calls.
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
                  const AnswerChecker checker(workload, name);
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

}  // namespace

std::vector<BenchQuantity> second_order_quantities() {
  using Need = CurvatureNeed;
  using Answer = ParameterCurvature;
  std::vector<BenchQuantity> all = {
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
  };
  for (BenchQuantity& quantity : low_rank_quantities()) all.push_back(std::move(quantity));
  return all;
}

}  // namespace flightdeck::cli
