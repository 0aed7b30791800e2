// SPDX-License-Identifier: MIT
#include "curvature/context.h"

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

Capture capture_for(const Tensor& losses,
                    const Parameters& parameters,
                    const ContextOptions& options,
                    bool needs_rows) {
  GradientOptions own;
  own.batch_norm = options.batch_norm;
  own.batch_size = options.batch_size;
  own.reduction = options.reduction;
  Capture capture = capture_graph(losses, parameters, own);
  if (needs_rows) throw_refusals(capture);
  for (int64_t n : options.samples) {
    TORCH_CHECK_INDEX(n >= 0 && n < capture.N,
                      "curvature: options.samples contains ",
                      n,
                      " but the batch of ",
                      capture.N,
                      " has samples 0 to ",
                      capture.N - 1,
                      "; pass indices inside the batch");
  }
  return capture;
}

}  // namespace

CurvatureContext::CurvatureContext(const Tensor& losses,
                                   const Parameters& parameters,
                                   const ContextOptions& options,
                                   bool needs_rows)
    : losses_(losses),
      parameters_(parameters),
      options_(options),
      capture_(capture_for(losses, parameters, options, needs_rows)),
      linearisation_(capture_),
      count_(options.samples.empty() ? capture_.N : static_cast<int64_t>(options.samples.size())),
      remarks_(capture_.remarks) {
  const bool is_mean = capture_.is_scalar && options.reduction == Reduction::kMean;
  scale_ = is_mean ? static_cast<double>(capture_.N) : 1.0;
}

const Loss& CurvatureContext::loss() {
  if (!loss_) {
    loss_ = std::make_unique<Loss>(find_loss(linearisation_, losses_, options_.outputs, scale_));
    remarks_.insert(remarks_.end(), loss_->remarks.begin(), loss_->remarks.end());
  }
  return *loss_;
}

bool CurvatureContext::knows_loss() {
  try {
    loss();
    return true;
  } catch (const c10::NotImplementedError&) {
    return false;
  }
}

}  // namespace flightdeck
