// SPDX-License-Identifier: MIT
#include "curvature/complex_models.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

constexpr int64_t N = 4;
constexpr int64_t kInputs = 3;
constexpr int64_t kSteps = 3;  // positions of a sequence

// The parameter in front has an odd number of entries: complex views of what follows start at odd
// offsets of a joined vector.
struct Draft {
  ParameterList parameters;
  Tensor x = random({N, kInputs});

  Tensor parameter(const std::string& name, at::IntArrayRef shape) {
    const Tensor tensor = random_parameter(shape);
    parameters.add(name, tensor);
    return tensor;
  }
  // A real parameter [*shape, 2] seen as a complex one.
  Tensor complex_parameter(const std::string& name, std::vector<int64_t> shape) {
    shape.push_back(2);
    return at::view_as_complex(parameter(name, shape));
  }
  Tensor linear(const std::string& name, int64_t outputs) {
    return F::linear(x, parameter(name, {outputs, kInputs}));
  }
  // Complex activations [N, features].
  Tensor complex_linear(int64_t features, const std::string& name = "input") {
    return at::view_as_complex(linear(name, 2 * features).view({N, features, 2}));
  }
  // The losses of real features, of both signs.
  Model finish(const Tensor& features, int64_t outputs = 3) {
    const Tensor flat = features.reshape({N, -1});
    const Tensor weight = parameter("head", {outputs, flat.size(1)});
    const Tensor y = F::linear(flat, weight);
    return {cross_entropies(y, random_integers({N}, outputs)), y, parameters};
  }
  Model finish_squared(const Tensor& features) {
    const Tensor y = features.reshape({N, -1});
    return {mean_squared_errors(y, random(y.sizes())), y, parameters};
  }
};

Tensor random_complex(at::IntArrayRef shape) { return at::complex(random(shape), random(shape)); }

Tensor rotations(at::IntArrayRef shape) {
  const Tensor angles = random(shape);
  return at::polar(at::ones_like(angles), angles);
}

Tensor both_parts(const Tensor& z) { return at::cat({at::real(z), at::imag(z)}, -1); }

Model rotary_embedding() {
  Draft draft;
  const Tensor z = draft.complex_linear(2) * rotations({2});
  return draft.finish(at::view_as_real(z).flatten(1).tanh());
}

// Queries and keys [N, T, F] turned by their positions; scores are real parts of Hermitian
// products.
Model rotary_attention() {
  Draft draft;
  const Tensor x = random({N, kSteps, kInputs});
  const Tensor turns = rotations({kSteps, 2});
  const auto turned = [&](const char* name) {
    const Tensor flat = F::linear(x, draft.parameter(name, {4, kInputs}));
    return at::view_as_complex(flat.view({N, kSteps, 2, 2})) * turns;
  };
  const Tensor q = turned("query"), k = turned("key");
  const Tensor scores = at::real(at::matmul(q, k.conj().transpose(1, 2)));
  const Tensor v = F::linear(x, draft.parameter("value", {2, kInputs}));
  return draft.finish(at::matmul(scores.softmax(-1), v));
}

Model constant_filter() {
  Draft draft;
  const Tensor spectrum = at::fft_rfft(draft.linear("input", 5));
  return draft.finish(at::fft_irfft(spectrum * random_complex({3}), 5).tanh());
}

Model learned_filter() {
  Draft draft;
  const Tensor spectrum = at::fft_rfft(draft.linear("input", 6), {}, -1, "ortho");
  const Tensor filter = draft.complex_parameter("filter", {4});
  return draft.finish(at::fft_irfft(spectrum * filter, 6, -1, "ortho").tanh());
}

// Transforms of two dimensions there and back, with the samples in the last one.
Model filter_of_images() {
  Draft draft;
  const Tensor planes = draft.linear("input", 12).t().reshape({3, 4, N});
  const Tensor filter = draft.complex_parameter("filter", {3, 3, 1});
  const Tensor filtered = at::fft_irfft2(at::fft_rfft2(planes, {}, {0, 1}) * filter, {}, {0, 1});
  return draft.finish(filtered.sigmoid().reshape({12, N}).t());
}

Model magnitudes_of_a_spectrum() {
  Draft draft;
  const Tensor spectrum = at::fft_fft(draft.linear("input", 4));
  return draft.finish(at::fft_ifft(spectrum * spectrum.conj() * spectrum).abs());
}

Model products_of_parts() {
  Draft draft;
  const Tensor z = at::complex(draft.linear("real", 2), draft.linear("imaginary", 2));
  return draft.finish_squared(both_parts(z * z.conj() * z / (z * z + 3)));
}

Model complex_layers() {
  Draft draft;
  Tensor z = draft.complex_linear(3);
  z = at::matmul(z, draft.complex_parameter("weight", {3, 2})) +
      draft.complex_parameter("bias", {2});
  const Tensor size = z.abs();
  z = (size + draft.parameter("threshold", {2})).relu() * z / (size + 0.1);
  return draft.finish(both_parts(z));
}

// Weights from two real parameters, and one that is made complex by a cast.
Model weights_of_parts() {
  Draft draft;
  const Tensor first = at::complex(draft.parameter("real", {2, kInputs}),
                                   draft.parameter("imaginary", {2, kInputs}));
  const Tensor z = F::linear(draft.x.to(at::kComplexDouble), first);
  const Tensor second = draft.parameter("second", {2, 2}).to(at::kComplexDouble);
  const c10::complex<double> alpha(0.5, 1.5), beta(0.2, -0.7);
  const Tensor bias = draft.complex_parameter("bias", {2});
  return draft.finish(both_parts(at::addmm(bias, z, second, beta, alpha).tanh()));
}

Model polar_weights() {
  Draft draft;
  const Tensor factor =
      at::polar(draft.parameter("size", {3}).exp(), draft.parameter("angle", {3}));
  const Tensor z = draft.complex_linear(3);
  return draft.finish(both_parts(z * factor));
}

// Factors and summands of the other kind: real ones of complex activations, and phases e^(i phi).
Model phases_and_mixed_types() {
  Draft draft;
  const Tensor phase = draft.parameter("phase", {3});
  const Tensor i = at::complex(at::zeros({}, doubles()), at::ones({}, doubles()));
  Tensor z = draft.complex_linear(3) * (phase * i).exp();
  z = z * draft.parameter("scale", {3}) - draft.parameter("shift", {3});
  z = at::add(z, draft.linear("skip", 3), c10::complex<double>(0.3, -0.8));
  z = at::cat({z / draft.parameter("divisor", {1}).exp(), draft.linear("joined", 1).to(z.dtype())},
              1);
  return draft.finish(both_parts(z));
}

Model angles_and_signs() {
  Draft draft;
  const Tensor z = draft.complex_linear(3);
  const Tensor w = draft.complex_linear(2, "other");
  return draft.finish(at::cat({z.angle().cos(), both_parts(w.sgn()), z.conj().angle().sin()}, 1));
}

Model holomorphic_functions() {
  Draft draft;
  const Tensor z = draft.complex_linear(2);
  return draft.finish(both_parts((z.exp() + z.pow(3)).tanh() + (z * z + 4).log() + z.sin()));
}

// Complex attention: the magnitudes of Hermitian products weigh complex values.
Model attention_by_magnitudes() {
  Draft draft;
  const Tensor x = random({N, kSteps, kInputs}).to(at::kComplexDouble);
  const auto projected = [&](const char* name) {
    return at::matmul(x, draft.complex_parameter(name, {kInputs, 2}));
  };
  const Tensor q = projected("query"), k = projected("key"), v = projected("value");
  const Tensor weights = at::matmul(q, k.conj().transpose(1, 2)).abs().softmax(-1);
  return draft.finish(both_parts(at::matmul(weights.to(v.dtype()), v)));
}

// What moves entries about, adds them up or leaves some out.
Model rearrangements() {
  Draft draft;
  Tensor z = draft.complex_linear(6).view({N, 2, 3}).transpose(1, 2);  // [N, 3, 2]
  z = at::cat({z.flip(1), z.roll(1, 1), z.slice(1, 0, 2)}, 1);         // [N, 8, 2]
  z = z.index_select(1, at::tensor({7, 0, 3, 3}, at::kLong).to(test_device()));
  z = at::where(random({4, 2}) > -0.5, z, z.conj()) * z.cumsum(1);
  const Tensor sums = z.sum(1) + z.mean(at::IntArrayRef({1})) + z.select(1, 2);
  return draft.finish(at::cat({both_parts(sums), z.var(1)}, 1));
}

// The imaginary part of a conjugate is a view of negated numbers.
Model negated_views() {
  Draft draft;
  const Tensor z = draft.complex_linear(6);
  const Tensor images = at::imag(z.conj()).view({N, 1, 2, 3});
  const Tensor maps = at::conv2d(images, draft.parameter("kernel", {2, 1, 2, 2}));
  const Tensor w = at::complex(maps, maps.square()).conj();
  return draft.finish(at::imag(w).flatten(1));
}

// Complex matrices and vectors in the products that have rules of their own.
Model products_of_matrices() {
  Draft draft;
  const Tensor z = draft.complex_linear(4);
  const Tensor columns = at::mm(draft.complex_parameter("left", {3, 4}), z.t()).t();
  const Tensor heads = at::einsum(
      "nhi,hij->nhj",
      {columns.unsqueeze(1).expand({N, 2, 3}), draft.complex_parameter("heads", {2, 3, 2})});
  const Tensor vector = at::mv(columns, draft.complex_parameter("vector", {3}));
  return draft.finish(both_parts(at::cat({heads.flatten(1), vector.unsqueeze(1)}, 1)));
}

Model complex_convolution() {
  Draft draft;
  const Tensor z = draft.complex_linear(5).view({N, 1, 5});
  const Tensor maps = at::conv1d(z, draft.complex_parameter("kernel", {2, 1, 3}));
  return draft.finish(both_parts(maps.flatten(1)));
}

// The same complex weight twice, the second time behind the first.
Model tied_complex_weights() {
  Draft draft;
  const Tensor weight = draft.complex_parameter("weight", {2, 2});
  const Tensor z = at::matmul(at::matmul(draft.complex_linear(2), weight).tanh(), weight.conj());
  return draft.finish(both_parts(z));
}

// Nothing but magnitudes above ops whose factors are complex: data, a divisor and a matrix.
Model magnitudes_of_complex_data() {
  Draft draft;
  Tensor z = at::matmul(random_complex({N, 3}), draft.complex_parameter("weight", {3, 2}));
  z = at::mul(z, draft.complex_parameter("factor", {2}));
  z = at::add(z / (draft.complex_parameter("divisor", {2}) + 3), draft.parameter("shift", {2}));
  return draft.finish(z.abs());
}

// The losses are squared magnitudes.
Model squared_magnitudes() {
  Draft draft;
  const Tensor z = draft.complex_linear(3) * draft.complex_parameter("factor", {3});
  return draft.finish_squared(at::view_as_real(z - random_complex({N, 3})));
}

}  // namespace

const std::vector<ModelCase>& complex_models() {
  static const std::vector<ModelCase> all = {
      {"rotary_embedding", rotary_embedding},
      {"rotary_attention", rotary_attention},
      {"constant_filter", constant_filter},
      {"learned_filter", learned_filter},
      {"filter_of_images", filter_of_images},
      {"magnitudes_of_a_spectrum", magnitudes_of_a_spectrum},
      {"products_of_parts", products_of_parts},
      {"complex_layers", complex_layers},
      {"weights_of_parts", weights_of_parts},
      {"polar_weights", polar_weights},
      {"phases_and_mixed_types", phases_and_mixed_types},
      {"angles_and_signs", angles_and_signs},
      {"holomorphic_functions", holomorphic_functions},
      {"attention_by_magnitudes", attention_by_magnitudes},
      {"rearrangements", rearrangements},
      {"negated_views", negated_views},
      {"products_of_matrices", products_of_matrices},
      {"complex_convolution", complex_convolution},
      {"tied_complex_weights", tied_complex_weights},
      {"magnitudes_of_complex_data", magnitudes_of_complex_data},
      {"squared_magnitudes", squared_magnitudes},
  };
  return all;
}

}  // namespace flightdeck::tests
