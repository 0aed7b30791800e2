// SPDX-License-Identifier: MIT
#include <ATen/Functions.h>

#include "suite/nets/inception_v3.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem imagenet_inception_v3() {
  Problem problem = photographs();
  problem.name = "imagenet_inception_v3";
  problem.summary = "Inception-v3 with auxiliary head and batch norm on ImageNet";
  problem.parameters = 27164082;
  problem.l2 = 5e-4;
  problem.l2_spares_dense = true;
  problem.build = &nets::inception_v3;
  problem.losses = &nets::inception_losses;
  problem.class_scores = [](const Tensor& outputs) {
    return outputs.slice(1, 0, nets::kInceptionClasses);
  };
  return problem;
}

}  // namespace flightdeck::suite::problems
