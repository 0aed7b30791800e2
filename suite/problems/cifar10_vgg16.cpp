// SPDX-License-Identifier: MIT
#include "suite/nets/vgg.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_vgg16() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_vgg16";
  problem.summary = "VGG with 16 layers on photographs, 10 classes";
  problem.data_set = "cifar10";
  problem.has_published_budget = false;
  problem.parameters = 134301514;
  problem.l2 = 5e-4;
  problem.l2_spares_dense = true;
  problem.build = [] { return nets::vgg(16, 10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
