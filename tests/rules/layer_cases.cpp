// SPDX-License-Identifier: MIT
#include <cmath>

#include "rules/op_cases.h"

namespace flightdeck::tests {
namespace {

using T = const Tensor&;

const std::vector<int64_t> kPlane = {2, 4, 6}, kVolume = {2, 4, 4, 4}, kSequence = {2, 6};

Tensor labels(T x, at::IntArrayRef shape) {
  return at::arange(product(shape.vec()), x.options().dtype(at::kLong)).remainder(4).view(shape);
}

c10::optional<at::ArrayRef<double>> factors(std::initializer_list<double> list) {
  return at::ArrayRef<double>(list);
}

}  // namespace

OpCases image_cases() {
  return {
      {"AveragePool2d", [](T x, T) { return at::avg_pool2d(x, 2); }, kPlane},
      {"AveragePool3d", [](T x, T) { return at::avg_pool3d(x, 2); }, kVolume},
      {"AdaptiveAveragePool2d",
       [](T x, T) {
         return at::_adaptive_avg_pool2d(x, {2, 3});
       },
       kPlane},
      {"AdaptiveAveragePool3d",
       [](T x, T) {
         return at::_adaptive_avg_pool3d(x, {2, 2, 3});
       },
       kVolume},
      {"MaxPool2d",
       [](T x, T) {
         return at::max_pool2d(x, {3, 3}, {1, 1});
       },
       kPlane},
      {"MaxPool3d", [](T x, T) { return at::max_pool3d(x, 2, 1); }, kVolume},
      {"AdaptiveMaxPool2d",
       [](T x, T) {
         return std::get<0>(at::adaptive_max_pool2d(x, {2, 3}));
       },
       kPlane},
      {"AdaptiveMaxPool3d",
       [](T x, T) {
         return std::get<0>(at::adaptive_max_pool3d(x, {2, 2, 3}));
       },
       kVolume},
      {"ConstantPad",
       [](T x, T) {
         return at::constant_pad_nd(x, {1, 2, -1, 1}, 0.3);
       },
       kPlane},
      {"PixelShuffle", [](T x, T) { return at::pixel_shuffle(x, 2); }, {4, 2, 3}},
      {"PixelUnshuffle", [](T x, T) { return at::pixel_unshuffle(x, 2); }, kPlane},
      {"ReflectionPad1d",
       [](T x, T) {
         return at::reflection_pad1d(x, {1, 2});
       },
       kSequence},
      {"ReflectionPad2d",
       [](T x, T) {
         return at::reflection_pad2d(x, {1, 2, 1, 0});
       },
       kPlane},
      {"ReflectionPad3d",
       [](T x, T) {
         return at::reflection_pad3d(x, {1, 2, 1, 0, 1, 1});
       },
       kVolume},
      {"ReplicationPad1d",
       [](T x, T) {
         return at::replication_pad1d(x, {1, 2});
       },
       kSequence},
      {"ReplicationPad2d",
       [](T x, T) {
         return at::replication_pad2d(x, {1, 2, 1, 0});
       },
       kPlane},
      {"ReplicationPad3d",
       [](T x, T) {
         return at::replication_pad3d(x, {1, 2, 1, 0, 1, 1});
       },
       kVolume},
      {"UpsampleLinear1dByFactor",
       [](T x, T) { return at::upsample_linear1d(x, c10::nullopt, false, factors({1.5})); },
       kSequence},
      {"UpsampleNearest1dByFactor",
       [](T x, T) { return at::upsample_nearest1d(x, c10::nullopt, factors({1.5})); },
       kSequence},
      {"UpsampleNearest2dByFactor",
       [](T x, T) {
         return at::upsample_nearest2d(x, c10::nullopt, factors({1.5, 1.5}));
       },
       kPlane},
      {"UpsampleNearest3dByFactor",
       [](T x, T) {
         return at::upsample_nearest3d(x, c10::nullopt, factors({2, 2, 2}));
       },
       kVolume},
      {"UpsampleBilinear2dByFactor",
       [](T x, T) {
         return at::upsample_bilinear2d(x, c10::nullopt, false, factors({1.5, 1.5}));
       },
       kPlane},
      {"UpsampleBicubic2dByFactor",
       [](T x, T) {
         return at::upsample_bicubic2d(x, c10::nullopt, true, factors({1.5, 1.5}));
       },
       kPlane},
      {"UpsampleTrilinear3dByFactor",
       [](T x, T) {
         return at::upsample_trilinear3d(x, c10::nullopt, false, factors({2, 2, 2}));
       },
       kVolume},
      {"UpsampleLinear1d",
       [](T x, T) { return at::upsample_linear1d(x, at::IntArrayRef{9}, false, 1.5); },
       kSequence},
      {"UpsampleNearest1d",
       [](T x, T) { return at::upsample_nearest1d(x, at::IntArrayRef{9}, 1.5); },
       kSequence},
      {"UpsampleNearest2d",
       [](T x, T) {
         return at::upsample_nearest2d(x, {6, 9});
       },
       kPlane},
      {"UpsampleNearest3d",
       [](T x, T) {
         return at::upsample_nearest3d(x, {6, 6, 6});
       },
       kVolume},
      {"UpsampleBilinear2d",
       [](T x, T) {
         return at::upsample_bilinear2d(x, {6, 9}, false);
       },
       kPlane},
      {"UpsampleBicubic2d",
       [](T x, T) {
         return at::upsample_bicubic2d(x, {6, 9}, true);
       },
       kPlane},
      {"UpsampleTrilinear3d",
       [](T x, T) {
         return at::upsample_trilinear3d(x, {6, 6, 6}, false);
       },
       kVolume},
  };
}

OpCases layer_cases() {
  return {
      {"Matrix", [](T x, T p) { return at::mm(x, p); }, {6}, {6, 5}},
      {"MatrixOfColumns", [](T x, T p) { return at::mm(p, x.t()).t(); }, {6}, {5, 6}},
      {"MatrixAndBias",
       [](T x, T p) { return at::addmm(p.select(1, 0), x, p, 0.7, 1.3); },
       {5},
       {5, 5}},
      {"Matrices", [](T x, T p) { return at::bmm(x, x.transpose(1, 2) * p); }, {4, 6}, {6, 4}},
      {"MatricesAndBias",
       [](T x, T p) { return at::baddbmm(p, x, x.transpose(1, 2)); },
       {4, 6},
       {4, 4}},
      {"MatrixAndVector", [](T x, T p) { return at::mv(x, p); }, {6}, {6}},
      {"Convolution1d", [](T x, T p) { return at::conv1d(x, p, {}, 1, 1); }, kSequence, {3, 2, 3}},
      {"Convolution2d",
       [](T x, T p) { return at::conv2d(x, p, p.flatten(1).select(1, 0), 2, 1); },
       kPlane,
       {3, 2, 3, 3}},
      {"TransposedConvolution2d",
       [](T x, T p) { return at::conv_transpose2d(x, p, {}, 2); },
       kPlane,
       {2, 3, 2, 2}},
      {"Embedding",
       [](T x, T p) {
         return at::embedding(p, labels(x, {3, 4})) * x;
       },
       {4, 6},
       {4, 6}},
      {"WeightNorm",
       [](T x, T p) {
         return x * std::get<0>(at::_weight_norm_interface(p, p.slice(1, 0, 1).contiguous(), 0));
       },
       {4, 6},
       {4, 6}},
      {"WeightNormOfColumns",
       [](T x, T p) {
         return x * std::get<0>(at::_weight_norm_interface(p, p.slice(0, 0, 1).contiguous(), 1));
       },
       {4, 6},
       {4, 6}},
      {"LayerNorm", [](T x, T p) { return at::layer_norm(x, {6}, p, p * 2); }, {4, 6}, {6}},
      {"GroupNorm", [](T x, T p) { return at::group_norm(x, 2, p, p * 2); }, {4, 6}, {4}},
      {"BatchNormInUse",
       [](T x, T p) {
         const Tensor mean = at::full({4}, 0.4, x.options()), variance = mean * 0.3;
         return at::batch_norm(x, p, p * 2, mean, variance, /*training=*/false, 0, 1e-5, false);
       },
       {4, 6},
       {4}},
      // at::batch_norm is cuDNN's on a GPU.
      {"NativeBatchNormInUse",
       [](T x, T p) {
         const Tensor mean = at::full({4}, 0.4, x.options()), variance = mean * 0.3;
         return std::get<0>(
             at::native_batch_norm(x, p, p * 2, mean, variance, /*training=*/false, 0, 1e-5));
       },
       {4, 6},
       {4}},
      {"Softmax", [](T x, T) { return x.softmax(2); }},
      {"LogSoftmax", [](T x, T) { return x.log_softmax(1); }},
  };
}

OpCases loss_cases() {
  constexpr auto kNone = at::Reduction::None;
  return {
      {"Bce", [](T x, T) { return at::binary_cross_entropy(x, (x.detach() + 0.1), {}, kNone); }},
      {"BceWithLogits",
       [](T x, T) { return at::binary_cross_entropy_with_logits(x, x.detach(), {}, {}, kNone); }},
      {"Huber", [](T x, T p) { return at::huber_loss(x, p.expand_as(x), kNone, 0.2); }},
      {"KlDivergence", [](T x, T) { return at::kl_div(x.log(), x.detach().flip({1}), kNone); }},
      {"L1", [](T x, T p) { return at::l1_loss(x, p.detach().expand_as(x), kNone); }},
      {"Mse", [](T x, T p) { return at::mse_loss(x, p.expand_as(x), kNone); }},
      {"SmoothL1",
       [](T x, T p) { return at::smooth_l1_loss(x, p.detach().expand_as(x), kNone, 0.2); }},
      {"SoftMargin",
       [](T x, T) { return at::soft_margin_loss(x, (x.detach() - 0.5).sign(), kNone); }},
      {"Nll", [](T x, T) { return at::nll_loss(x, labels(x, {3}), {}, kNone); }, {4}},
      {"Nll2d",
       [](T x, T) {
         return at::nll_loss2d(x, labels(x, {3, 2, 3}), {}, kNone);
       },
       {4, 2, 3}},
  };
}

OpCases newer_cases() {
#if TORCH_VERSION_MAJOR < 2
  return {};
#else
  return {
      {"ChannelShuffle", [](T x, T) { return at::channel_shuffle(x, 2); }, {4, 2, 3}},
      {"SafeSoftmax", [](T x, T) { return at::_safe_softmax(x, 2); }},
      {"SafeSoftmaxOfNothing",
       [](T x, T) { return at::_safe_softmax(x.masked_fill(x.isfinite().triu(), -INFINITY), 2); }},
      {"SqueezeSomeDims",
       [](T x, T) {
         return x.unsqueeze(1).squeeze(at::IntArrayRef({1, 2}));
       }},
      {"SqueezeSomeDimsInPlace",
       [](T x, T) {
         return (x * 1.0).unsqueeze_(1).squeeze_(at::IntArrayRef({1, 2}));
       }},
  };
#endif
}

}  // namespace flightdeck::tests
