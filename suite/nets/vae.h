// SPDX-License-Identifier: MIT
// DeepOBS's variational autoencoder of 28 x 28 grey images.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Outputs [N, 784 + 8 + 8]: reconstruction minus image, means and logarithms of the deviations of
/// the latent variables. The latter are drawn, also in evaluation.
Model vae();

/// Returns the square error of the reconstruction plus the Kullback-Leibler divergence of the
/// latent distribution from the standard normal one, [N].
Tensor vae_losses(const Tensor& outputs);

}  // namespace flightdeck::suite::nets
