// SPDX-License-Identifier: MIT
#include "suite/nets/vgg.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem imagenet_vgg16() {
  Problem problem = photographs();
  problem.name = "imagenet_vgg16";
  problem.summary = "VGG with 16 layers on ImageNet";
  problem.parameters = 138361641;
  problem.l2 = 5e-4;
  problem.l2_spares_dense = true;
  problem.build = [] { return nets::vgg(16, 1001); };
  return problem;
}

}  // namespace flightdeck::suite::problems
