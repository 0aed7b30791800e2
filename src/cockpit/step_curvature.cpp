// SPDX-License-Identifier: MIT
// What a step asks of the curvature, before the backward pass: diagonals and traces, eigenpairs,
// the GGN's Gram matrix.
#include <algorithm>
#include <numeric>

#include <c10/util/Exception.h>

#include "cockpit/crew.h"
#include "cockpit/preconditioned.h"
#include "cockpit/step.h"
#include "curvature/column_budget.h"

namespace flightdeck {
namespace {

// Returns the first `count` of the batch, or all of it for 0.
Batch first_of(const Batch& batch, int64_t count) {
  if (count == 0 || count >= batch.size()) return batch;
  std::vector<int64_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  return batch.of(std::move(samples));
}

// Returns what takes the place of exact needs.
CurvatureNeeds sampled_instead(CurvatureNeeds needs) {
  using Need = CurvatureNeed;
  CurvatureNeeds sampled;
  const auto replace = [&](Need exact, Need by) {
    if (needs.has(exact)) sampled = sampled | by;
  };
  for (const Need exact : {Need::kDiagHessian, Need::kDiagGgn}) replace(exact, Need::kDiagGgnMc);
  for (const Need exact : {Need::kTraceHessian, Need::kTraceGgn}) replace(exact, Need::kTraceGgnMc);
  for (const Need exact : {Need::kDiagHessianPerSample, Need::kDiagGgnPerSample}) {
    replace(exact, Need::kDiagGgnMcPerSample);
  }
  for (const Need own : {Need::kDiagGgnMc,
                         Need::kTraceGgnMc,
                         Need::kDiagGgnMcPerSample,
                         Need::kKfac,
                         Need::kKflr,
                         Need::kKfra}) {
    if (needs.has(own)) sampled = sampled | own;
  }
  return sampled;
}

}  // namespace

Curvature Step::run_curvature(const Batch& chosen,
                              const CurvaturePass& pass,
                              CurvatureOptions options) {
  // Ranks have to agree on what they compute, so that none samples on its own.
  if (context_.crew) return flightdeck::curvature(chosen, pass.needs, options);
  std::vector<CurvatureBatch>& sampled = context_.sampled;
  int64_t columns = 0;  // that the exact matrix would have taken
  if (std::find(sampled.begin(), sampled.end(), pass.batch) == sampled.end()) {
    options.max_columns = pass.batch.max_columns;
    try {
      return flightdeck::curvature(chosen, pass.needs, options);
    } catch (const TooManyColumns& error) {
      sampled.push_back(pass.batch);
      columns = error.columns;
    }
  }
  options.max_columns = 0;
  const std::string why = "the exact curvature takes at least " + std::to_string(columns) +
                          " columns a step, and " + std::to_string(pass.batch.max_columns) +
                          " is the most";
  try {
    Curvature curvature = flightdeck::curvature(chosen, sampled_instead(pass.needs), options);
    if (columns > 0) {
      add_remarks({why + ": its diagonal and trace are those of the GGN from " +
                   std::to_string(pass.batch.mc_samples) +
                   " sampled column(s). Ask for more by mc_samples, or for the exact matrix by "
                   "curvature=exact_hessian or exact_ggn"});
    }
    return curvature;
  } catch (const c10::NotImplementedError& error) {
    TORCH_CHECK_NOT_IMPLEMENTED(columns == 0,
                                error.what_without_backtrace(),
                                "; ",
                                why,
                                ", but it needs no outputs: ask for it by curvature=exact_hessian");
    throw;
  }
}

void Step::run_curvatures(const Batch& batch, const OnFailure& on_failure) {
  for (const CurvaturePass& pass : plan_.curvature) {
    const auto concerns = [&](const StepNeeds& needs) {
      return !needs.curvature.empty() && needs.curvature_batch == pass.batch;
    };
    attempt(on_failure, concerns, "curvature", batch, [&](const Batch& whole) {
      CurvatureOptions options;
      options.mc_samples = pass.batch.mc_samples;
      options.seed = seed();
      int64_t samples = pass.batch.samples;
      if (context_.crew) {
        options.seed = context_.crew->seed_of_rank(options.seed);
        samples = context_.crew->share_of(samples, batch_size_);
        if (samples == 0) return;  // all of them are on other ranks
      }
      curvatures_.emplace_back(pass.batch, run_curvature(first_of(whole, samples), pass, options));
      add_remarks(curvatures_.back().second.remarks);
    });
  }
}

void Step::run_spectra(const Batch& batch, const OnFailure& on_failure) {
  const std::vector<SpectrumNeed> spectra =
      context_.crew ? context_.crew->layout().spectra : plan_.spectra;
  for (const SpectrumNeed& need : spectra) {
    const auto concerns = [&](const StepNeeds& needs) {
      return needs.spectrum && is_same_matrix(*needs.spectrum, need);
    };
    attempt(on_failure, concerns, "spectrum", batch, [&](const Batch& whole) {
      spectra_.emplace_back(need, run_spectrum(whole, need));
    });
  }
}

Eigenpairs leading_pairs(StepContext& context,
                         const LinearOperator& op,
                         const SpectrumNeed& need,
                         uint64_t seed) {
  Tensor& last = context.eigenvectors[{need.kind, need.samples, need.is_preconditioned}];
  EigenOptions options;
  options.largest = std::min(need.largest, op.dim());
  options.smallest = std::min(need.smallest, op.dim());
  options.tolerance = need.tolerance;
  options.max_products = need.max_products;
  // The first one is worth a proof: the others follow its eigenvectors.
  options.until_proved = need.until_proved || !last.defined();
  options.seed = seed;
  options.start = last;
  Eigenpairs pairs = eigenpairs(op, options);
  last = pairs.is_finite ? pairs.vectors : Tensor();
  pairs.vectors = Tensor();
  return pairs;
}

std::shared_ptr<const LinearOperator> Step::matrix_of(const Batch& batch,
                                                      const SpectrumNeed& need,
                                                      int64_t samples) const {
  std::shared_ptr<const LinearOperator> matrix =
      curvature_operator(first_of(batch, samples), need.kind);
  if (!need.is_preconditioned) return matrix;
  return preconditioned(std::move(matrix), update_formulas_, parameters());
}

Eigenpairs Step::run_spectrum(const Batch& batch, const SpectrumNeed& need) const {
  const bool lacks_formulas = need.is_preconditioned && update_formulas_.empty();
  if (Crew* crew = context_.crew) {
    // A rank without formulas fails in the first product, and with it all do: none is left waiting.
    const int64_t samples = crew->share_of(need.samples, batch_size_);
    try {
      return crew->spectrum(
          need, [&] { return matrix_of(batch, need, samples); }, samples);
    } catch (...) {
      if (!lacks_formulas) throw;
      return {};
    }
  }
  if (lacks_formulas) return {};
  return leading_pairs(context_, *matrix_of(batch, need, need.samples), need, seed());
}

void Step::run_vivits(const Batch& batch, const OnFailure& on_failure) {
  for (const VivitNeed& need : plan_.vivits) {
    const auto concerns = [&](const StepNeeds& needs) {
      return needs.vivit && is_same_matrix(*needs.vivit, need);
    };
    attempt(on_failure, concerns, "GGN spectrum", batch, [&](const Batch& whole) {
      VivitOptions options;
      options.columns = need.columns;
      options.mc_samples = need.mc_samples;
      options.seed = seed();
      options.gradients = need.gradients;
      vivits_.emplace_back(need, std::make_unique<Vivit>(first_of(whole, need.samples), options));
      add_remarks(vivits_.back().second->remarks());
    });
  }
}

}  // namespace flightdeck
