// SPDX-License-Identifier: MIT
#include "suite/nets/plane.h"

#include <torch/torch.h>

namespace flightdeck::suite::nets {
namespace {

class PlaneImpl : public torch::nn::Module {
 public:
  PlaneImpl(PlaneFunction f, double u, double v)
      : f_(std::move(f)),
        u_(register_parameter("u", torch::full({1}, u))),
        v_(register_parameter("v", torch::full({1}, v))) {}

  // Every sample gets a copy of the parameters, so that f is part of each individual loss.
  Tensor forward(const Tensor& points) {
    const Tensor u = u_.expand({points.size(0)}), v = v_.expand({points.size(0)});
    return f_(u, v) + u * points.select(1, 0) + v * points.select(1, 1);
  }

 private:
  PlaneFunction f_;
  Tensor u_, v_;
};
TORCH_MODULE(Plane);

}  // namespace

Model plane(PlaneFunction f, double u, double v) {
  Plane module(std::move(f), u, v);
  return {module.ptr(), [module](const Tensor& points) mutable { return module->forward(points); }};
}

}  // namespace flightdeck::suite::nets
