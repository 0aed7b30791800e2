// SPDX-License-Identifier: MIT
#include "cli/bench/first_order.h"

#include <memory>

#include <ATen/ATen.h>

#include "flightdeck/gradients.h"
#include "flightdeck/watch.h"

namespace flightdeck::cli {
namespace {

class FirstOrderStep {
 public:
  FirstOrderStep(Workload& workload, std::string name, Need need, FirstOrderPath path)
      : workload_(workload), name_(std::move(name)), need_(need), path_(path) {
    options_.reuse_gradients = path == FirstOrderPath::kWatchReuse;
    if (need == Need::kDots) {
      for (const NamedParameter& parameter : workload.parameters()) {
        options_.directions.push_back(at::randn_like(parameter.tensor).unsqueeze(0));
      }
    }
  }

  Gradients run() {
    const Tensor losses = workload_.losses();
    if (path_ == FirstOrderPath::kGradients) {
      return gradients(losses, workload_.parameters(), need_ | Need::kMean, options_);
    }
    Watch watch(losses, workload_.parameters(), need_, options_);
    losses.mean().backward();
    return watch.finish();
  }

  // Compares the mean gradient with the plain one.
  void check() {
    // Both forward passes draw the same dropout masks.
    workload_.drop_gradients();
    at::manual_seed(1);
    workload_.plain_step();
    std::vector<Tensor> expected;
    for (const NamedParameter& parameter : workload_.parameters()) {
      expected.push_back(parameter.tensor.grad());
    }

    workload_.drop_gradients();
    at::manual_seed(1);
    const Gradients answers = run();
    for (size_t index = 0; index < expected.size(); ++index) {
      const NamedParameter& parameter = workload_.parameters()[index];
      compare(parameter.name,
              path_ == FirstOrderPath::kGradients ? answers.parameters[index].mean
                                                  : parameter.tensor.grad(),
              expected[index]);
    }
  }

 private:
  void compare(const std::string& parameter, const Tensor& mean, const Tensor& expected) const {
    const double error = (mean - expected).norm().item<double>();
    const double scale = expected.norm().item<double>();
    // Two float summations over batch and positions in different order.
    TORCH_CHECK(error <= 1e-3 * scale + 1e-7,
                "bench: ",
                workload_.name(),
                ", ",
                name_,
                ": the mean gradient of ",
                parameter,
                " is off by ",
                error,
                " where the plain gradient has norm ",
                scale,
                "; please report this with the output of flightdeck doctor");
  }

  Workload& workload_;
  std::string name_;
  Need need_;
  FirstOrderPath path_;
  GradientOptions options_;
};

}  // namespace

std::vector<BenchQuantity> first_order_quantities(FirstOrderPath path) {
  const auto quantity = [path](const char* name, Need need) -> BenchQuantity {
    return {name, [=](Workload& workload) {
              const auto step = std::make_shared<FirstOrderStep>(workload, name, need, path);
              Candidate candidate;
              candidate.check = [step] { step->check(); };
              candidate.step = [step] { return std::any(step->run()); };
              return candidate;
            }};
  };
  return {
      quantity("individual_gradients", Need::kIndividual),
      quantity("row_norms", Need::kNorms),
      quantity("second_moment", Need::kSecondMoment),
      quantity("variance", Need::kVariance),
      quantity("gram", Need::kGram),
      quantity("dot", Need::kDots),
  };
}

}  // namespace flightdeck::cli
