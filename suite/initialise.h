// SPDX-License-Identifier: MIT
// Initial values of network parameters that LibTorch does not offer by itself.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace flightdeck::suite {

/// Fills `weight` from a normal distribution of deviation `sigma`, redrawing entries beyond
/// 2 sigma. The resulting deviation is 0.8796 sigma: it is not corrected.
void truncated_normal_(at::Tensor weight, double sigma);

/// Applies `weights` to every parameter called "weight" and fills every "bias" with `bias`.
void initialise(torch::nn::Module& module,
                const std::function<void(at::Tensor)>& weights,
                double bias);

/// Does the same for networks with normalisation: scales, which are "weight" too but have one
/// dimension, keep their values.
void initialise_matrices(torch::nn::Module& module,
                         const std::function<void(at::Tensor)>& weights,
                         double bias);

/// Draws Glorot normal for convolutions, Glorot uniform for dense layers.
void glorot_(at::Tensor weight);

}  // namespace flightdeck::suite
