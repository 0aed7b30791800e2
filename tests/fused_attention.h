// SPDX-License-Identifier: MIT
// Scaled dot-product attention by LibTorch's op and written out, for tests of the fused kernels.
#pragma once

#include <cmath>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>

#include "tensors.h"

namespace flightdeck::tests {

struct AttentionCase {
  std::string name;
  bool is_causal = false;
  int64_t key_heads = 0;  // fewer than those of the queries: shared by several; 0: as many
  Tensor (*mask)(at::IntArrayRef scores) = nullptr;  // added to scores [N, heads, T, S]
  double scale = 0;                                  // 0: the default
};

// The op by its name: its arguments differ between versions, and old ones do not have it.
inline c10::optional<c10::OperatorHandle> find_fused_attention() {
  return c10::Dispatcher::singleton().findSchema({"aten::scaled_dot_product_attention", ""});
}

inline bool can_make(const AttentionCase& given) {
  const auto op = find_fused_attention();
  if (!op) return false;
  return given.key_heads == 0 || op->schema().argumentIndexWithName("enable_gqa").has_value();
}

inline Tensor mask_of(const AttentionCase& given, const Tensor& q, const Tensor& k) {
  if (!given.mask) return {};
  return given.mask({q.size(0), q.size(1), q.size(2), k.size(2)}).to(q.options());
}

inline Tensor fused_attention(const Tensor& q,
                              const Tensor& k,
                              const Tensor& v,
                              const AttentionCase& given) {
  const auto op = *find_fused_attention();
  const Tensor mask = mask_of(given, q, k);
  torch::jit::Stack stack{q, k, v};
  for (size_t i = 3; i < op.schema().arguments().size(); ++i) {
    const auto& argument = op.schema().arguments()[i];
    c10::IValue value = argument.default_value().value_or(c10::IValue());
    if (argument.name() == "is_causal") value = given.is_causal;
    if (argument.name() == "enable_gqa") value = given.key_heads != 0;
    if (argument.name() == "attn_mask" && mask.defined()) value = mask;
    if (argument.name() == "scale" && given.scale != 0) value = given.scale;
    stack.push_back(value);
  }
  op.callBoxed(stack);
  return stack[0].toTensor();
}

inline Tensor written_out(const Tensor& q,
                          const Tensor& k,
                          const Tensor& v,
                          const AttentionCase& given) {
  const int64_t times = q.size(1) / k.size(1);
  const Tensor keys = k.repeat_interleave(times, 1), values = v.repeat_interleave(times, 1);
  const double scale =
      given.scale != 0 ? given.scale : 1 / std::sqrt(static_cast<double>(q.size(3)));
  Tensor scores = q.matmul(keys.transpose(-2, -1)) * scale;
  const Tensor mask = mask_of(given, q, k);
  if (mask.defined()) scores = scores + mask;
  if (given.is_causal) {
    const Tensor blocked = at::ones({q.size(2), k.size(2)}, scores.options().dtype(at::kBool));
    scores = scores.masked_fill(blocked.triu(1), -INFINITY);
  }
  // A position that may look at nothing puts out zeros.
  const Tensor nothing = (scores == -INFINITY).all(-1, true);
  const Tensor weights = scores.masked_fill(nothing, 0).softmax(-1).masked_fill(nothing, 0);
  return weights.matmul(values);
}

inline std::vector<AttentionCase> attention_cases() {
  const auto shared = [](at::IntArrayRef scores) {
    return at::arange(scores[2] * scores[3], at::kDouble).view({scores[2], scores[3]}).sin();
  };
  const auto own = [](at::IntArrayRef scores) {
    return at::arange(scores[0] * scores[2] * scores[3], at::kDouble)
        .view({scores[0], 1, scores[2], scores[3]})
        .cos();
  };
  const auto blocking = [](at::IntArrayRef scores) {
    Tensor mask = at::zeros({scores[0], 1, scores[2], scores[3]}, at::kDouble);
    mask.select(0, 0).slice(-1, scores[3] - 1).fill_(-INFINITY);
    mask.select(0, 1).select(-2, 0).fill_(-INFINITY);  // a position that may look at nothing
    return mask;
  };
  return {{"Plain"},
          {"Causal", /*is_causal=*/true},
          {"SharedKeys", false, /*key_heads=*/2},
          {"OneKeyHeadCausal", true, 1},
          {"MaskOfAllSamples", false, 0, shared},
          {"MaskOfEachSample", false, 2, own},
          {"Blocked", false, 0, blocking},
          {"Scaled", true, 2, nullptr, /*scale=*/0.7}};
}

}  // namespace flightdeck::tests
