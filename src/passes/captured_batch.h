// SPDX-License-Identifier: MIT
// A batch as a pass sees it: the capture and the choices that go with it. It does not hold the
// graph, so that a watch leaves the graph's life to the caller.
#pragma once

#include <memory>
#include <vector>

#include "passes/capture.h"

namespace flightdeck {

struct CapturedBatch {
  // Captures the graph unless that was done before.
  explicit CapturedBatch(const Batch& batch)
      : capture(capture_of(batch)),
        parameters(batch.parameters()),
        losses(batch.losses().detach()),
        samples(batch.options().samples),
        reduction(batch.options().reduction),
        batch_norm(batch.options().batch_norm),
        memory(batch.options().memory) {}

  // Counts the rows: S chosen samples, or N.
  int64_t count() const {
    return samples.empty() ? capture->N : static_cast<int64_t>(samples.size());
  }
  bool needs_own_pass() const { return capture->needs_own_pass(batch_norm); }

  std::shared_ptr<const Capture> capture;
  Parameters parameters;
  Tensor losses;  // detached
  std::vector<int64_t> samples;
  Reduction reduction;
  BatchNormPolicy batch_norm;
  MemoryLimits memory;
};

}  // namespace flightdeck
