// SPDX-License-Identifier: MIT
// Random blocks for images [N, C, H, W].
#include <sstream>

#include <torch/torch.h>

#include "conformance/random_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

// A number of groups that divides both channel counts.
int64_t common_groups(Sketch& sketch, int64_t inputs, int64_t outputs) {
  for (int64_t groups : {inputs, int64_t{2}}) {
    if (inputs % groups == 0 && outputs % groups == 0 && sketch.chance(0.4)) return groups;
  }
  return 1;
}

Tensor convolve(Sketch& sketch, const Tensor& x) {
  const int64_t inputs = x.size(1);
  const int64_t multiple = sketch.integer(1, 2);
  const int64_t outputs = sketch.chance(0.4) ? inputs * multiple : sketch.integer(1, 4);
  const int64_t groups = common_groups(sketch, inputs, outputs);
  const int64_t padding = sketch.integer(0, 2);
  const int64_t stride = sketch.integer(1, 2);
  // Height and width may differ in kernel and dilation, as far as the image allows.
  std::vector<int64_t> kernel(2), dilation(2);
  for (int64_t axis = 0; axis < 2; ++axis) {
    const int64_t room = x.size(2 + axis) + 2 * padding;
    kernel[axis] = sketch.integer(1, std::min<int64_t>(3, room));
    dilation[axis] = kernel[axis] == 1
                         ? 1
                         : sketch.integer(1, std::min<int64_t>(2, (room - 1) / (kernel[axis] - 1)));
  }
  std::ostringstream word;
  word << "conv(" << inputs << "," << outputs << " kernel " << kernel << " stride " << stride
       << " padding " << padding << " dilation " << dilation << " groups " << groups << ")";
  sketch.note(word.str());
  const int64_t fan_in = inputs / groups * kernel[0] * kernel[1];
  const Tensor weight = sketch.parameter({outputs, inputs / groups, kernel[0], kernel[1]}, fan_in);
  return at::conv2d(
      x, weight, sketch.optional_bias(outputs), stride, {padding, padding}, dilation, groups);
}

Tensor convolve_transposed(Sketch& sketch, const Tensor& x) {
  const int64_t inputs = x.size(1);
  const int64_t outputs = sketch.chance(0.4) ? inputs : sketch.integer(1, 4);
  const int64_t groups = common_groups(sketch, inputs, outputs);
  const int64_t stride = sketch.integer(1, 2);
  const int64_t output_padding = stride == 2 ? sketch.integer(0, 1) : 0;
  std::ostringstream word;
  word << "conv_transpose(" << inputs << "," << outputs << " stride " << stride
       << " output_padding " << output_padding << " groups " << groups << ")";
  sketch.note(word.str());
  const Tensor weight = sketch.parameter({inputs, outputs / groups, 3, 3}, 9 * inputs / groups);
  return at::conv_transpose2d(x,
                              weight,
                              sketch.optional_bias(outputs),
                              stride,
                              /*padding=*/1,
                              output_padding,
                              groups,
                              /*dilation=*/1);
}

Tensor normalise_images(Sketch& sketch, const Tensor& x) {
  const int64_t channels = x.size(1);
  const Tensor scale = sketch.factor({channels});
  const Tensor shift = sketch.parameter({channels});
  // A normalisation over one entry is zero up to rounding, and so are the gradients behind it.
  const bool has_many_pixels = x.size(2) * x.size(3) > 1;
  switch (has_many_pixels ? sketch.integer(0, 2) : 2) {
    case 0: {
      const int64_t groups = channels % 2 == 0 ? 2 : 1;
      sketch.note("group_norm");
      return at::group_norm(x, groups, scale, shift, 1e-5, /*cudnn_enabled=*/false);
    }
    case 1:
      sketch.note("instance_norm");
      return at::instance_norm(x,
                               scale,
                               shift,
                               /*running_mean=*/{},
                               /*running_var=*/{},
                               /*use_input_stats=*/true,
                               /*momentum=*/0.1,
                               /*eps=*/1e-5,
                               /*cudnn_enabled=*/false);
    default:
      sketch.note("batch_norm(eval)");
      return at::batch_norm(x,
                            scale,
                            shift,
                            random({channels}),
                            random({channels}).abs().add(0.5),
                            /*training=*/false,
                            /*momentum=*/0.1,
                            /*eps=*/1e-5,
                            /*cudnn_enabled=*/false);
  }
}

Tensor pool(Sketch& sketch, const Tensor& x) {
  if (x.size(2) < 2 || x.size(3) < 2) return x;
  switch (sketch.integer(0, 2)) {
    case 0:
      sketch.note("max_pool");
      return at::max_pool2d(x, 2, sketch.integer(1, 2));
    case 1:
      sketch.note("avg_pool");
      return at::avg_pool2d(x, 2, sketch.integer(1, 2));
    default:
      sketch.note("adaptive_avg_pool");
      return at::adaptive_avg_pool2d(x, {2, 1});
  }
}

Tensor residual(Sketch& sketch, const Tensor& x) {
  const int64_t channels = x.size(1);
  const Tensor weight = sketch.parameter({channels, channels, 3, 3}, 9 * channels);
  const auto same = [&](const Tensor& input) {
    return at::conv2d(input, weight, /*bias=*/Tensor(), /*stride=*/1, /*padding=*/1);
  };
  sketch.note("residual(");
  Tensor branch = sketch.activate(same(x));
  if (sketch.chance(0.4)) {
    sketch.note("shared conv");
    branch = same(branch);
  }
  sketch.note(")");
  return x + branch;
}

void leave(Sketch& sketch, const Tensor& x) {
  switch (sketch.integer(0, 2)) {
    case 0:
      sketch.note("flatten");
      sketch.state = x.flatten(1);
      sketch.kind = Sketch::Kind::kVector;
      return;
    case 1:
      sketch.note("global mean");
      sketch.state = x.mean({2, 3});
      sketch.kind = Sketch::Kind::kVector;
      return;
    default:
      sketch.note("pixels to sequence");
      sketch.state = x.flatten(2).permute({0, 2, 1});
      sketch.is_time_major = false;
      sketch.kind = Sketch::Kind::kSequence;
  }
}

}  // namespace

void grow_image(Sketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t channels = x.size(1);
  switch (sketch.integer(0, 9)) {
    case 0:
    case 1:
    case 2:
      sketch.state = convolve(sketch, x);
      return;
    case 3:
      sketch.state = convolve_transposed(sketch, x);
      return;
    case 4:
      sketch.state = normalise_images(sketch, x);
      return;
    case 5:
      sketch.note("channel scale+shift");
      sketch.state = x * sketch.factor({channels, 1, 1}) + sketch.parameter({1, channels, 1, 1});
      return;
    case 6:
      sketch.state = pool(sketch, x);
      return;
    case 7:
      sketch.state = residual(sketch, x);
      return;
    case 8:
      sketch.note("pad+swap axes");
      sketch.state = at::constant_pad_nd(x, {1, 0, 0, 1}).transpose(2, 3);
      return;
    default:
      leave(sketch, x);
  }
}

}  // namespace flightdeck::tests
