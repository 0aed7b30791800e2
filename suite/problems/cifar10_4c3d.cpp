// SPDX-License-Identifier: MIT
#include "suite/nets/conv_4c3d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_4c3d() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_4c3d";
  problem.summary = "four convolutions, three dense layers with sigmoids, 10 classes";
  problem.data_set = "cifar10";
  problem.parameters = 1099226;
  problem.has_published_budget = false;
  problem.build = [] { return nets::conv_4c3d(); };
  return problem;
}

}  // namespace flightdeck::suite::problems
