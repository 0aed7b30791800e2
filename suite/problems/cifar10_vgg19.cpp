// SPDX-License-Identifier: MIT
#include "suite/nets/vgg.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_vgg19() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_vgg19";
  problem.summary = "VGG with 19 layers on photographs, 10 classes";
  problem.data_set = "cifar10";
  problem.has_published_budget = false;
  problem.parameters = 139611210;
  problem.l2 = 5e-4;
  problem.l2_spares_dense = true;
  problem.build = [] { return nets::vgg(19, 10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
