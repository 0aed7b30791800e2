// SPDX-License-Identifier: MIT
#include "suite/nets/mlp.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem mnist_mlp() {
  Problem problem = grey_images(10);
  problem.name = "mnist_mlp";
  problem.summary = "multi-layer perceptron 784-1000-500-100-10 on handwritten digits";
  problem.data_set = "mnist";
  problem.parameters = 1336610;
  problem.build = &nets::mlp;
  return problem;
}

}  // namespace flightdeck::suite::problems
