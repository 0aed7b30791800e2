// SPDX-License-Identifier: MIT
#include "suite/nets/conv_3c3d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar100_3c3d() {
  Problem problem = colour_images(100);
  problem.name = "cifar100_3c3d";
  problem.summary = "three convolutions, three dense layers on photographs, 100 classes";
  problem.data_set = "cifar100";
  problem.parameters = 918340;
  problem.has_published_budget = false;
  problem.l2 = 2e-3;
  problem.build = [] { return nets::conv_3c3d(100); };
  return problem;
}

}  // namespace flightdeck::suite::problems
