// SPDX-License-Identifier: MIT
// Processes that train one model together: what a cockpit and an operator need of them, and where
// that comes from.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include "flightdeck/operator.h"

namespace c10d {
class Backend;
class ProcessGroup;
}  // namespace c10d

namespace flightdeck {

using at::Tensor;

struct Curvature;  // flightdeck/curvature.h

/// Some processes (or threads), numbered from 0. All calls but `size`, `rank` and `device` are
/// collective: every rank makes the same ones in the same order, with float64 tensors of one shape
/// on `device()`, and all get the same result, to the bit. A call that fails throws; the ranks are
/// of no use from then on.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int64_t size() const = 0;  ///< W
  virtual int64_t rank() const = 0;  ///< of this process, from 0
  virtual at::Device device() const { return at::kCPU; }
  /// Entry by entry over all ranks. What is passed in stays as it is.
  virtual Tensor sum(const Tensor& own) = 0;
  virtual Tensor max(const Tensor& own) = 0;
  virtual Tensor min(const Tensor& own) = 0;
  /// Those of all ranks in their order, [W, ...].
  virtual Tensor gather(const Tensor& own) = 0;
};

/// Ranks that are threads of this process, for tests: give one to each thread. A call throws on all
/// that joined it where others do not within the timeout, or where a rank was destroyed before.
[[nodiscard]] std::vector<std::shared_ptr<Ranks>> ranks_in_threads(
    int64_t size, std::chrono::milliseconds timeout = std::chrono::minutes(1));

/// Ranks by functions of another library, or of another language.
struct RanksFunctions {
  using Reduce = std::function<Tensor(const Tensor& own)>;
  int64_t size = 1, rank = 0;
  at::Device device = at::kCPU;
  Reduce sum, max, min, gather;
};
[[nodiscard]] std::shared_ptr<Ranks> ranks_by(RanksFunctions functions);

/// Ranks of a process group of torch.distributed (Gloo on the CPU, NCCL with a CUDA device). Give a
/// group of its own, or one that nobody uses between the end of a backward pass and the end of its
/// watch. How long it waits for a process that is gone is the group's timeout. Throws where
/// LibTorch was built without them.
[[nodiscard]] std::shared_ptr<Ranks> ranks_of(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                              at::Device device = at::kCPU);
/// The same of what is behind a group since LibTorch 2.0.
[[nodiscard]] std::shared_ptr<Ranks> ranks_of(const c10::intrusive_ptr<c10d::Backend>& backend,
                                              at::Device device = at::kCPU);

/// The mean of the ranks' matrices, each weighted with its number of samples: the matrix of all
/// their samples together. `multiply` is collective. A rank without samples gives 0 of them; what
/// its own product throws is thrown on all ranks.
[[nodiscard]] std::shared_ptr<const LinearOperator> over_ranks(
    std::shared_ptr<const LinearOperator> own, int64_t samples, std::shared_ptr<Ranks> ranks);

/// Diagonals, traces and the factors of KFAC and KFLR of all ranks' samples: means weighted with
/// the samples of each rank. What is no mean over samples (KFRA, EKFAC's correction, answers per
/// sample) is left undefined. Collective, one maximum and one sum; throws on all ranks where they
/// have other answers.
[[nodiscard]] Curvature over_ranks(const Curvature& own, Ranks& ranks);

}  // namespace flightdeck
