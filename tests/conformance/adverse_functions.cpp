// SPDX-License-Identifier: MIT
// Blocks no rule can look into or that mix the samples: custom functions, coupled samples, complex
// parts.
#include <torch/torch.h>

#include "conformance/adverse_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// x / (1 + x²), differentiable as often as one likes.
struct Hump : Function<Hump> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x / (x * x + 1.0);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor x = context->get_saved_variables()[0];
    const Tensor square = x * x;
    return {gradients[0] * (1.0 - square) / (square + 1.0).square()};
  }
};

// A parameter enters a node without a rule.
struct OwnLinear : Function<OwnLinear> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight) {
    context->save_for_backward({x, weight});
    return x.matmul(weight.t());
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor g = gradients[0].reshape({-1, gradients[0].size(-1)});
    const Tensor x = saved[0].reshape({-1, saved[0].size(-1)});
    return {gradients[0].matmul(saved[1]), g.t().matmul(x)};
  }
};

// Two outputs, of which one may go unused.
struct SineAndDouble : Function<SineAndDouble> {
  static variable_list forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return {x.sin(), x * 2.0};
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor x = context->get_saved_variables()[0];
    Tensor sum = at::zeros_like(x);
    if (gradients[0].defined()) sum = sum + gradients[0] * x.cos();
    if (gradients[1].defined()) sum = sum + gradients[1] * 2.0;
    return {sum};
  }
};

// A backward pass that is not the derivative: half the gradient.
struct HalvedGradient : Function<HalvedGradient> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.clone(); }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {gradients[0] * 0.5};
  }
};

}  // namespace

void grow_custom(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  const auto named = [&](const char* word) { sketch.feature("custom-function", word); };
  switch (sketch.integer(0, 4)) {
    case 0:
      named("hump");
      sketch.state = Hump::apply(sketch.linear(x, I));
      return;
    case 1: {
      named("linear");
      const Tensor weight = sketch.parameter({sketch.integer(1, 3), I}, I);
      sketch.state = OwnLinear::apply(x, weight);
      return;
    }
    case 2: {
      named("two outputs");
      const variable_list both = SineAndDouble::apply(sketch.linear(x, I));
      sketch.state = sketch.chance(0.5) ? both[0] + both[1].tanh() : both[0];
      return;
    }
    case 3:
      named("of a parameter");
      sketch.state = x * Hump::apply(sketch.parameter({I}));
      return;
    default:
      named("halved gradient");
      sketch.model.is_twice_differentiable = false;
      sketch.state = HalvedGradient::apply(x);
  }
}

void grow_coupled(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t b = sketch.batch_axis();
  const int64_t N = sketch.batch_size;
  const auto named = [&](const char* word) { sketch.feature("coupled", word); };
  // What is not behind a parameter is not in the graph.
  sketch.model.is_coupled = sketch.model.is_coupled || (x.requires_grad() && N > 1);
  sketch.model.has_coupled_outputs = sketch.model.is_coupled;
  switch (sketch.integer(0, 9)) {
    case 0:
      named("batch norm by hand");
      sketch.state = (x - x.mean(b, true)) / (x.var(b, /*unbiased=*/false, true) + 0.1).sqrt();
      return;
    case 1:
      named("centred");
      sketch.state = x - x.mean(b, true) * 0.5;
      return;
    case 2:
      named("softmax over the batch");
      sketch.state = x.softmax(b);
      return;
    case 3:
      named("sort over the batch");
      sketch.state = std::get<0>(x.sort(b)) + x;
      return;
    case 4:
      named("cumsum over the batch");
      sketch.state = x.cumsum(b);
      return;
    case 5:
      named("rolled over the batch");
      sketch.state = x + x.roll(1, b) * 0.3;
      return;
    case 6: {
      named("attention between samples");
      const Tensor y = sketch.batch_major();
      const Tensor flat = y.reshape({N, -1});
      sketch.set_batch_major(flat.matmul(flat.t()).softmax(1).matmul(flat).view(y.sizes()));
      return;
    }
    case 7: {
      named("pairwise differences");
      const Tensor y = sketch.batch_major();
      sketch.set_batch_major((y.unsqueeze(0) - y.unsqueeze(1)).tanh().mean(1) + y);
      return;
    }
    case 8:
      named("divided by the norm of all");
      sketch.state = x / (x.square().sum() + 1.0).sqrt();
      return;
    default:
      named("minus the largest of all");
      sketch.state = x - x.max() * 0.5;
  }
}

void grow_complex_parts(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  const auto named = [&](const char* word) { sketch.feature("complex", word); };
  const auto pairs = [&](const Tensor& t, int64_t count) {
    std::vector<int64_t> shape = t.sizes().slice(0, t.dim() - 1).vec();
    shape.insert(shape.end(), {count, 2});
    return at::view_as_complex(t.contiguous().view(shape));
  };
  switch (sketch.integer(0, 4)) {
    case 0: {
      named("rotary");
      const Tensor turn = at::polar(at::ones({2}, doubles()), random({2}));
      const Tensor z = pairs(sketch.linear(x, 4), 2) * turn;
      sketch.state = at::view_as_real(z).flatten(-2);
      return;
    }
    case 1: {
      named("rfft, irfft");
      if (I == 1) return;
      const Tensor spectrum = at::fft_rfft(x);
      const Tensor gains = random({spectrum.size(-1)});
      sketch.state = at::fft_irfft(spectrum * gains, I);
      return;
    }
    case 2: {
      named("complex of two layers");
      const Tensor z = at::complex(sketch.linear(x, 2), sketch.linear(x, 2));
      sketch.state = at::real(z * z) + at::imag(z);
      return;
    }
    case 3: {
      named("view_as_complex of a parameter");
      const Tensor z = pairs(sketch.linear(x, 4), 2) * at::view_as_complex(sketch.factor({2, 2}));
      sketch.state = at::view_as_real(z).flatten(-2);
      return;
    }
    default:
      named("real part of fft");
      sketch.state = at::real(at::fft_fft(x)) * 0.5;
  }
}

}  // namespace flightdeck::tests
