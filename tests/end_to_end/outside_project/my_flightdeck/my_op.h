// SPDX-License-Identifier: MIT
// An op of one's own: a matrix product whose scale does not grow with the number of inputs.
#pragma once

#include <torch/torch.h>

/// y = x W / sqrt(I) with x [N, I] and W [I, J].
struct ScaledProduct : torch::autograd::Function<ScaledProduct> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static torch::Tensor forward(Context* ctx, const torch::Tensor& x, const torch::Tensor& w) {
    const double scale = 1 / std::sqrt(static_cast<double>(x.size(1)));
    ctx->save_for_backward({x, w});
    ctx->saved_data["scale"] = scale;
    return scale * x.mm(w);
  }

  static Tensors backward(Context* ctx, Tensors gradients) {
    const Tensors saved = ctx->get_saved_variables();
    const torch::Tensor b = ctx->saved_data["scale"].toDouble() * gradients[0];
    return {b.mm(saved[1].t()), saved[0].t().mm(b)};
  }
};
