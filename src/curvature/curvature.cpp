// SPDX-License-Identifier: MIT
// curvature(): plans the passes that answer a set of needs and turns their results into answers.
#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include "curvature/averaged.h"
#include "curvature/column_budget.h"
#include "curvature/columns_pass.h"
#include "curvature/context.h"
#include "curvature/diagonals.h"
#include "curvature/eigh.h"
#include "curvature/kronecker_factors.h"
#include "curvature/residuals.h"
#include "flightdeck/curvature_coverage.h"

namespace flightdeck {
namespace {

// Holds one curvature matrix that is summed up from columns.
struct Gathered {
  DiagonalNeeds diagonals;
  bool kronecker = false;
  std::vector<Diagonal> diagonal;
  std::vector<KroneckerFactors> factors;
  std::vector<KroneckerShape> shapes;

  bool any() const { return diagonals.any() || kronecker; }
  void resize(size_t count) {
    diagonal.resize(count);
    factors.resize(count);
    shapes.resize(count);
  }
};

class CurvatureRun {
 public:
  // A rehearsal takes two columns where the run takes all: one would be no stack.
  CurvatureRun(CurvatureContext& context,
               CurvatureNeeds what,
               const CurvatureOptions& options,
               bool is_rehearsal)
      : context_(context),
        what_(what),
        options_(options),
        budget_(is_rehearsal ? 0 : options.max_columns),
        is_rehearsal_(is_rehearsal) {
    const size_t count = context.parameters().size();
    const auto has = [what](CurvatureNeed need) { return what.has(need); };
    // A trace whose diagonal is gathered too is summed up once, at the end.
    hessian_.diagonals = {has(CurvatureNeed::kDiagHessian),
                          has(CurvatureNeed::kDiagHessianPerSample),
                          has(CurvatureNeed::kTraceHessian) && !has(CurvatureNeed::kDiagHessian)};
    const bool has_diagonal = has(CurvatureNeed::kDiagGgn) || hessian_.diagonals.diagonal;
    exact_.diagonals = {
        has_diagonal,
        has(CurvatureNeed::kDiagGgnPerSample) || hessian_.diagonals.per_sample,
        (has(CurvatureNeed::kTraceGgn) && !has_diagonal) || hessian_.diagonals.trace};
    exact_.kronecker = has(CurvatureNeed::kKflr);
    sampled_.diagonals = {has(CurvatureNeed::kDiagGgnMc),
                          has(CurvatureNeed::kDiagGgnMcPerSample),
                          has(CurvatureNeed::kTraceGgnMc) && !has(CurvatureNeed::kDiagGgnMc)};
    sampled_.kronecker = has(CurvatureNeed::kKfac);
    for (Gathered* gathered : {&exact_, &sampled_, &hessian_}) gathered->resize(count);
    result_.coverage = initial_coverage(context.capture(), context.parameters());
  }

  Curvature run() {
    // The Hessian can do without knowing where the loss begins.
    const bool only_hessian = !exact_.kronecker && !what_.has(CurvatureNeed::kDiagGgn) &&
                              !what_.has(CurvatureNeed::kDiagGgnPerSample) &&
                              !what_.has(CurvatureNeed::kTraceGgn);
    if (exact_.any() && (!only_hessian || context_.knows_loss())) {
      const Columns columns = exact_seeds();
      budget_.spend(columns.count);
      gather(exact_, columns);
    }
    if (sampled_.any()) gather(sampled_, sampled_seeds());
    if (hessian_.diagonals.any()) add_residuals();
    std::vector<KroneckerFactors> averaged;
    if (what_.has(CurvatureNeed::kKfra)) {
      averaged = averaged_factors(context_);
    }
    return finish(averaged);
  }

 private:
  using SeedSource = std::function<std::vector<Seed>(int64_t begin, int64_t end)>;
  struct Columns {
    int64_t count;
    SeedSource seeds;
  };

  Columns exact_seeds() {
    const Loss& loss = context_.loss();
    return {loss.columns(),
            [&loss](int64_t begin, int64_t end) { return loss.factor(begin, end); }};
  }

  // Draws all columns at once: how they are split later does not change what the generator gives.
  Columns sampled_seeds() {
    at::Generator generator = at::detail::createCPUGenerator(options_.seed);
    const std::vector<Seed> all = context_.loss().sample(options_.mc_samples, generator);
    return {options_.mc_samples, [all](int64_t begin, int64_t end) {
              std::vector<Seed> part = all;
              for (Seed& seed : part) seed.stack = seed.stack.slice(0, begin, end);
              return part;
            }};
  }

  int64_t taken_of(int64_t columns) const {
    return is_rehearsal_ ? std::min<int64_t>(columns, 2) : columns;
  }

  void gather(Gathered& gathered, const Columns& columns) {
    ColumnsPass pass(context_.linearisation(),
                     context_.parameters(),
                     context_.samples(),
                     is_covered_ ? nullptr : &result_.coverage);
    is_covered_ = true;
    const int64_t piece = pass.columns_at_once(context_.memory().stack_bytes);
    const int64_t count = taken_of(columns.count);
    const auto sweep = [&](const ColumnsPass::Consume& consume) {
      for (int64_t begin = 0; begin < count; begin += piece) {
        const int64_t end = std::min(begin + piece, count);
        pass.run(columns.seeds(begin, end), consume);
        if (options_.on_columns) options_.on_columns(end, count);
      }
    };
    sweep([&](size_t p, const std::vector<Rows>& rows) {
      if (gathered.diagonals.any()) {
        add_columns(
            gathered.diagonal[p], rows, gathered.diagonals, 1, context_.memory().scratch_bytes);
      }
      if (gathered.kronecker) add_factors(gathered, p, rows);
    });
    if (!gathered.kronecker || !options_.ekfac) return;
    for (KroneckerFactors& factors : gathered.factors) {
      if (!factors.input.defined()) continue;
      factors.output_basis = eigh(factors.output).second;
      factors.input_basis = eigh(factors.input).second;
    }
    sweep([&](size_t p, const std::vector<Rows>& rows) {
      KroneckerFactors& factors = gathered.factors[p];
      if (!factors.input_basis.defined()) return;
      const Tensor part =
          corrected_eigenvalues(rows, gathered.shapes[p], factors, context_.memory().scratch_bytes);
      factors.corrected = factors.corrected.defined() ? factors.corrected + part : part;
    });
  }

  void add_factors(Gathered& gathered, size_t p, const std::vector<Rows>& rows) {
    KroneckerFactors& factors = gathered.factors[p];
    KroneckerShape& shape = gathered.shapes[p];
    if (!factors.defined()) shape = kronecker_shape(rows[0]);
    if (shape.kind == KroneckerShape::Kind::kNone) return;
    const Tensor output = output_factor(rows, shape, options_.weight_sharing);
    Tensor& first = shape.is_flipped || shape.kind == KroneckerShape::Kind::kVector ? factors.output
                                                                                    : factors.input;
    Tensor& second = shape.is_flipped ? factors.input : factors.output;
    first = first.defined() ? first.add_(output) : output;
    if (shape.kind == KroneckerShape::Kind::kMatrix && !second.defined()) {
      second = input_factor_of(p, rows[0]);
    }
  }

  // The inputs' factor does not depend on the columns: exact and sampled share it.
  Tensor input_factor_of(size_t p, const Rows& rows) {
    input_factors_.resize(context_.parameters().size());
    if (!input_factors_[p].defined()) {
      input_factors_[p] =
          input_factor(rows, options_.weight_sharing, context_.memory().scratch_bytes);
    }
    return input_factors_[p];
  }

  // The Hessian begins as the GGN, which is copied only where it is asked for itself.
  void take_exact_diagonals() {
    const bool is_asked = what_.has(CurvatureNeed::kDiagGgn) ||
                          what_.has(CurvatureNeed::kDiagGgnPerSample) ||
                          what_.has(CurvatureNeed::kTraceGgn);
    for (size_t p = 0; p < exact_.diagonal.size(); ++p) {
      if (is_asked) {
        hessian_.diagonal[p] = Diagonal();
        add(hessian_.diagonal[p], exact_.diagonal[p]);
      } else {
        hessian_.diagonal[p] = std::exchange(exact_.diagonal[p], Diagonal());
      }
    }
  }

  void add_residuals() {
    take_exact_diagonals();
    const std::vector<CoupledLayer>& coupled = context_.capture().coupled_layers;
    TORCH_CHECK_NOT_IMPLEMENTED(coupled.empty(),
                                "curvature: the Hessian with batch statistics held constant is "
                                "not computed (",
                                coupled.empty() ? "" : coupled.front().op,
                                "); put the layer in eval mode, or use the GGN");
    if (context_.knows_loss()) subtract_concave_part();
    ResidualOptions options;
    options.needs = hessian_.diagonals;
    options.max_slow_entries = options_.max_slow_entries;
    options.coverage = &result_.coverage;
    options.budget = &budget_;
    options.is_rehearsal = is_rehearsal_;
    add_hessian_residuals(context_, options, hessian_.diagonal);
  }

  // Subtracts what the GGN leaves out of a loss that is not convex.
  void subtract_concave_part() {
    const Loss concave = context_.loss().concave();
    if (concave.heads.empty()) return;
    ColumnsPass pass(context_.linearisation(), context_.parameters(), context_.samples(), nullptr);
    const int64_t piece = pass.columns_at_once(context_.memory().stack_bytes);
    const int64_t count = taken_of(concave.columns());
    for (int64_t begin = 0; begin < count; begin += piece) {
      pass.run(concave.factor(begin, std::min(begin + piece, count)),
               [&](size_t p, const std::vector<Rows>& rows) {
                 add_columns(hessian_.diagonal[p],
                             rows,
                             hessian_.diagonals,
                             -1,
                             context_.memory().scratch_bytes);
               });
    }
  }

  Curvature finish(const std::vector<KroneckerFactors>& averaged) {
    const auto& parameters = context_.parameters();
    result_.batch_size = context_.count();
    result_.total.name = "total";
    for (size_t p = 0; p < parameters.size(); ++p) {
      ParameterCurvature answers;
      answers.name = parameters[p].name;
      fill(answers, p);
      if (!averaged.empty()) answers.kfra = averaged[p];
      add_total(result_.total.trace_ggn, answers.trace_ggn);
      add_total(result_.total.trace_ggn_mc, answers.trace_ggn_mc);
      add_total(result_.total.trace_hessian, answers.trace_hessian);
      result_.parameters.push_back(std::move(answers));
    }
    context_.remark_one_by_one();
    result_.remarks = context_.remarks();
    return std::move(result_);
  }

  void fill(ParameterCurvature& answers, size_t p) const {
    const Tensor& tensor = context_.parameters()[p].tensor;
    const auto zeros = [&](bool is_wanted, const Tensor& value, bool per_sample, bool scalar) {
      if (!is_wanted || value.defined()) return is_wanted ? value : Tensor();
      Shape shape = scalar ? Shape() : tensor.sizes().vec();
      if (per_sample) shape.insert(shape.begin(), context_.count());
      return at::zeros(shape, tensor.options().requires_grad(false));
    };
    const auto take = [&](const Gathered& from,
                          CurvatureNeed diagonal,
                          CurvatureNeed per_sample,
                          CurvatureNeed trace,
                          Tensor& to_diagonal,
                          Tensor& to_per_sample,
                          Tensor& to_trace) {
      const Diagonal& values = from.diagonal[p];
      to_diagonal = zeros(what_.has(diagonal), values.diagonal, false, false);
      to_per_sample = zeros(what_.has(per_sample), values.per_sample, true, false);
      const bool is_left = what_.has(trace) && !values.trace.defined() && values.diagonal.defined();
      to_trace =
          zeros(what_.has(trace), is_left ? values.diagonal.sum() : values.trace, false, true);
    };
    using Need = CurvatureNeed;
    take(exact_,
         Need::kDiagGgn,
         Need::kDiagGgnPerSample,
         Need::kTraceGgn,
         answers.diag_ggn,
         answers.diag_ggn_per_sample,
         answers.trace_ggn);
    take(sampled_,
         Need::kDiagGgnMc,
         Need::kDiagGgnMcPerSample,
         Need::kTraceGgnMc,
         answers.diag_ggn_mc,
         answers.diag_ggn_mc_per_sample,
         answers.trace_ggn_mc);
    take(hessian_,
         Need::kDiagHessian,
         Need::kDiagHessianPerSample,
         Need::kTraceHessian,
         answers.diag_hessian,
         answers.diag_hessian_per_sample,
         answers.trace_hessian);
    if (what_.has(Need::kKflr)) answers.kflr = exact_.factors[p];
    if (what_.has(Need::kKfac)) answers.kfac = sampled_.factors[p];
  }

  static void add_total(Tensor& total, const Tensor& part) {
    if (part.defined()) total = total.defined() ? total + part : part;
  }

  CurvatureContext& context_;
  CurvatureNeeds what_;
  CurvatureOptions options_;
  Gathered exact_, sampled_, hessian_;
  std::vector<Tensor> input_factors_;
  Curvature result_;
  ColumnBudget budget_;
  bool is_rehearsal_;
  bool is_covered_ = false;
};

Curvature run_curvature(const Batch& batch,
                        CurvatureNeeds what,
                        const CurvatureOptions& options,
                        bool is_rehearsal) {
  TORCH_CHECK_VALUE(options.mc_samples > 0,
                    "curvature: options.mc_samples is ",
                    options.mc_samples,
                    " but must be at least 1; leave it at 1 if the Monte-Carlo needs are not used");
  return with_curvature_remedies([&] {
    CurvatureContext context(batch, CurvatureFrom::kRows);
    return CurvatureRun(context, what, options, is_rehearsal).run();
  });
}

}  // namespace

const ParameterCurvature& Curvature::at(const std::string& name) const {
  for (const auto& parameter : parameters) {
    if (parameter.name == name) return parameter;
  }
  TORCH_CHECK_INDEX(false,
                    "curvature: no parameter is named '",
                    name,
                    "' among the ",
                    parameters.size(),
                    " asked for; see coverage for their names");
}

Tensor Curvature::concatenated(Tensor ParameterCurvature::*field) const {
  std::vector<Tensor> parts;
  const bool has_rows = field == &ParameterCurvature::diag_ggn_per_sample ||
                        field == &ParameterCurvature::diag_ggn_mc_per_sample ||
                        field == &ParameterCurvature::diag_hessian_per_sample;
  for (const auto& parameter : parameters) {
    const Tensor& part = parameter.*field;
    TORCH_CHECK_VALUE(part.defined(),
                      "curvature: the field was not computed for '",
                      parameter.name,
                      "'; ask for it with its CurvatureNeed");
    parts.push_back(has_rows ? part.reshape({part.size(0), -1}) : part.reshape({-1}));
  }
  return at::cat(parts, has_rows ? 1 : 0);
}

Curvature curvature(const Batch& batch, CurvatureNeeds what, const CurvatureOptions& options) {
  return run_curvature(batch, what, options, /*is_rehearsal=*/false);
}

Curvature curvature(const Tensor& losses,
                    const Parameters& parameters,
                    CurvatureNeeds what,
                    const CurvatureOptions& options) {
  return curvature(Batch(losses, parameters), what, options);
}

Curvature curvature_coverage(const Batch& batch,
                             CurvatureNeeds what,
                             const CurvatureOptions& options) {
  Curvature rehearsed = run_curvature(batch, what, options, /*is_rehearsal=*/true);
  rehearsed.parameters.clear();
  rehearsed.total = ParameterCurvature();
  return rehearsed;
}

Curvature curvature_coverage(const Tensor& losses,
                             const Parameters& parameters,
                             CurvatureNeeds what,
                             const CurvatureOptions& options) {
  return curvature_coverage(Batch(losses, parameters), what, options);
}

}  // namespace flightdeck
