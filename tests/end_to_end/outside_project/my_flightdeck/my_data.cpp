// SPDX-License-Identifier: MIT
#include <suite/data/source.h>

#include <torch/torch.h>

namespace {

namespace suite = flightdeck::suite;

// Points of the plane, inside or outside of a ring.
suite::Samples points(suite::Generator& generator, int64_t count) {
  const torch::Tensor inputs = suite::uniforms(generator, 2 * count, -1, 1).view({count, 2});
  return {inputs, (inputs.norm(2, 1) < 0.7).to(torch::kLong)};
}

suite::DataSource my_data() {
  suite::DataSource source;
  source.name = "my_data";
  source.summary = "points of the plane, inside or outside of a ring";
  source.classes = 2;
  source.valid_share = 0.2;
  source.generate = [](uint64_t seed) {
    suite::Generator generator = suite::generator_of(seed, /*purpose=*/0);
    suite::Parts parts;
    parts.train = points(generator, 500);
    parts.test = points(generator, 100);
    return parts;
  };
  source.prepare = [](const torch::Tensor& inputs) { return inputs; };
  return source;
}

const bool kHasMyData = suite::register_data_source(my_data());

}  // namespace
