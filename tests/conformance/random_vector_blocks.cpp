// SPDX-License-Identifier: MIT
// Random blocks for activations [N, F].
#include <torch/torch.h>

#include "conformance/random_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

Tensor linear_on_vectors(Sketch& sketch, const Tensor& x, int64_t outputs) {
  const int64_t inputs = x.size(-1);
  switch (sketch.integer(0, 3)) {
    case 0:
      sketch.note("matmul(x,W)");
      return at::matmul(x, sketch.parameter({inputs, outputs}, inputs));
    case 1:
      sketch.note("matmul(W,x')");
      return at::matmul(sketch.parameter({outputs, inputs}, inputs), x.t()).t();
    case 2:
      sketch.note("addmm");
      return at::addmm(sketch.parameter({outputs}),
                       x,
                       sketch.parameter({inputs, outputs}, inputs),
                       /*beta=*/0.5,
                       /*alpha=*/1.5);
    default:
      sketch.note("linear");
      const Tensor weight = sketch.parameter({outputs, inputs}, inputs);
      return at::linear(x, weight, sketch.optional_bias(outputs));
  }
}

// A weight that is itself a function of parameters.
Tensor composed_weight(Sketch& sketch, int64_t outputs, int64_t inputs) {
  switch (sketch.integer(0, 4)) {
    case 0: {
      sketch.note("low-rank");
      return at::matmul(sketch.parameter({outputs, 2}, 2), sketch.parameter({2, inputs}, inputs));
    }
    case 1: {
      sketch.note("weight-normed");
      const Tensor direction = sketch.parameter({outputs, inputs});
      return direction * (sketch.factor({outputs, 1}) / direction.norm(2, {1}, /*keepdim=*/true));
    }
    case 2:
      sketch.note("sliced");
      return sketch.parameter({outputs + 2, inputs + 1}, inputs)
          .slice(0, 1, outputs + 1)
          .slice(1, 0, inputs);
    case 3:
      sketch.note("viewed");
      return sketch.parameter({inputs * outputs}, inputs).view({inputs, outputs}).t();
    default:
      sketch.note("concatenated");
      return at::cat({sketch.parameter({outputs, inputs}, inputs),
                      sketch.parameter({1, inputs}, inputs)},
                     0)
          .slice(0, 1, outputs + 1);
  }
}

Tensor normalise_vectors(Sketch& sketch, const Tensor& x) {
  const int64_t features = x.size(1);
  const Tensor scale = sketch.factor({features});
  const Tensor shift = sketch.parameter({features});
  // A normalisation over one entry is zero up to rounding, and so are the gradients behind it.
  if (features > 1 && sketch.chance(0.5)) {
    sketch.note("layer_norm");
    return at::layer_norm(x, {features}, scale, shift);
  }
  sketch.note("batch_norm(eval)");
  return at::batch_norm(x,
                        scale,
                        shift,
                        random({features}),
                        random({features}).abs().add(0.5),
                        /*training=*/false,
                        /*momentum=*/0.1,
                        /*eps=*/1e-5,
                        /*cudnn_enabled=*/false);
}

void to_sequence(Sketch& sketch) {
  const int64_t T = sketch.integer(1, 4);
  const int64_t I = sketch.integer(1, 4);
  const Tensor wide = linear_on_vectors(sketch, sketch.state, T * I);
  sketch.is_time_major = sketch.chance(0.5);
  sketch.note(sketch.is_time_major ? "to [T,N,I]" : "to [N,T,I]");
  const Tensor sequence = wide.reshape({sketch.batch_size, T, I});
  sketch.state = sketch.is_time_major ? sequence.transpose(0, 1) : sequence;
  sketch.kind = Sketch::Kind::kSequence;
}

void to_image(Sketch& sketch) {
  const int64_t C = sketch.integer(1, 3);
  const int64_t H = sketch.integer(3, 5);
  const int64_t W = sketch.integer(3, 5);
  sketch.state =
      linear_on_vectors(sketch, sketch.state, C * H * W).reshape({sketch.batch_size, C, H, W});
  sketch.note("to [N,C,H,W]");
  sketch.kind = Sketch::Kind::kImage;
}

}  // namespace

void grow_vector(Sketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t features = x.size(1);
  const int64_t outputs = sketch.integer(1, 6);
  switch (sketch.integer(0, 13)) {
    case 0:
    case 1:
      sketch.state = linear_on_vectors(sketch, x, outputs);
      return;
    case 2:
      sketch.note("residual(");
      sketch.state = x + sketch.activate(linear_on_vectors(sketch, x, features));
      sketch.note(")");
      return;
    case 3: {
      sketch.note("twice(");
      const Tensor weight = sketch.parameter({features, features}, features);
      sketch.state = at::linear(sketch.activate(at::linear(x, weight)), weight);
      sketch.note(")");
      return;
    }
    case 4:
      sketch.state = normalise_vectors(sketch, x);
      return;
    case 5:
      sketch.state = at::linear(x, composed_weight(sketch, outputs, features));
      sketch.note("linear");
      return;
    case 6: {
      sketch.note("gated");
      const auto halves = linear_on_vectors(sketch, x, 2 * outputs).chunk(2, 1);
      sketch.state = halves[0] * halves[1].sigmoid();
      return;
    }
    case 7:
      sketch.note("concat");
      sketch.state = at::cat({x, linear_on_vectors(sketch, x, outputs)}, 1);
      return;
    case 8:
      sketch.note("scale+shift");
      sketch.state = x * sketch.factor({sketch.chance(0.5) ? features : 1}) +
                     sketch.parameter({sketch.chance(0.5) ? features : 1});
      return;
    case 9:
      sketch.note("reversed/divided");
      sketch.state = x.flip(1) / (sketch.factor({features}).square() + 1.0);
      return;
    case 10:
      // Individual gradients stay defined when samples meet; only the fast rules do not apply.
      if (sketch.chance(0.3)) {
        sketch.note("minus-batch-mean");
        sketch.state = x - 0.5 * x.mean(0, /*keepdim=*/true);
        return;
      }
      sketch.note("softmax");
      sketch.state = x.softmax(1);
      return;
    case 11:
      to_sequence(sketch);
      return;
    case 12:
      sketch.state = grow_complex(sketch, x);
      return;
    default:
      to_image(sketch);
  }
}

}  // namespace flightdeck::tests
