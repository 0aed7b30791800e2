// SPDX-License-Identifier: MIT
// What every question about curvature starts from: the graph read, the loss found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "curvature/loss_head.h"
#include "flightdeck/batch.h"

namespace flightdeck {

// Tells what a question about curvature is made of.
enum class CurvatureFrom {
  kRows,      // rows and columns of samples: the batch-norm policy decides, refusals are thrown
  kProducts,  // the losses as they are, whatever couples their samples
};

// Keeps the graph alive.
class CurvatureContext {
 public:
  // Throws on bad input.
  CurvatureContext(const Batch& batch, CurvatureFrom from);
  CurvatureContext(const CurvatureContext&) = delete;
  CurvatureContext& operator=(const CurvatureContext&) = delete;

  const Batch& batch() const { return batch_; }
  const Tensor& losses() const { return batch_.losses(); }
  const Parameters& parameters() const { return batch_.parameters(); }
  const Capture& capture() const { return *capture_; }
  Linearisation& linearisation() { return linearisation_; }
  // Finds the loss when first asked for it. Throws if it is not a known one and no outputs were
  // given.
  const Loss& loss();
  // Returns false if `loss` would throw because the loss is not a known one.
  bool knows_loss();
  // Returns the gradient of each individual loss as one column. It starts at the heads, unless
  // terms past them or coupled samples make what flows there another gradient: then at the losses.
  std::vector<Seed> gradient_seeds();
  std::vector<Seed> seeds_at_losses() const;
  // Marks the nodes from the loss heads down to the parameters.
  std::vector<bool> below_heads();
  // A seed of `scale` at the caller's losses sends back the gradients of the individual losses.
  double scale() const { return scale_; }
  // Counts the chosen samples, or all N.
  int64_t count() const { return count_; }
  const std::vector<int64_t>& samples() const { return batch_.options().samples; }
  BatchNormPolicy batch_norm() const { return batch_norm_; }
  // Returns the limits, with more scratch memory on a GPU, whose kernels want large work.
  const MemoryLimits& memory() const { return memory_; }
  std::vector<std::string>& remarks() { return remarks_; }
  // Adds remarks about ops that were applied column by column since the last call.
  void remark_one_by_one();

 private:
  Batch batch_;
  std::shared_ptr<const Capture> capture_;
  BatchNormPolicy batch_norm_;
  MemoryLimits memory_;
  Linearisation linearisation_;
  double scale_;
  int64_t count_;
  std::unique_ptr<Loss> loss_;
  std::vector<std::string> remarks_;
};

// Runs the body with our arithmetic; PyTorch's errors about the graph come out with their remedy.
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
