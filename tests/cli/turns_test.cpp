// SPDX-License-Identifier: MIT
#include "cli/bench/turns.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "suite/problems/classification.h"

namespace flightdeck::cli {
namespace {

suite::Problem tiny_problem() {
  suite::Problem problem = suite::classification(2, [](int64_t N) { return torch::randn({N, 3}); });
  problem.name = "tiny";
  problem.build = [] {
    torch::nn::Linear layer(3, 2);
    return suite::Model{layer.ptr(),
                        [layer](const Tensor& inputs) mutable { return layer(inputs); }};
  };
  return problem;
}

// A candidate that does nothing but count.
struct Counts {
  int checks = 0, preparations = 0, steps = 0;

  Candidate candidate() {
    Candidate candidate;
    candidate.check = [this] { ++checks; };
    candidate.prepare = [this] { ++preparations; };
    candidate.step = [this] { return std::any(++steps); };
    return candidate;
  }
};

class Turns : public ::testing::Test {
 protected:
  Workload workload_{tiny_problem(), 4, at::Device(at::kCPU)};
  Counts counts_;
  std::vector<int> rounds_;

  Timing time(const Candidate& candidate) {
    return time_in_turn(workload_, candidate, 2, 3, [&](int round) { rounds_.push_back(round); });
  }
};

TEST_F(Turns, CheckOnceAndPrepareEveryStep) {
  time(counts_.candidate());
  EXPECT_EQ(counts_.checks, 1);
  EXPECT_EQ(counts_.steps, 6);  // five rounds and the one whose memory is counted
  EXPECT_EQ(counts_.preparations, counts_.steps);
  EXPECT_EQ(rounds_, (std::vector<int>{-2, -1, 0, 1, 2}));
}

TEST_F(Turns, MeasureBothSteps) {
  const Timing timing = time(counts_.candidate());
  EXPECT_GT(timing.plain_ms, 0);
  EXPECT_GE(timing.ms, 0);
  EXPECT_GE(timing.ratio, 0);
  ASSERT_TRUE(timing.peak_mb.has_value());
  EXPECT_LT(*timing.peak_mb, 0);  // the plain step allocates, counting does not
}

TEST_F(Turns, ReportTheMedianOfTheProductsThatAreCounted) {
  EXPECT_FALSE(time(counts_.candidate()).products.has_value());
  Candidate candidate = counts_.candidate();
  counts_.steps = 0;
  candidate.products = [this] { return int64_t{10} * counts_.steps; };
  EXPECT_EQ(time(candidate).products, 40);  // of the steps 3, 4 and 5
}

TEST_F(Turns, TimeNothingWhenTheCheckFails) {
  Candidate candidate = counts_.candidate();
  candidate.check = [] { throw std::runtime_error("wrong"); };
  EXPECT_THROW(time(candidate), std::runtime_error);
  EXPECT_EQ(counts_.steps, 0);
}

TEST_F(Turns, LeaveNoGradientsBehind) {
  time(counts_.candidate());
  for (const NamedParameter& parameter : workload_.parameters()) {
    EXPECT_FALSE(parameter.tensor.grad().defined());
  }
}

TEST(Workload, MovesByAGradientStepAndComesBack) {
  Workload workload(tiny_problem(), 4, at::Device(at::kCPU));
  const Tensor first_losses = workload.losses().detach();
  workload.plain_step();
  std::vector<Tensor> expected;
  for (const NamedParameter& parameter : workload.parameters()) {
    expected.push_back((parameter.tensor - 0.1 * parameter.tensor.grad()).detach());
  }

  workload.move_on(0.1);
  for (size_t index = 0; index < expected.size(); ++index) {
    const Tensor& parameter = workload.parameters()[index].tensor;
    EXPECT_TRUE(torch::allclose(parameter, expected[index]));
    EXPECT_FALSE(parameter.grad().defined());
  }
  EXPECT_FALSE(torch::equal(workload.losses(), first_losses));

  workload.restore();
  EXPECT_TRUE(torch::equal(workload.losses(), first_losses));
}

}  // namespace
}  // namespace flightdeck::cli
