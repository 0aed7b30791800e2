// SPDX-License-Identifier: MIT
// A generator of random models: one seed, one graph with its parameters, its losses and a
// description a person can rebuild it from.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "flightdeck/flightdeck.h"

namespace flightdeck::tests {

struct RandomModel {
  Tensor losses;   // [N]
  Tensor outputs;  // what the losses were computed from
  std::vector<NamedParameter> parameters;
  std::string description;
};

// The same seed gives the same model wherever compiler and LibTorch are the same.
RandomModel random_model(uint64_t seed);

// The activations while a model grows, and what its blocks share.
class Sketch {
 public:
  enum class Kind {
    kVector,    // [N, F]
    kSequence,  // [N, T, F], or [T, N, F] while is_time_major
    kImage,     // [N, C, H, W]
  };

  explicit Sketch(uint64_t seed);

  // Uniform in [low, high].
  int64_t integer(int64_t low, int64_t high);
  bool chance(double probability);

  // A parameter with entries of deviation 1/sqrt(fan_in). Sometimes one of the same shape that is
  // already there: weight tying.
  Tensor parameter(at::IntArrayRef shape, int64_t fan_in = 1);
  // A parameter around one, for factors.
  Tensor factor(at::IntArrayRef shape);
  // A random elementwise activation function.
  Tensor activate(const Tensor& x);
  // A bias or an undefined tensor.
  Tensor optional_bias(int64_t size);

  // Takes a leaf as the next parameter and returns it; or the one `reused` has in its place.
  Tensor remember(const Tensor& leaf);

  // Adds a word to the description.
  void note(const std::string& word);

  int64_t batch_size = 1;
  Kind kind = Kind::kVector;
  bool is_time_major = false;
  Tensor state;
  Tensor outputs;  // set where the losses are formed

  std::vector<NamedParameter> parameters;
  // The parameters of an earlier sketch of the same seed: the same model, after an update.
  std::vector<NamedParameter> reused;
  std::string description;

 private:
  std::mt19937_64 random_;
};

// Random inputs: vectors, sequences, tokens behind an embedding, or images.
void begin(Sketch& sketch);
// Each applies one random block to a sketch of its kind.
void grow_vector(Sketch& sketch);
void grow_sequence(Sketch& sketch);
void grow_image(Sketch& sketch);

// A random detour through complex numbers: real [..., F] to real [..., G], whatever the kind.
Tensor grow_complex(Sketch& sketch, const Tensor& x);

}  // namespace flightdeck::tests
