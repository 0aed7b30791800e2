// SPDX-License-Identifier: MIT
#include "suite/nets/conv_3c3d.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem svhn_3c3d() {
  Problem problem = colour_images(10);
  problem.name = "svhn_3c3d";
  problem.summary = "three convolutions, three dense layers on house numbers";
  problem.data_set = "svhn";
  problem.parameters = 895210;
  problem.l2 = 2e-3;
  problem.build = [] { return nets::conv_3c3d(10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
