// SPDX-License-Identifier: MIT
// curvature_operator(): the curvature matrices as maps of vectors.
#include "flightdeck/products.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "curvature/context.h"
#include "curvature/flat_parameters.h"
#include "curvature/loss_hessians.h"
#include "curvature/tangent_pass.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

bool is_positive_part(CurvatureKind kind) {
  return kind == CurvatureKind::kPchClip || kind == CurvatureKind::kPchAbs;
}

class GraphOperator final : public CurvatureOperator {
 public:
  GraphOperator(const Batch& batch, CurvatureKind kind, const ProductOptions& options)
      : kind_(kind),
        context_(batch, CurvatureFrom::kProducts),
        pass_(context_, weights()),
        blocks_(blocks_of(options.groups)),
        flat_(batch.parameters()) {
    check_scalar();
    const bool needs_loss =
        kind != CurvatureKind::kHessian &&
        (kind != CurvatureKind::kEmpiricalFisher || context_.capture().is_scalar);
    if (needs_loss) context_.loss();
  }

  int64_t dim() const override { return flat_.dim(); }
  at::TensorOptions options() const override { return flat_.options(); }
  const std::vector<std::string>& remarks() const override { return context_.remarks(); }

  Tensor multiply(const Tensor& vectors) const override {
    TORCH_CHECK_VALUE(vectors.dim() == 2 && vectors.size(1) == dim(),
                      "curvature: vectors have shape ",
                      vectors.sizes(),
                      " but must be [V, D] with D = ",
                      dim(),
                      ", one line per vector; flatten and concatenate, or use join");
    return with_curvature_remedies([&] {
      std::vector<Tensor> parts = split(vectors.detach());
      for (size_t p = 0; p < parts.size(); ++p) {
        parts[p] = parts[p].to(context_.parameters()[p].tensor.options().requires_grad(false));
      }
      std::vector<Tensor> results(parts.size());
      for (const std::vector<size_t>& block : blocks_) multiply_block(parts, block, results);
      for (size_t p = 0; p < parts.size(); ++p) {
        if (!results[p].defined()) results[p] = at::zeros_like(parts[p]);
      }
      pass_.clear();
      context_.remark_one_by_one();
      return join(results);
    });
  }

  std::vector<Tensor> split(const Tensor& vectors) const override { return flat_.split(vectors); }
  Tensor join(const std::vector<Tensor>& parts) const override { return flat_.join(parts); }

  Tensor gradient() const override {
    TORCH_CHECK_VALUE(!context_.capture().is_scalar || context_.samples().empty(),
                      "curvature: the gradient of ",
                      context_.samples().size(),
                      " chosen samples cannot be had from a scalar loss over ",
                      context_.capture().N,
                      "; hand over the individual losses [N]");
    return with_curvature_remedies([&] {
      std::vector<Tensor> parts;
      for (size_t p = 0; p < flat_.sizes().size(); ++p) {
        const Tensor& part = pass_.gradients()[p];
        parts.push_back(part.defined() ? part.reshape({-1}).to(options())
                                       : at::zeros({flat_.sizes()[p]}, options()));
      }
      return at::cat(parts);
    });
  }

 private:
  // Throws if the matrix is built from samples, and the scalar cannot be taken apart into theirs.
  void check_scalar() const {
    const Capture& capture = context_.capture();
    if (!capture.is_scalar || capture.N == 1 || kind_ == CurvatureKind::kHessian) return;
    if (kind_ == CurvatureKind::kEmpiricalFisher) throw_refusals(capture, context_.batch_norm());
    TORCH_CHECK_VALUE(capture.couplings.empty(),
                      "curvature: the scalar loss is no mean or sum over ",
                      capture.N,
                      " samples: ",
                      capture.couplings.front(),
                      " couples them; hand over the individual losses [N], or use the Hessian");
  }

  // Returns weights [N], or one entry for a scalar loss: the objective is the mean over the chosen
  // samples.
  Tensor weights() const {
    const Capture& capture = context_.capture();
    const auto options = context_.losses().options().requires_grad(false);
    const double share = 1.0 / static_cast<double>(context_.count());
    if (capture.is_scalar) {
      TORCH_CHECK_VALUE(context_.samples().empty() || kind_ == CurvatureKind::kGgn,
                        "curvature: options.samples chooses ",
                        context_.samples().size(),
                        " of ",
                        capture.N,
                        " samples, but a scalar loss cannot be taken apart; hand over the "
                        "individual losses [N]");
      return at::full({1}, context_.scale() / static_cast<double>(capture.N), options);
    }
    return sample_weights(options) * share;
  }

  // Returns one for chosen samples, zero for the others. A sample chosen twice counts twice.
  Tensor sample_weights(const at::TensorOptions& options) const {
    const int64_t N = context_.capture().N;
    if (context_.samples().empty()) return at::ones({N}, options);
    const Tensor index = at::tensor(context_.samples(), at::kLong).to(options.device());
    return at::zeros({N}, options).index_add_(0, index, at::ones({index.size(0)}, options));
  }

  std::vector<std::vector<size_t>> blocks_of(const std::vector<std::vector<size_t>>& given) const {
    const size_t count = context_.parameters().size();
    for (const auto& block : given) {
      for (size_t p : block) {
        TORCH_CHECK_INDEX(p < count,
                          "curvature: options.groups names parameter ",
                          p,
                          " but there are ",
                          count,
                          "; count from 0 in the order given");
      }
    }
    if (!given.empty()) return given;
    std::vector<std::vector<size_t>> blocks(is_positive_part(kind_) ? count : 1);
    for (size_t p = 0; p < count; ++p) blocks[is_positive_part(kind_) ? p : 0].push_back(p);
    return blocks;
  }

  void multiply_block(const std::vector<Tensor>& parts,
                      const std::vector<size_t>& block,
                      std::vector<Tensor>& results) const {
    std::vector<Tensor> vectors(parts.size());
    std::vector<bool> wanted(parts.size(), false);
    for (size_t p : block) {
      vectors[p] = parts[p];
      wanted[p] = true;
    }
    std::vector<Seed> seeds;
    if (kind_ == CurvatureKind::kHessian) {
      pass_.losses_tangents(vectors, /*keeps=*/true);
    } else if (kind_ == CurvatureKind::kEmpiricalFisher) {
      seeds = fisher_seeds(vectors);
    } else {
      seeds = output_seeds(vectors);
    }
    const std::vector<Tensor> back = pass_.back(seeds, wanted, bending_of(kind_));
    for (size_t p : block) results[p] = back[p];
  }

  // Returns H J v, weighted by sample.
  std::vector<Seed> output_seeds(const std::vector<Tensor>& vectors) const {
    const std::vector<Tensor> tangents =
        pass_.outputs_tangents(vectors, /*keeps=*/bending_of(kind_) != Bending::kNone);
    std::vector<Seed> seeds;
    const auto& heads = context_.loss().heads;
    for (size_t h = 0; h < heads.size(); ++h) {
      if (!tangents[h].defined()) continue;
      Tensor curved = heads[h].hessian->multiply(tangents[h]);
      // Both parts of the loss Hessian share its eigenvectors: their sum has the absolute values.
      if (kind_ == CurvatureKind::kPchAbs && heads[h].concave) {
        curved = curved + heads[h].concave->multiply(tangents[h]);
      }
      seeds.push_back(
          {heads[h].position, heads[h].output, weighted(curved, heads[h].layout), heads[h].layout});
    }
    return seeds;
  }

  // Returns <g_n, v> g_n, weighted by sample.
  std::vector<Seed> fisher_seeds(const std::vector<Tensor>& vectors) const {
    const Capture& capture = context_.capture();
    if (!capture.is_scalar) {
      const Tensor dots = pass_.losses_tangents(vectors, /*keeps=*/false);  // [V, N]
      if (!dots.defined()) return {};
      return {{0, capture.root_output, dots * weights(), Layout::batch(capture.N, 0)}};
    }
    TORCH_CHECK_VALUE(capture.shared_terms.empty(),
                      "curvature: the Fisher matrix of a scalar loss over ",
                      capture.N,
                      " samples with a term that all of them share (",
                      capture.shared_term_names().front(),
                      ") is not computed; hand over the individual losses [N], or set "
                      "options.shared_terms to kLeaveOut");
    const std::vector<Tensor> tangents = pass_.outputs_tangents(vectors, /*keeps=*/false);
    std::vector<Seed> seeds = context_.loss().gradients();
    const auto& heads = context_.loss().heads;
    Tensor dots;  // [V, N]
    for (const Seed& seed : seeds) {
      for (size_t h = 0; h < heads.size(); ++h) {
        if (heads[h].position != seed.position || heads[h].output != seed.output) continue;
        if (!tangents[h].defined()) break;
        const Tensor products = real_entries(tangents[h]) * real_entries(seed.stack);
        const Tensor part = per_sample(products, seed.layout).sum(2);
        dots = dots.defined() ? dots + part : part;
        break;  // a loss may read its outputs in two places
      }
    }
    if (!dots.defined()) return {};
    for (Seed& seed : seeds) {
      std::vector<Tensor> columns;
      for (const Tensor& dot : dots.unbind(0)) {
        columns.push_back(scale_samples(seed.stack.squeeze(0), seed.layout, dot));
      }
      seed.stack = weighted(at::stack(columns), seed.layout);
    }
    return seeds;
  }

  Tensor weighted(const Tensor& stack, const Layout& layout) const {
    const double share = 1.0 / static_cast<double>(context_.count());
    if (context_.samples().empty()) return stack * share;
    const Tensor weights = sample_weights(stack.options()) * share;
    return scale_samples(stack.contiguous(), layout.at_dim(layout.dim + 1), weights);
  }

  CurvatureKind kind_;
  mutable CurvatureContext context_;
  mutable TangentPass pass_;
  std::vector<std::vector<size_t>> blocks_;
  FlatParameters flat_;
};

}  // namespace

std::shared_ptr<const CurvatureOperator> curvature_operator(const Batch& batch,
                                                            CurvatureKind kind,
                                                            const ProductOptions& options) {
  return with_curvature_remedies([&]() -> std::shared_ptr<const CurvatureOperator> {
    return std::make_shared<GraphOperator>(batch, kind, options);
  });
}

std::shared_ptr<const CurvatureOperator> curvature_operator(const Tensor& losses,
                                                            const Parameters& parameters,
                                                            CurvatureKind kind,
                                                            const ProductOptions& options) {
  return curvature_operator(Batch(losses, parameters), kind, options);
}

}  // namespace flightdeck
