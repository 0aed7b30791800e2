// SPDX-License-Identifier: MIT
#include "suite/nets/resnet.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_resnet56() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_resnet56";
  problem.summary = "residual network of 56 layers, with batch norm, on photographs";
  problem.data_set = "cifar10";
  problem.parameters = 853018;
  problem.epochs = 180;
  problem.has_published_budget = false;
  problem.build = [] { return nets::small_resnet(56, 10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
