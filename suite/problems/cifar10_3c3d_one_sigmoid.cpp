// SPDX-License-Identifier: MIT
#include "suite/nets/conv_3c3d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_3c3d_one_sigmoid() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_3c3d_one_sigmoid";
  problem.summary = "three convolutions, three dense layers, the last behind a sigmoid";
  problem.data_set = "cifar10";
  problem.parameters = 895210;
  problem.l2 = 2e-3;
  problem.has_published_budget = false;
  problem.build = [] { return nets::conv_3c3d(10, nets::Nonlinearity::kLastSigmoid); };
  return problem;
}

}  // namespace flightdeck::suite::problems
