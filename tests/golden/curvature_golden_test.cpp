// SPDX-License-Identifier: MIT
// Curvature against numbers of BackPACK and ViViT and against recorded dense matrices; README.md
// beside this file says where the numbers come from.
#include "curvature/dense_oracle.h"
#include "golden/recording.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

class RecordedCurvature : public RecordedCase {
 protected:
  Parameters parameters() const { return model_->named_parameters(); }

  void expect_recorded(const Tensor& actual, const std::string& name) const {
    expect_close(actual, recording_->at(name), name, kCurvatureTolerance);
  }

  void expect_diagonals(const Curvature& answers) const {
    const size_t count = parameters().size();
    const auto expect = [&](Tensor ParameterCurvature::*field, const char* name, bool is_stack) {
      expect_close(answers.concatenated(field),
                   recording_->concatenated(name, count, is_stack),
                   name,
                   kCurvatureTolerance);
    };
    expect(&ParameterCurvature::diag_ggn, "bp/diag_ggn_exact", false);
    expect(&ParameterCurvature::diag_ggn_per_sample, "bp/diag_ggn_exact_batch", true);
    expect(&ParameterCurvature::diag_hessian, "bp/diag_h", false);
    expect(&ParameterCurvature::diag_hessian_per_sample, "bp/diag_h_batch", true);
  }

  void expect_factors(const Curvature& answers,
                      KroneckerFactors ParameterCurvature::*field,
                      const std::string& name) const {
    for (size_t i = 0; i < answers.parameters.size(); ++i) {
      const KroneckerFactors& factors = answers.parameters[i].*field;
      const std::string entry = name + "/" + std::to_string(i);
      expect_recorded(factors.output, entry + "/factor0");
      ASSERT_EQ(factors.input.defined(), parameters()[i].tensor.dim() > 1) << entry;
      if (factors.input.defined()) expect_recorded(factors.input, entry + "/factor1");
    }
  }

  // Recorded with one column per class; a factor of the loss Hessian may do with fewer.
  void expect_spectrum(const Tensor& values, const std::string& name) const {
    const Tensor recorded = recording_->at(name);
    const int64_t count = std::min(values.numel(), recorded.numel());
    const Tensor missing = at::zeros({recorded.numel() - count}, recorded.options());
    const Tensor leading = values.slice(0, 0, count).flip(0);  // recorded in ascending order
    expect_recorded(at::cat({missing, leading}), name);
  }

  // The leading eigenpairs of one tag and what lies along them.
  void expect_vivit(const Vivit& vivit, const std::string& tag) const {
    expect_spectrum(vivit.gram_eigenvalues(), tag + "/gram_eigvals");
    const int64_t count = recording_->at(tag + "/top_eigvals").numel();
    expect_recorded(vivit.eigenvalues().slice(0, 0, count).flip(0), tag + "/top_eigvals");
    expect_directions(vivit.eigenvectors(count), tag + "/top_eigvecs");
    expect_derivatives(vivit, tag, count);
    for (const char* damping : {"1.0", "0.01"}) {
      const Tensor delta = at::full({1}, std::stod(damping), doubles());
      const std::vector<Tensor> step = vivit.newton_step(delta, count);
      for (size_t i = 0; i < step.size(); ++i) {
        const std::string name = tag + "/newton_damping" + damping + "/" + std::to_string(i);
        expect_recorded(step[i], name);
      }
    }
  }

  // Equal up to the sign of each.
  void expect_directions(const std::vector<Tensor>& parts, const std::string& name) const {
    std::vector<Tensor> flat;
    for (const Tensor& part : parts) flat.push_back(part.flip(0).flatten(1));
    const Tensor recorded = recording_->concatenated(name, parts.size(), /*is_stack=*/true);
    const Tensor vectors = at::cat(flat, 1);
    const Tensor signs = (vectors * recorded).sum(1, /*keepdim=*/true).sign();
    expect_close(vectors * signs, recorded, name, kCurvatureTolerance);
  }

  void expect_derivatives(const Vivit& vivit, const std::string& tag, int64_t count) const {
    expect_close(vivit.gammas(count).flip(1).abs(),
                 recording_->at(tag + "/gammas").abs(),
                 tag + "/gammas",
                 kCurvatureTolerance);
    expect_recorded(vivit.lambdas(count).flip(1), tag + "/lambdas");
  }
};

TEST_P(RecordedCurvature, HasTheRecordedDiagonals) {
  const CurvatureNeeds what = CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagGgnPerSample |
                              CurvatureNeed::kDiagHessian | CurvatureNeed::kDiagHessianPerSample;
  expect_diagonals(curvature(losses(), parameters(), what));
  BatchOptions options;
  options.batch_size = batch_size();
  expect_diagonals(curvature(Batch(mean_loss(), parameters(), options), what));
}

TEST_P(RecordedCurvature, HasTheRecordedKroneckerFactors) {
  const Curvature answers =
      curvature(losses(), parameters(), CurvatureNeed::kKflr | CurvatureNeed::kKfra);
  expect_factors(answers, &ParameterCurvature::kflr, "bp/kflr");
  expect_factors(answers, &ParameterCurvature::kfra, "bp/kfra");
}

TEST_P(RecordedCurvature, HasTheRecordedMatricesAndSpectra) {
  const Tensor units = at::eye(entries_of(parameters()), doubles());
  const auto matrix = [&](CurvatureKind kind) {
    return curvature_operator(losses(), parameters(), kind)->multiply(units);
  };
  const Tensor ggn = matrix(CurvatureKind::kGgn);
  const Tensor hessian = matrix(CurvatureKind::kHessian);
  expect_recorded(ggn, "dense/ggn");
  expect_recorded(hessian, "dense/hessian");
  expect_recorded(at::linalg_eigvalsh(ggn), "dense/ggn_eigvals");
  expect_recorded(at::linalg_eigvalsh(hessian), "dense/hessian_eigvals");
}

TEST_P(RecordedCurvature, HasTheRecordedTracesAndLargestEigenvalue) {
  const Tensor own = losses();
  const Curvature answers = curvature(
      own, model_->named_parameters(), CurvatureNeed::kTraceGgn | CurvatureNeed::kTraceHessian);
  std::vector<Tensor> ggn, hessian;
  for (const ParameterCurvature& parameter : answers.parameters) {
    ggn.push_back(parameter.trace_ggn);
    hessian.push_back(parameter.trace_hessian);
  }
  expect_recorded(at::stack(ggn), "ck/step0/HessTrace_ggn");
  expect_recorded(at::stack(hessian), "ck/step0/HessTrace");
  EigenOptions search;
  search.tolerance = 1e-12;
  const auto op = curvature_operator(own, model_->named_parameters(), CurvatureKind::kHessian);
  const Eigenpairs pairs = eigenpairs(*op, search);
  EXPECT_TRUE(pairs.all_converged());
  expect_close(pairs.values,
               recording_->at("dense/hessian_eigvals").slice(0, -1).cpu(),
               "largest eigenvalue",
               kCurvatureTolerance);
}

TEST_P(RecordedCurvature, HasTheRecordedDirectionsOfTheMiniBatch) {
  expect_vivit(Vivit(losses(), parameters()), "vivit/mb");
}

TEST_P(RecordedCurvature, HasTheRecordedDirectionsOfASubset) {
  const Batch batch(losses(), parameters());
  expect_vivit(Vivit(batch.of(recording_->samples("sub_idx"))), "vivit/sub");
}

TEST_P(RecordedCurvature, HasTheRecordedDerivativesOfTwoSubsets) {
  const Batch batch(losses(), parameters());
  VivitOptions options;
  options.gradient_samples = recording_->samples("sub_grad_idx");
  const std::string tag = "vivit/subgrad_subggn";
  const int64_t count = recording_->at(tag + "/gammas").size(1);
  expect_derivatives(Vivit(batch.of(recording_->samples("sub_idx")), options), tag, count);
}

TEST_P(RecordedCurvature, HasTheRecordedSpectraOfItsBlocks) {
  VivitOptions options;
  options.groups = each_alone(parameters());
  const Vivit vivit(losses(), parameters(), options);
  for (size_t i = 0; i < parameters().size(); ++i) {
    expect_spectrum(vivit.gram_eigenvalues(i), "vivit/blockdiag/gram_eigvals/" + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(BackPack,
                         RecordedCurvature,
                         ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace flightdeck::tests
