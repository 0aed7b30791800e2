// SPDX-License-Identifier: MIT
// Random blocks for sequences, batch-major [N, T, F] or time-major [T, N, F].
#include <cmath>

#include <torch/torch.h>

#include "conformance/random_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

int64_t time_axis(const Sketch& sketch) { return sketch.is_time_major ? 0 : 1; }

Tensor batch_major(const Sketch& sketch) {
  return sketch.is_time_major ? sketch.state.transpose(0, 1) : sketch.state;
}

void set_batch_major(Sketch& sketch, const Tensor& sequence) {
  sketch.state = sketch.is_time_major ? sequence.transpose(0, 1) : sequence;
}

Tensor linear_on_sequences(Sketch& sketch, const Tensor& x, int64_t outputs) {
  const int64_t inputs = x.size(-1);
  const Tensor weight = sketch.parameter({outputs, inputs}, inputs);
  switch (sketch.integer(0, 3)) {
    case 0: {
      sketch.note("flattened linear");
      const Tensor flat =
          at::linear(x.reshape({-1, inputs}), weight, sketch.optional_bias(outputs));
      return flat.view({x.size(0), x.size(1), outputs});
    }
    case 1:
      sketch.note("einsum");
      return at::einsum("abi,ji->abj", {x, weight});
    case 2:
      sketch.note("expanded bmm");
      return at::bmm(x, weight.t().expand({x.size(0), inputs, outputs}));
    default:
      sketch.note("linear");
      return at::linear(x, weight, sketch.optional_bias(outputs));
  }
}

// Linear map along the time axis.
void mix_time(Sketch& sketch) {
  sketch.note("over time:");
  const Tensor mixed =
      linear_on_sequences(sketch, batch_major(sketch).transpose(1, 2), sketch.integer(1, 5));
  set_batch_major(sketch, mixed.transpose(1, 2));
}

void add_positions(Sketch& sketch) {
  sketch.note("positions");
  const int64_t T = sketch.state.size(time_axis(sketch));
  const int64_t features = sketch.state.size(2);
  sketch.state = sketch.is_time_major ? sketch.state + sketch.parameter({T, 1, features})
                                      : sketch.state + sketch.parameter({T, features});
}

void attend(Sketch& sketch) {
  const int64_t heads = sketch.integer(1, 2);
  const int64_t width = heads * sketch.integer(1, 3);
  const Tensor x = batch_major(sketch);
  const int64_t N = x.size(0), T = x.size(1), features = x.size(2);
  Tensor query, key, value;
  if (sketch.chance(0.5)) {
    sketch.note("packed attention");
    const Tensor packed = sketch.parameter({3 * width, features}, features);
    const auto parts = at::linear(x, packed, sketch.optional_bias(3 * width)).chunk(3, 2);
    query = parts[0], key = parts[1], value = parts[2];
  } else {
    sketch.note("chunked-weight attention");
    const auto parts = sketch.parameter({3 * width, features}, features).chunk(3, 0);
    query = at::linear(x, parts[0]);
    key = at::linear(x, parts[1]);
    value = at::linear(x, parts[2]);
  }
  const auto split = [&](const Tensor& t) {
    return t.reshape({N, T, heads, width / heads}).transpose(1, 2);
  };
  const double scale = 1.0 / std::sqrt(static_cast<double>(width / heads));
  const Tensor scores = at::matmul(split(query) * scale, split(key).transpose(2, 3)).softmax(-1);
  const Tensor mixed = at::matmul(scores, split(value)).transpose(1, 2).reshape({N, T, width});
  const Tensor merged = linear_on_sequences(sketch, mixed, features);
  set_batch_major(sketch, sketch.chance(0.5) ? x + merged : merged);
}

void recur(Sketch& sketch) {
  const int64_t inputs = sketch.state.size(2);
  const int64_t hidden = sketch.integer(1, 3);
  const bool is_bidirectional = sketch.chance(0.3);
  const int64_t layers = sketch.chance(0.3) ? 2 : 1;
  const bool has_bias = sketch.chance(0.7);
  const int64_t cell = sketch.integer(0, 2);
  const int64_t gates = cell == 0 ? 1 : cell == 1 ? 4 : 3;
  const int64_t directions = is_bidirectional ? 2 : 1;
  std::vector<Tensor> weights;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t width = layer == 0 ? inputs : directions * hidden;
    for (int64_t direction = 0; direction < directions; ++direction) {
      weights.push_back(sketch.parameter({gates * hidden, width}, width));
      weights.push_back(sketch.parameter({gates * hidden, hidden}, hidden));
      if (!has_bias) continue;
      weights.push_back(sketch.parameter({gates * hidden}));
      weights.push_back(sketch.parameter({gates * hidden}));
    }
  }
  const Tensor start = at::zeros({layers * directions, sketch.batch_size, hidden}, doubles());
  const bool batch_first = !sketch.is_time_major;
  const Tensor& x = sketch.state;
  sketch.note(std::string(is_bidirectional ? "bidirectional " : "") + std::to_string(layers) +
              "-layer " +
              (cell == 0   ? "rnn"
               : cell == 1 ? "lstm"
                           : "gru"));
  if (cell == 0) {
    sketch.state = std::get<0>(at::rnn_tanh(
        x, start, weights, has_bias, layers, 0.0, true, is_bidirectional, batch_first));
  } else if (cell == 1) {
    sketch.state = std::get<0>(at::lstm(
        x, {start, start}, weights, has_bias, layers, 0.0, true, is_bidirectional, batch_first));
  } else {
    sketch.state = std::get<0>(
        at::gru(x, start, weights, has_bias, layers, 0.0, true, is_bidirectional, batch_first));
  }
}

void convolve(Sketch& sketch) {
  sketch.note("conv1d");
  const int64_t features = sketch.state.size(2);
  const int64_t outputs = sketch.integer(1, 4);
  const Tensor weight = sketch.parameter({outputs, features, 3}, 3 * features);
  const Tensor mixed = at::conv1d(batch_major(sketch).transpose(1, 2),
                                  weight,
                                  sketch.optional_bias(outputs),
                                  /*stride=*/1,
                                  /*padding=*/1);
  set_batch_major(sketch, mixed.transpose(1, 2));
}

void to_vector(Sketch& sketch) {
  const int64_t axis = time_axis(sketch);
  switch (sketch.integer(0, 3)) {
    case 0:
      sketch.note("mean over time");
      sketch.state = sketch.state.mean(axis);
      break;
    case 1:
      sketch.note("max over time");
      sketch.state = std::get<0>(sketch.state.max(axis));
      break;
    case 2:
      sketch.note("last step");
      sketch.state = sketch.state.select(axis, sketch.state.size(axis) - 1);
      break;
    default:
      sketch.note("flatten");
      sketch.state = batch_major(sketch).flatten(1);
  }
  sketch.is_time_major = false;
  sketch.kind = Sketch::Kind::kVector;
}

}  // namespace

void grow_sequence(Sketch& sketch) {
  const int64_t features = sketch.state.size(2);
  switch (sketch.integer(0, 11)) {
    case 0:
    case 1:
      sketch.state = linear_on_sequences(sketch, sketch.state, sketch.integer(1, 5));
      return;
    case 2:
      mix_time(sketch);
      return;
    case 3:
      add_positions(sketch);
      return;
    case 4: {
      // Over one entry it is zero up to rounding, and so are the gradients behind it.
      if (features == 1) return add_positions(sketch);
      sketch.note("layer_norm");
      const Tensor scale = sketch.factor({features});
      sketch.state = at::layer_norm(sketch.state, {features}, scale, sketch.parameter({features}));
      return;
    }
    case 5:
    case 6:
      attend(sketch);
      return;
    case 7:
      recur(sketch);
      return;
    case 8:
      convolve(sketch);
      return;
    case 9:
      sketch.note("transpose");
      sketch.state = sketch.state.transpose(0, 1);
      sketch.is_time_major = !sketch.is_time_major;
      return;
    case 10: {
      sketch.note("residual(");
      const Tensor hidden =
          sketch.activate(linear_on_sequences(sketch, sketch.state, sketch.integer(1, 5)));
      sketch.state = sketch.state + linear_on_sequences(sketch, hidden, features);
      sketch.note(")");
      return;
    }
    default:
      to_vector(sketch);
  }
}

}  // namespace flightdeck::tests
