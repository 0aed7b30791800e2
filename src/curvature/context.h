// SPDX-License-Identifier: MIT
// What every question about curvature starts from: the graph read, the loss found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "curvature/loss_head.h"
#include "flightdeck/gradients.h"

namespace flightdeck {

struct ContextOptions {
  std::vector<int64_t> samples;
  Tensor outputs;
  BatchNormPolicy batch_norm = BatchNormPolicy::kRefuse;
  SharedTerms shared_terms = SharedTerms::kKeep;
  int64_t batch_size = 0;
  Reduction reduction = Reduction::kMean;
};

/// Keeps the graph alive.
class CurvatureContext {
 public:
  /// Throws on bad input. Refusals (training-mode batch norm) throw only with `needs_rows`.
  CurvatureContext(const Tensor& losses,
                   const Parameters& parameters,
                   const ContextOptions& options,
                   bool needs_rows);
  CurvatureContext(const CurvatureContext&) = delete;
  CurvatureContext& operator=(const CurvatureContext&) = delete;

  const Tensor& losses() const { return losses_; }
  const Parameters& parameters() const { return parameters_; }
  const Capture& capture() const { return capture_; }
  Linearisation& linearisation() { return linearisation_; }
  /// Found when first asked for; throws if it is not a known one and no outputs were given.
  const Loss& loss();
  /// False if asking for it would throw because it is not a known one.
  bool knows_loss();
  /// The gradient of each individual loss as one column. At the heads, unless terms past them or
  /// coupled samples make what flows there another gradient: then at the losses.
  std::vector<Seed> gradient_seeds();
  /// Nodes from the loss heads down to the parameters.
  std::vector<bool> below_heads();
  /// Individual losses are the gradient seed `scale` at the caller's losses.
  double scale() const { return scale_; }
  /// Samples chosen, or all N.
  int64_t count() const { return count_; }
  const std::vector<int64_t>& samples() const { return options_.samples; }
  SharedTerms shared_terms() const { return options_.shared_terms; }
  std::vector<std::string>& remarks() { return remarks_; }
  /// Remarks about ops that were applied column by column since the last call.
  void remark_one_by_one();

 private:
  Tensor losses_;
  Parameters parameters_;
  ContextOptions options_;
  Capture capture_;
  Linearisation linearisation_;
  double scale_;
  int64_t count_;
  std::unique_ptr<Loss> loss_;
  std::vector<std::string> remarks_;
};

/// Scratch memory for one operation: more on a GPU, whose kernels want large work.
int64_t scratch_for(const Parameters& parameters, int64_t bytes);

/// Runs the body with our arithmetic; PyTorch's errors about the graph come out with their remedy.
template <typename Body>
auto with_curvature_remedies(const Body& body) {
  const compat::PassGuard guard;
  try {
    return body();
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    TORCH_CHECK(what.find("backward through the graph a second time") == std::string::npos,
                "curvature: the graph behind losses was already freed by a backward pass; ask for "
                "curvature before backward(), or keep the graph with retain_graph");
    TORCH_CHECK(what.find("modified by an inplace operation") == std::string::npos,
                "curvature: a tensor the graph saved for its backward pass was modified in place: ",
                what,
                "; do the in-place change afterwards, or on a clone");
    throw;
  }
}

}  // namespace flightdeck
