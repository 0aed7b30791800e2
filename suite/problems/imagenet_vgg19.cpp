// SPDX-License-Identifier: MIT
#include "suite/nets/vgg.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem imagenet_vgg19() {
  Problem problem = photographs();
  problem.name = "imagenet_vgg19";
  problem.summary = "VGG with 19 layers on ImageNet";
  problem.parameters = 143671337;
  problem.l2 = 5e-4;
  problem.l2_spares_dense = true;
  problem.build = [] { return nets::vgg(19, 1001); };
  return problem;
}

}  // namespace flightdeck::suite::problems
