// SPDX-License-Identifier: MIT
#include "flightdeck/ggn_factor.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "curvature/columns_pass.h"
#include "curvature/context.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

class FactorWriter {
 public:
  FactorWriter(const Batch& batch, const GgnFactorOptions& options)
      : context_(batch, CurvatureFrom::kRows),
        pass_(context_.linearisation(), batch.parameters(), context_.samples(), nullptr) {
    TORCH_CHECK_VALUE(options.mc_samples > 0,
                      "ggn factor: options.mc_samples is ",
                      options.mc_samples,
                      " but must be at least 1; leave it at 1 for exact columns");
    is_sampled_ = options.columns == LossColumns::kSampled;
    if (is_sampled_) {
      at::Generator generator = at::detail::createCPUGenerator(options.seed);
      sampled_ = context_.loss().sample(options.mc_samples, generator);
    }
    K_ = is_sampled_ ? options.mc_samples : context_.loss().columns();
  }

  std::vector<ParameterFactor> write() {
    std::vector<ParameterFactor> factors;
    for (const auto& [name, tensor] : context_.parameters()) {
      Shape shape = with_lead(K_, with_lead(context_.count(), tensor.sizes().vec()));
      factors.push_back({name, at::zeros(shape, tensor.options().requires_grad(false))});
    }
    const int64_t piece = pass_.columns_at_once(context_.memory().stack_bytes);
    for (int64_t begin = 0; begin < K_; begin += piece) {
      pass_.run(seeds(begin, std::min(begin + piece, K_)),
                [&](size_t p, const std::vector<Rows>& columns) {
                  for (size_t k = 0; k < columns.size(); ++k) {
                    factors[p]
                        .factor.select(0, begin + static_cast<int64_t>(k))
                        .copy_(columns[k].dense(0, columns[k].N()));
                  }
                });
    }
    return factors;
  }

 private:
  std::vector<Seed> seeds(int64_t begin, int64_t end) {
    if (!is_sampled_) return context_.loss().factor(begin, end);
    std::vector<Seed> some = sampled_;
    for (Seed& seed : some) seed.stack = seed.stack.slice(0, begin, end);
    return some;
  }

  CurvatureContext context_;
  ColumnsPass pass_;
  bool is_sampled_ = false;
  std::vector<Seed> sampled_;
  int64_t K_ = 0;
};

}  // namespace

std::vector<ParameterFactor> ggn_factor(const Batch& batch, const GgnFactorOptions& options) {
  return with_curvature_remedies([&] { return FactorWriter(batch, options).write(); });
}

}  // namespace flightdeck
