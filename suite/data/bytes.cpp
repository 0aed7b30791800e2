// SPDX-License-Identifier: MIT
// Sequences of 64 bytes in ten classes: a quarter of a sequence comes from bytes that its class
// prefers, the rest from all.
#include <ATen/Functions.h>

#include "suite/data/source.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kClasses = 10;
constexpr int64_t kLength = 64;

Samples draw(Generator& generator, int64_t n) {
  Samples samples{at::empty({n, kLength}, at::kByte), at::empty({n}, at::kLong)};
  uint8_t* tokens = samples.inputs.data_ptr<uint8_t>();
  int64_t* labels = samples.targets.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    labels[i] = uniform_integer(generator, kClasses);
    for (int64_t t = 0; t < kLength; ++t) {
      const int64_t own = labels[i] + kClasses * uniform_integer(generator, 25);
      const int64_t any = uniform_integer(generator, 256);
      tokens[i * kLength + t] =
          static_cast<uint8_t>(uniform_integer(generator, 4) == 0 ? own : any);
    }
  }
  return samples;
}

Parts generate(uint64_t seed) {
  Generator generator = generator_of(seed, /*purpose=*/0);
  Parts parts;
  parts.train = draw(generator, 12000);
  parts.test = draw(generator, 2000);
  return parts;
}

}  // namespace

DataSource bytes() {
  DataSource source;
  source.name = "bytes";
  source.summary = "generated sequences of 64 bytes, 10 classes, 12 000 + 2 000";
  source.classes = kClasses;
  source.valid_share = 1.0 / 6.0;
  source.is_synthetic = true;
  source.generate = &generate;
  source.prepare = [](const Tensor& tokens) { return tokens.to(at::kLong); };
  return source;
}

}  // namespace flightdeck::suite::data_sets
