// SPDX-License-Identifier: MIT
#include "suite/nets/conv_3c3d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_3c3d() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_3c3d";
  problem.summary = "three convolutions, three dense layers on photographs, 10 classes";
  problem.data_set = "cifar10";
  problem.parameters = 895210;
  problem.l2 = 2e-3;
  problem.benchmark_place = 4;
  problem.target = 0.8283307079578206;
  problem.build = [] { return nets::conv_3c3d(10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
