// SPDX-License-Identifier: MIT
#include "suite/nets/conv_2c2d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem mnist_2c2d() {
  Problem problem = grey_images(10);
  problem.name = "mnist_2c2d";
  problem.summary = "two convolutions, two dense layers on handwritten digits";
  problem.data_set = "mnist";
  problem.parameters = 3274634;
  problem.build = [] { return nets::conv_2c2d(); };
  return problem;
}

}  // namespace flightdeck::suite::problems
