// SPDX-License-Identifier: MIT
#include "cockpit/step_checks.h"

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

void check_losses(const Batch& batch) {
  const Tensor& losses = batch.losses();
  TORCH_CHECK_VALUE(losses.defined(), "watch: losses is undefined; give the individual losses [N]");
  TORCH_CHECK_VALUE(at::isFloatingType(losses.scalar_type()),
                    "watch: losses has type ",
                    losses.scalar_type(),
                    "; give floating-point losses");
  TORCH_CHECK_VALUE(losses.requires_grad(),
                    "watch: losses does not depend on a parameter that requires gradients; compute "
                    "it with gradient mode on, and do not detach it");
  TORCH_CHECK_VALUE(losses.dim() <= 1,
                    "watch: losses has shape ",
                    losses.sizes(),
                    "; give one loss per sample [N] (average over outputs and positions first)");
  const int64_t batch_size = batch.options().batch_size;
  if (losses.dim() == 1) {
    TORCH_CHECK_VALUE(losses.size(0) > 0, "watch: losses is empty; give one loss per sample");
    TORCH_CHECK_VALUE(batch_size == 0 || batch_size == losses.size(0),
                      "watch: batch_size is ",
                      batch_size,
                      " but losses has ",
                      losses.size(0),
                      " entries; drop batch_size, or give the losses of the whole batch");
    return;
  }
  TORCH_CHECK_VALUE(
      batch_size > 0,
      "watch: losses is a scalar and batch_size is ",
      batch_size,
      " because its graph does not tell; give the individual losses [N], or a Batch with "
      "the number of samples the scalar was reduced from");
}

void check_parameters_of(const Batch& batch, const Parameters& watched) {
  const Parameters& given = batch.parameters();
  bool is_same = given.size() == watched.size();
  for (size_t p = 0; is_same && p < watched.size(); ++p) {
    is_same = given[p].tensor.is_same(watched[p].tensor);
  }
  TORCH_CHECK_VALUE(is_same,
                    "watch: the batch has ",
                    given.size(),
                    " parameters that are not the ",
                    watched.size(),
                    " of the cockpit in their order; make it of cockpit.parameters()");
}

}  // namespace

int64_t checked_size(const Batch& batch, const Parameters& watched) {
  check_losses(batch);
  check_parameters_of(batch, watched);
  TORCH_CHECK_VALUE(batch.options().samples.empty(),
                    "watch: the batch is restricted to ",
                    batch.options().samples.size(),
                    " of ",
                    batch.size(),
                    " samples; give the whole batch, and choose samples in the quantities");
  return batch.size();
}

Tensor checked_inputs(const Tensor& inputs, int64_t N) {
  if (!inputs.defined()) return {};
  TORCH_CHECK_VALUE(inputs.dim() > 0 && inputs.size(0) == N,
                    "watch: inputs has shape ",
                    inputs.sizes(),
                    " but the batch has ",
                    N,
                    " samples; give them with the samples first, [",
                    N,
                    ", ...]");
  return inputs.detach();
}

}  // namespace flightdeck
