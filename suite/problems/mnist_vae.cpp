// SPDX-License-Identifier: MIT
#include "suite/nets/vae.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem mnist_vae() {
  Problem problem = grey_images(0);
  problem.name = "mnist_vae";
  problem.summary = "variational autoencoder with 8 latent variables on handwritten digits";
  problem.data_set = "mnist";
  problem.parameters = 10151489;
  problem.batch_size = 64;
  problem.epochs = 50;
  problem.benchmark_place = 2;
  problem.target = 73.49819796869767;
  problem.build = &nets::vae;
  problem.losses = [](const Tensor& outputs, const Tensor&) { return nets::vae_losses(outputs); };
  return problem;
}

}  // namespace flightdeck::suite::problems
