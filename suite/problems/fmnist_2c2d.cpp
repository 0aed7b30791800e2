// SPDX-License-Identifier: MIT
#include "suite/nets/conv_2c2d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem fmnist_2c2d() {
  Problem problem = grey_images(10);
  problem.name = "fmnist_2c2d";
  problem.summary = "two convolutions, two dense layers on images of clothes";
  problem.data_set = "fashion_mnist";
  problem.parameters = 3274634;
  problem.benchmark_place = 3;
  problem.target = 0.9198093278634639;
  problem.build = [] { return nets::conv_2c2d(); };
  return problem;
}

}  // namespace flightdeck::suite::problems
