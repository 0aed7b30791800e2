// SPDX-License-Identifier: MIT
// Products with the matrix of all ranks' samples.
#include <exception>
#include <utility>

#include <ATen/ATen.h>

#include "flightdeck/ranks.h"

namespace flightdeck {
namespace {

class MeanOfRanks final : public LinearOperator {
 public:
  MeanOfRanks(std::shared_ptr<const LinearOperator> own,
              int64_t samples,
              std::shared_ptr<Ranks> ranks)
      : own_(std::move(own)), samples_(samples), ranks_(std::move(ranks)) {}

  int64_t dim() const override { return own_->dim(); }
  at::TensorOptions options() const override { return own_->options(); }

  // Sums products, samples and failures in one collective: a rank that failed still takes part.
  Tensor multiply(const Tensor& vectors) const override {
    const auto doubles = at::TensorOptions(at::kDouble).device(ranks_->device());
    Tensor packed = at::zeros({vectors.numel() + 2}, doubles);
    std::exception_ptr failure;
    try {
      if (samples_ > 0) {
        const Tensor products = own_->multiply(vectors);
        packed.slice(0, 2).copy_(products.reshape({-1}));
        packed.slice(0, 2).mul_(static_cast<double>(samples_));
        packed[0].fill_(static_cast<double>(samples_));
      }
    } catch (...) {
      failure = std::current_exception();
      packed.zero_();
      packed[1].fill_(1);
    }
    const Tensor sum = ranks_->sum(packed);
    if (failure) std::rethrow_exception(failure);
    const auto failures = sum[1].item<double>();
    TORCH_CHECK(failures == 0,
                "product over ranks: it failed on ",
                failures,
                " of ",
                ranks_->size(),
                " ranks, which say why");
    TORCH_CHECK(sum[0].item<double>() > 0,
                "product over ranks: none of the ",
                ranks_->size(),
                " ranks has a sample");
    return (sum.slice(0, 2) / sum[0]).to(vectors.options()).view(vectors.sizes());
  }

 private:
  std::shared_ptr<const LinearOperator> own_;
  int64_t samples_;
  std::shared_ptr<Ranks> ranks_;
};

}  // namespace

std::shared_ptr<const LinearOperator> over_ranks(std::shared_ptr<const LinearOperator> own,
                                                 int64_t samples,
                                                 std::shared_ptr<Ranks> ranks) {
  TORCH_CHECK_VALUE(own && ranks, "over_ranks: an operator or ranks are null; give both");
  TORCH_CHECK_VALUE(samples >= 0, "over_ranks: samples is ", samples, "; give 0 or more");
  return std::make_shared<MeanOfRanks>(std::move(own), samples, std::move(ranks));
}

}  // namespace flightdeck
