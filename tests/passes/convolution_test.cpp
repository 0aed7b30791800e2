// SPDX-License-Identifier: MIT
// Convolutions of every dimension and geometry.
#include "check_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

class ConvolutionGradients : public SeededTest {};
class TransposedConvolutionGradients : public SeededTest {};

// Checks one layer behind a small convolution, so that its input gradient matters too.
template <typename Layer>
void check_scaled(Layer layer, at::IntArrayRef input_shape, Path path = Path::kFast) {
  layer = on_device(layer);
  const Tensor scale = random_parameter({1});
  check_model(losses_of(layer((random(input_shape) * scale).tanh())),
              ParameterList().add("layer", layer).add("scale", scale),
              path);
}

nn::Conv2d conv2d(nn::Conv2dOptions options) { return nn::Conv2d(options); }

TEST_F(ConvolutionGradients, MatchOracleIn1d) {
  check_scaled(nn::Conv1d(nn::Conv1dOptions(3, 4, 3)), {3, 3, 7});
}

TEST_F(ConvolutionGradients, MatchOracleIn1dWithStridePaddingAndDilation) {
  check_scaled(nn::Conv1d(nn::Conv1dOptions(3, 4, 3).stride(2).padding(2).dilation(2)), {3, 3, 8});
}

TEST_F(ConvolutionGradients, MatchOracleIn1dWithGroupsAndWithoutBias) {
  check_scaled(nn::Conv1d(nn::Conv1dOptions(4, 6, 3).groups(2).bias(false)), {3, 4, 7});
}

TEST_F(ConvolutionGradients, MatchOracleIn2d) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 3)), {3, 2, 5, 6});
}

TEST_F(ConvolutionGradients, MatchOracleIn2dWithoutBias) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 3).bias(false)), {3, 2, 5, 6});
}

TEST_F(ConvolutionGradients, MatchOracleWithUnevenKernel) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, {2, 3})), {3, 2, 5, 6});
}

TEST_F(ConvolutionGradients, MatchOracleWithStrideThatDropsTheLastPixels) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 3).stride(2)), {3, 2, 6, 8});
}

TEST_F(ConvolutionGradients, MatchOracleWithUnevenStride) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, {3, 2}).stride({2, 3})), {3, 2, 7, 8});
}

TEST_F(ConvolutionGradients, MatchOracleWithPadding) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 3).padding({1, 2})), {3, 2, 4, 5});
}

TEST_F(ConvolutionGradients, MatchOracleWithDilation) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 2).dilation({2, 3})), {3, 2, 5, 6});
}

TEST_F(ConvolutionGradients, MatchOracleWithStridePaddingAndDilationTogether) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 3).stride({2, 1}).padding({2, 1}).dilation({2, 1})),
               {3, 2, 6, 5});
}

TEST_F(ConvolutionGradients, MatchOracleWithGroups) {
  check_scaled(conv2d(nn::Conv2dOptions(4, 6, 3).groups(2).padding(1)), {3, 4, 4, 5});
}

TEST_F(ConvolutionGradients, MatchOracleForDepthwiseKernels) {
  check_scaled(conv2d(nn::Conv2dOptions(4, 4, 3).groups(4).padding(1)), {3, 4, 4, 5});
}

TEST_F(ConvolutionGradients, MatchOracleForDepthwiseKernelsWithMultiplier) {
  check_scaled(conv2d(nn::Conv2dOptions(3, 6, 3).groups(3).stride(2).bias(false)), {3, 3, 5, 6});
}

TEST_F(ConvolutionGradients, MatchOracleForPointwiseKernels) {
  check_scaled(conv2d(nn::Conv2dOptions(3, 4, 1)), {3, 3, 4, 5});
}

TEST_F(ConvolutionGradients, MatchOracleForKernelAsLargeAsTheInput) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 4, {4, 5})), {3, 2, 4, 5});
}

TEST_F(ConvolutionGradients, MatchOracleForOneChannelAndOneSample) {
  check_scaled(conv2d(nn::Conv2dOptions(1, 1, 3)), {1, 1, 5, 5});
}

TEST_F(ConvolutionGradients, MatchOracleForManyPixelsAndFewChannels) {
  check_scaled(conv2d(nn::Conv2dOptions(1, 2, 3).padding(1)), {3, 1, 12, 13});
}

TEST_F(ConvolutionGradients, MatchOracleForFewPixelsAndManyChannels) {
  check_scaled(conv2d(nn::Conv2dOptions(10, 12, 3)), {3, 10, 4, 3});
}

TEST_F(ConvolutionGradients, MatchOracleWithSamePadding) {
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, {3, 2}).padding(torch::kSame)), {3, 2, 4, 5});
}

TEST_F(ConvolutionGradients, MatchOracleWithCircularPadding) {
  // Padded by writing into slices of one tensor in LibTorch 2, which has no fast rule.
  check_scaled(conv2d(nn::Conv2dOptions(2, 3, 3).padding(1).padding_mode(torch::kCircular)),
               {3, 2, 4, 5},
               Path::kExact);
}

TEST_F(ConvolutionGradients, MatchOracleForNonContiguousInput) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3)));
  check_model(losses_of(layer(random({3, 5, 6, 2}).permute({0, 3, 1, 2}))),
              layer->named_parameters());
}

TEST_F(ConvolutionGradients, MatchOracleForChannelsLastMemory) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).padding(1)));
  const Tensor input = random({3, 4, 5, 6}).contiguous(at::MemoryFormat::ChannelsLast);
  check_model(losses_of(layer(input)), layer->named_parameters());
}

TEST_F(ConvolutionGradients, MatchOracleIn3d) {
  check_scaled(nn::Conv3d(nn::Conv3dOptions(2, 3, 2)), {2, 2, 3, 4, 3});
}

TEST_F(ConvolutionGradients, MatchOracleIn3dWithStridePaddingDilationAndGroups) {
  check_scaled(nn::Conv3d(nn::Conv3dOptions(4, 2, {2, 3, 2})
                              .stride({1, 2, 1})
                              .padding(1)
                              .dilation({1, 1, 2})
                              .groups(2)),
               {2, 4, 3, 4, 4});
}

TEST_F(ConvolutionGradients, MatchOracleThroughPoolingNet) {
  auto first = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)));
  auto second = on_device(nn::Conv2d(nn::Conv2dOptions(3, 4, 3)));
  auto readout = on_device(nn::Linear(4, 3));
  Tensor hidden = at::max_pool2d(first(random({3, 2, 8, 8})).relu(), 2);
  hidden = at::avg_pool2d(second(hidden).relu(), 2).flatten(1);
  check_model(losses_of(readout(hidden)),
              ParameterList().add("first", first).add("second", second).add("readout", readout));
}

TEST_F(ConvolutionGradients, MatchOracleForFramesFoldedIntoTheBatch) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3)));
  const Tensor video = random({2, 3, 2, 4, 5});  // [N, T, C, H, W]
  const Tensor outputs = layer(video.flatten(0, 1));
  check_model(losses_of(outputs.view({2, 3, -1})), layer->named_parameters());
}

TEST_F(ConvolutionGradients, MatchOracleForTimeMajorFramesFoldedIntoTheBatch) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 3, 3)));
  const Tensor video = random({3, 2, 2, 4, 5});  // [T, N, C, H, W]
  const Tensor outputs = layer(video.flatten(0, 1));
  check_model(losses_of(outputs.view({3, 2, -1}).transpose(0, 1)), layer->named_parameters());
}

TEST_F(ConvolutionGradients, MatchOracleForSamplesFoldedIntoGroups) {
  // One grouped convolution over all samples: channel blocks of the single image are the samples.
  const Tensor weight = random_parameter({3, 2, 3, 3});
  const Tensor input = random({2, 2, 5, 5});
  const Tensor kernels = weight.unsqueeze(0).expand({2, 3, 2, 3, 3}).reshape({6, 2, 3, 3});
  const Tensor outputs =
      F::conv2d(input.view({1, 4, 5, 5}), kernels, F::Conv2dFuncOptions().groups(2));
  check_model(losses_of(outputs.view({2, 3, 3, 3})), std::vector<Tensor>{weight}, Path::kExact);
}

TEST_F(ConvolutionGradients, MatchOracleWhenTheParameterIsTheInput) {
  // A learned image filtered by fixed kernels, as in feature visualisation.
  const Tensor image = random_parameter({1, 2, 5, 5});
  const Tensor outputs = at::conv2d(image, random({3, 2, 3, 3}));  // [1, 3, 3, 3]
  check_model(
      losses_of(outputs.tanh() * random({4, 3, 3, 3})), std::vector<Tensor>{image}, Path::kExact);
}

TEST_F(TransposedConvolutionGradients, MatchOracleIn1d) {
  check_scaled(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(3, 4, 3).stride(2)), {3, 3, 5});
}

TEST_F(TransposedConvolutionGradients, MatchOracleIn2d) {
  check_scaled(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(3, 2, 3)), {3, 3, 4, 3});
}

TEST_F(TransposedConvolutionGradients, MatchOracleWithStridePaddingAndOutputPadding) {
  check_scaled(
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(3, 2, 3).stride({2, 3}).padding(1).output_padding({1, 2})),
      {3, 3, 4, 3});
}

TEST_F(TransposedConvolutionGradients, MatchOracleWithGroupsAndDilation) {
  check_scaled(
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(4, 6, 2).groups(2).dilation(2).stride(2).output_padding(1)),
      {3, 4, 3, 4});
}

TEST_F(TransposedConvolutionGradients, MatchOracleForDepthwiseKernelsWithoutBias) {
  check_scaled(
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(3, 3, 3).groups(3).stride(2).bias(false)),
      {3, 3, 3, 4});
}

TEST_F(TransposedConvolutionGradients, MatchOracleIn3d) {
  check_scaled(
      nn::ConvTranspose3d(
          nn::ConvTranspose3dOptions(2, 3, 2).stride({2, 1, 2}).padding({1, 0, 1}).output_padding(
              {1, 0, 0})),
      {2, 2, 3, 2, 3});
}

}  // namespace
}  // namespace flightdeck::tests
