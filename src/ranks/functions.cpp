// SPDX-License-Identifier: MIT
// Ranks whose collectives are given as functions, for instance by Python's torch.distributed.
#include <string>
#include <utility>

#include "flightdeck/ranks.h"

namespace flightdeck {
namespace {

class ByFunctions final : public Ranks {
 public:
  explicit ByFunctions(RanksFunctions functions) : functions_(std::move(functions)) {}

  int64_t size() const override { return functions_.size; }
  int64_t rank() const override { return functions_.rank; }
  at::Device device() const override { return functions_.device; }
  Tensor sum(const Tensor& own) override { return checked(functions_.sum(own), own, "sum"); }
  Tensor max(const Tensor& own) override { return checked(functions_.max(own), own, "max"); }
  Tensor min(const Tensor& own) override { return checked(functions_.min(own), own, "min"); }
  Tensor gather(const Tensor& own) override {
    Tensor all = functions_.gather(own);
    TORCH_CHECK_VALUE(all.defined() && all.numel() == own.numel() * size(),
                      "ranks: gather of ",
                      own.sizes(),
                      " on ",
                      size(),
                      " ranks gave ",
                      all.defined() ? all.numel() : 0,
                      " numbers; return those of all ranks, [W, ...]");
    return all;
  }

 private:
  static Tensor checked(Tensor result, const Tensor& own, const char* name) {
    TORCH_CHECK_VALUE(result.defined() && result.sizes().equals(own.sizes()),
                      "ranks: ",
                      name,
                      " of a tensor of shape ",
                      own.sizes(),
                      " gave another shape; return one of the same shape");
    return result;
  }

  RanksFunctions functions_;
};

}  // namespace

std::shared_ptr<Ranks> ranks_by(RanksFunctions functions) {
  TORCH_CHECK_VALUE(functions.size > 0 && functions.rank >= 0 && functions.rank < functions.size,
                    "ranks_by: rank ",
                    functions.rank,
                    " of ",
                    functions.size,
                    " does not exist; give ranks from 0 to below the size");
  const bool is_whole = functions.sum && functions.max && functions.min && functions.gather;
  TORCH_CHECK_VALUE(is_whole, "ranks_by: a function is missing; give sum, max, min and gather");
  return std::make_shared<ByFunctions>(std::move(functions));
}

}  // namespace flightdeck
