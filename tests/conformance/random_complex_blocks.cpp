// SPDX-License-Identifier: MIT
// Random detours through complex numbers for real activations [..., F].
#include <torch/torch.h>

#include "conformance/random_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

Tensor complex_parameter(Sketch& sketch, std::vector<int64_t> shape) {
  if (sketch.chance(0.5)) {
    sketch.note("complex(w,w)");
    return at::complex(sketch.parameter(shape), sketch.parameter(shape));
  }
  sketch.note("view_as_complex(w)");
  shape.push_back(2);
  return at::view_as_complex(sketch.parameter(shape));
}

// [..., F] real -> [..., G] complex.
Tensor to_complex(Sketch& sketch, const Tensor& x) {
  const int64_t features = x.size(-1);
  switch (sketch.integer(0, 4)) {
    case 0:
      if (features % 2 == 0) {
        sketch.note("view_as_complex");
        std::vector<int64_t> pairs = x.sizes().vec();
        pairs.back() = features / 2;
        pairs.push_back(2);
        return at::view_as_complex(x.reshape(pairs).contiguous());
      }
      [[fallthrough]];
    case 1:
      sketch.note("complex");
      return at::complex(x, x.flip(-1).tanh());
    case 2:
      sketch.note("rfft");
      return at::fft_rfft(x, {}, -1, sketch.chance(0.5) ? "ortho" : "backward");
    case 3:
      sketch.note("polar");
      return at::polar(x.exp().add(0.1), x * sketch.factor({features}));
    default:
      sketch.note("cast");
      return x.to(at::kComplexDouble);
  }
}

Tensor change(Sketch& sketch, const Tensor& z) {
  const int64_t features = z.size(-1);
  switch (sketch.integer(0, 8)) {
    case 0: {
      sketch.note("rotate");
      const Tensor angles = random({features});
      return z * at::polar(at::ones_like(angles), angles);
    }
    case 1:
      sketch.note("scale");
      return z * complex_parameter(sketch, {features});
    case 2:
      sketch.note("shift");
      return z.conj() - complex_parameter(sketch, {features});
    case 3:
      sketch.note("matmul");
      return at::matmul(z, complex_parameter(sketch, {features, sketch.integer(1, 3)}));
    case 4: {
      sketch.note("modrelu");
      const Tensor size = z.abs();
      return (size + sketch.parameter({features})).relu() * z / (size + 0.1);
    }
    case 5: {
      sketch.note("phase");
      const Tensor angles = sketch.parameter({features});
      return z * at::complex(angles.cos(), angles.sin());
    }
    case 6:
      sketch.note("fft");
      return at::fft_fft(z, {}, -1, "ortho");
    case 7:
      sketch.note("z*z/(1+|z|)");
      return z * z / (z.abs() + 1.0);
    default:
      sketch.note("tanh");
      return (0.3 * z).tanh();
  }
}

// [..., G] complex -> real.
Tensor to_real(Sketch& sketch, const Tensor& z) {
  switch (sketch.integer(0, 5)) {
    case 0:
      sketch.note("view_as_real");
      return at::view_as_real(z.resolve_conj()).flatten(-2);
    case 1:
      sketch.note("irfft");
      return at::fft_irfft(z, 2 * z.size(-1) - (z.size(-1) > 1 ? 2 : 1));
    case 2:
      sketch.note("real");
      return at::real(z);
    case 3:
      sketch.note("imag(conj)");
      return at::imag(z.conj());
    case 4:
      sketch.note("abs");
      return (z + 3.0).abs();
    default:
      sketch.note("cos(angle)");
      return (z + 3.0).angle().cos();
  }
}

}  // namespace

Tensor grow_complex(Sketch& sketch, const Tensor& x) {
  sketch.note("complex(");
  Tensor z = to_complex(sketch, x);
  for (int64_t change_count = sketch.integer(0, 2); change_count > 0; --change_count) {
    z = change(sketch, z);
  }
  const Tensor y = to_real(sketch, z);
  sketch.note(")");
  return y;
}

}  // namespace flightdeck::tests
