// SPDX-License-Identifier: MIT
#include "conformance/random_model.h"

#include <cmath>

#include <torch/torch.h>

#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

// Losses of a batch of outputs [N, C].
Tensor vector_losses(Sketch& sketch, const Tensor& outputs) {
  sketch.outputs = outputs;
  const int64_t N = outputs.size(0);
  const int64_t C = outputs.size(1);
  switch (sketch.integer(0, 4)) {
    case 0:
      sketch.note("cross_entropy");
      return F::cross_entropy(
          outputs, random_integers({N}, C), F::CrossEntropyFuncOptions().reduction(torch::kNone));
    case 1:
      sketch.note("mse.mean(1)");
      return F::mse_loss(outputs, random({N, C}), F::MSELossFuncOptions().reduction(torch::kNone))
          .mean(1);
    case 2:
      sketch.note("bce.sum(1)");
      return F::binary_cross_entropy_with_logits(
                 outputs,
                 random({N, C}).sigmoid(),
                 F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone))
          .sum(1);
    case 3:
      sketch.note("logsumexp");
      return outputs.logsumexp(1);
    default:
      sketch.note("quadratic");
      return losses_of(outputs);
  }
}

// Token losses averaged per sequence.
Tensor sequence_losses(Sketch& sketch) {
  const int64_t C = sketch.state.size(2);
  const int64_t tokens = sketch.state.size(0) * sketch.state.size(1);
  sketch.note("token cross_entropy");
  const Tensor losses = F::cross_entropy(sketch.state.reshape({tokens, C}),
                                         random_integers({tokens}, C),
                                         F::CrossEntropyFuncOptions().reduction(torch::kNone));
  return losses.view({sketch.state.size(0), sketch.state.size(1)})
      .mean(sketch.is_time_major ? 0 : 1);
}

Tensor end(Sketch& sketch) {
  sketch.outputs = sketch.state;
  switch (sketch.kind) {
    case Sketch::Kind::kVector: {
      if (sketch.chance(0.3)) return vector_losses(sketch, sketch.state);
      const int64_t I = sketch.state.size(1);
      const int64_t C = sketch.integer(1, 4);
      sketch.note("linear");
      const Tensor weight = sketch.parameter({C, I}, I);
      return vector_losses(sketch, at::linear(sketch.state, weight, sketch.optional_bias(C)));
    }
    case Sketch::Kind::kSequence:
      if (sketch.chance(0.5)) return sequence_losses(sketch);
      sketch.note("quadratic");
      return losses_of(sketch.is_time_major ? sketch.state.transpose(0, 1) : sketch.state);
    default:
      sketch.note("quadratic");
      return losses_of(sketch.state);
  }
}

}  // namespace

void begin(Sketch& sketch) {
  const int64_t N = sketch.batch_size;
  switch (sketch.integer(0, 3)) {
    case 0:
      sketch.kind = Sketch::Kind::kVector;
      sketch.state = random({N, sketch.integer(1, 6)});
      break;
    case 1: {
      sketch.kind = Sketch::Kind::kSequence;
      sketch.is_time_major = sketch.chance(0.5);
      const int64_t T = sketch.integer(1, 5);
      const int64_t I = sketch.integer(1, 5);
      sketch.state = sketch.is_time_major ? random({T, N, I}) : random({N, T, I});
      break;
    }
    case 2: {
      sketch.kind = Sketch::Kind::kSequence;
      sketch.is_time_major = sketch.chance(0.5);
      const int64_t T = sketch.integer(1, 5);
      const int64_t words = sketch.integer(2, 6);
      const Tensor table = sketch.parameter({words, sketch.integer(1, 5)});
      const Tensor tokens =
          sketch.is_time_major ? random_integers({T, N}, words) : random_integers({N, T}, words);
      sketch.state = at::embedding(table, tokens, sketch.chance(0.3) ? 0 : -1);
      sketch.note("embedding");
      break;
    }
    default:
      sketch.kind = Sketch::Kind::kImage;
      sketch.state = random({N, sketch.integer(1, 4), sketch.integer(3, 7), sketch.integer(3, 7)});
  }
  std::ostringstream shape;
  shape << "input" << sketch.state.sizes() << (sketch.is_time_major ? " time-major" : "");
  sketch.note(shape.str());
}

Sketch::Sketch(uint64_t seed) : random_(seed) {}

// The standard leaves the mapping of its distributions open; this one is the same everywhere.
int64_t Sketch::integer(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
}

bool Sketch::chance(double probability) {
  return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

Tensor Sketch::parameter(at::IntArrayRef shape, int64_t fan_in) {
  if (chance(0.25)) {
    for (const NamedParameter& present : parameters) {
      if (present.tensor.sizes() != shape || present.tensor.scalar_type() != at::kDouble) continue;
      note("(tied to " + present.name + ")");
      return present.tensor;
    }
  }
  return remember(random_parameter(shape, 1.0 / std::sqrt(static_cast<double>(fan_in))));
}

Tensor Sketch::factor(at::IntArrayRef shape) {
  return remember(random(shape).mul_(0.3).add_(1.0).requires_grad_(true));
}

Tensor Sketch::remember(const Tensor& leaf) {
  const size_t count = parameters.size();
  parameters.push_back(count < reused.size() ? reused[count]
                                             : NamedParameter{"p" + std::to_string(count), leaf});
  return parameters.back().tensor;
}

Tensor Sketch::optional_bias(int64_t size) { return chance(0.7) ? parameter({size}) : Tensor(); }

Tensor Sketch::activate(const Tensor& x) {
  switch (integer(0, 9)) {
    case 0:
      note("tanh");
      return x.tanh();
    case 1:
      note("sigmoid");
      return x.sigmoid();
    case 2:
      note("gelu");
      return at::gelu(x);
    case 3:
      note("elu");
      return at::elu(x);
    case 4:
      note("leaky_relu");
      return at::leaky_relu(x, 0.1);
    case 5:
      note("silu");
      return at::silu(x);
    case 6:
      note("softplus");
      return at::softplus(x);
    case 7:
      note("dropout");
      return at::dropout(x, 0.3, /*train=*/true);
    case 8:
      return x;
    default:
      note("relu");
      return x.relu();
  }
}

void Sketch::note(const std::string& word) {
  description += description.empty() ? word : " " + word;
}

RandomModel random_model(uint64_t seed) {
  torch::manual_seed(seed);
  Sketch sketch(seed);
  sketch.batch_size = sketch.integer(1, 4);
  begin(sketch);
  const int64_t depth = sketch.integer(1, 6);
  for (int64_t block = 0; block < depth; ++block) {
    switch (sketch.kind) {
      case Sketch::Kind::kVector:
        grow_vector(sketch);
        break;
      case Sketch::Kind::kSequence:
        grow_sequence(sketch);
        break;
      case Sketch::Kind::kImage:
        grow_image(sketch);
        break;
    }
    sketch.state = sketch.activate(sketch.state);
  }
  // At least one parameter, behind all blocks that may have none.
  sketch.note("scale");
  sketch.state = sketch.state * sketch.factor({sketch.state.size(-1)});
  RandomModel model;
  model.losses = end(sketch);
  model.outputs = sketch.outputs;
  model.parameters = std::move(sketch.parameters);
  model.description = std::move(sketch.description);
  return model;
}

}  // namespace flightdeck::tests
