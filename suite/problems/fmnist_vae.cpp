// SPDX-License-Identifier: MIT
#include "suite/nets/vae.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem fmnist_vae() {
  Problem problem = grey_images(0);
  problem.name = "fmnist_vae";
  problem.summary = "variational autoencoder with 8 latent variables on images of clothes";
  problem.data_set = "fashion_mnist";
  problem.parameters = 10151489;
  problem.batch_size = 64;
  problem.epochs = 100;
  problem.benchmark_place = 5;
  problem.target = 92.97764997362836;
  problem.build = &nets::vae;
  problem.losses = [](const Tensor& outputs, const Tensor&) { return nets::vae_losses(outputs); };
  return problem;
}

}  // namespace flightdeck::suite::problems
