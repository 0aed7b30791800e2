// SPDX-License-Identifier: MIT
// averaged_blocks(): explicit curvature blocks from batch-averaged Hessian backpropagation.
#include <ATen/ATen.h>

#include "curvature/averaged.h"
#include "flightdeck/products.h"

namespace flightdeck {
namespace {

// Stands for the block of a weight [J, I] that enters as V_n = W X_n with X_n [I, P]: the mean over
// n of (X_n ⊗ I) H (X_nᵀ ⊗ I), where H [J P, J P] is the curvature of V.
class PatchBlock final : public LinearOperator {
 public:
  // Takes inputs [n, P, I] and a matrix over [J, P] or, with `positions_first`, over [P, J].
  PatchBlock(Tensor inputs, Tensor matrix, bool positions_first, bool is_flipped)
      : inputs_(std::move(inputs)),
        matrix_(std::move(matrix)),
        positions_first_(positions_first),
        is_flipped_(is_flipped),
        J_(matrix_.size(0) / inputs_.size(1)) {}

  int64_t dim() const override { return J_ * inputs_.size(2); }
  at::TensorOptions options() const override { return matrix_.options(); }

  Tensor multiply(const Tensor& vectors) const override {
    const at::NoGradGuard guard;
    const int64_t V = vectors.size(0), P = inputs_.size(1), I = inputs_.size(2);
    const Tensor w = is_flipped_ ? vectors.view({V, J_, I}).transpose(1, 2)
                                 : vectors.view({V, I, J_});  // [V, I, J]
    Tensor total = at::zeros({V, I, J_}, options());
    for (const Tensor& x : inputs_.unbind(0)) {  // [P, I]
      const Tensor moved = at::matmul(x, w);     // [V, P, J]
      const Tensor ordered = positions_first_ ? moved : moved.transpose(1, 2);
      const Tensor curved = at::mm(ordered.reshape({V, -1}), matrix_);
      const Tensor back =
          positions_first_ ? curved.view({V, P, J_}) : curved.view({V, J_, P}).transpose(1, 2);
      total += at::matmul(x.t(), back);
    }
    total /= static_cast<double>(inputs_.size(0));
    return (is_flipped_ ? total.transpose(1, 2) : total).reshape({V, -1});
  }

 private:
  Tensor inputs_, matrix_;
  bool positions_first_, is_flipped_;
  int64_t J_;
};

std::shared_ptr<const LinearOperator> weight_block(const Rows& rows,
                                                   const KroneckerShape& shape,
                                                   const Tensor& matrix,
                                                   BatchAverage average) {
  Tensor inputs = rows.terms()[0].form->position_inputs();  // [N, P, I]
  if (average == BatchAverage::kJacobians) inputs = inputs.mean(0, true);
  const bool is_convolution = rows.terms()[0].form->is_flipped();
  if (inputs.size(1) > 1) {
    return std::make_shared<PatchBlock>(
        inputs.contiguous(), matrix, /*positions_first=*/!is_convolution, shape.is_flipped);
  }
  KroneckerFactors factors;
  factors.output = matrix;
  factors.input = symmetric_product(inputs.flatten(0, 1)).div_(double(inputs.size(0)));
  if (!shape.is_flipped) std::swap(factors.input, factors.output);
  return kronecker_operator(factors);
}

}  // namespace

std::vector<AveragedBlock> averaged_blocks(const Batch& batch,
                                           const AveragedBlocksOptions& options) {
  TORCH_CHECK_VALUE(options.kind != CurvatureKind::kEmpiricalFisher,
                    "averaged_blocks: the empirical Fisher is not propagated as a matrix; choose "
                    "kGgn, kHessian, kPchClip or kPchAbs");
  return with_curvature_remedies([&] {
    CurvatureContext context(batch, CurvatureFrom::kRows);
    const Parameters& parameters = context.parameters();
    TORCH_CHECK_NOT_IMPLEMENTED(
        options.kind == CurvatureKind::kGgn || context.capture().shared_terms.empty(),
        "averaged_blocks: the losses contain a term that all samples share (",
        context.capture().shared_term_names().front(),
        "), whose curvature is not propagated; set options.shared_terms to kLeaveOut and add it");
    AveragedChain::Options followed;
    followed.average = options.average;
    followed.bending = bending_of(options.kind);
    followed.what = "averaged_blocks";
    followed.pch_order = options.pch_order;
    followed.follows_branches = true;
    AveragedChain chain(context, followed);
    const BatchAverage of_parameters = options.parameter_average.value_or(options.average);
    std::vector<AveragedBlock> blocks;
    for (const auto& [name, tensor] : parameters) blocks.push_back({name, nullptr});
    chain.run([&](const AveragedChain::Use& use) {
      const NodeView view(context.capture().nodes[use.position].node);
      for (const auto& [p, rows, shape, is_bias] : use.parameters) {
        TORCH_CHECK_NOT_IMPLEMENTED(
            is_bias || shape.kind == KroneckerShape::Kind::kMatrix,
            "averaged_blocks: parameter '",
            parameters[p].name,
            "' of ",
            view.name(),
            " is neither a weight nor a bias of a linear layer or convolution; leave it out");
        blocks[p].block = is_bias ? std::make_shared<DenseOperator>(use.folded())
                                  : weight_block(rows, shape, use.matrix(), of_parameters);
      }
    });
    return blocks;
  });
}

std::vector<AveragedBlock> averaged_blocks(const Tensor& losses,
                                           const Parameters& parameters,
                                           const AveragedBlocksOptions& options) {
  return averaged_blocks(Batch(losses, parameters), options);
}

}  // namespace flightdeck
