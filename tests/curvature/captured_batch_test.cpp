// SPDX-License-Identifier: MIT
// One batch answers everything from one capture of its graph, and its limits reach every pass.
#include <functional>
#include <memory>

#include <ATen/record_function.h>

#include "curvature/dense_oracle.h"
#include "errors.h"
#include "oracle.h"
#include "passes/capture.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class CapturedBatches : public SeededTest {
 protected:
  static constexpr int64_t kN = 4;

  void SetUp() override {
    SeededTest::SetUp();
    net_ = on_device(nn::Sequential(nn::Linear(6, 500), nn::Tanh(), nn::Linear(500, 8)));
    forward();
  }

  void forward() {
    outputs_ = net_->forward(random({kN, 6}));
    losses_ = nn::functional::cross_entropy(
        outputs_,
        random_integers({kN}, 8),
        nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
  }

  Batch batch(BatchOptions options = {}) const {
    return {losses_, net_->named_parameters(), std::move(options)};
  }

  // How many graphs `call` captures.
  static int64_t captures(const std::function<void()>& call) {
    const int64_t before = graphs_captured();
    call();
    return graphs_captured() - before;
  }

  nn::Sequential net_ = nullptr;
  Tensor outputs_, losses_;
};

TEST_F(CapturedBatches, AnswerEverythingFromOneCapture) {
  const Batch whole = batch();
  EXPECT_EQ(
      captures([&] {
        const Batch some = whole.of({2, 0});
        const Batch copy = some;
        static_cast<void>(gradients(whole, Need::kNorms));
        static_cast<void>(coverage(some, Need::kGram));
        static_cast<void>(curvature(some, CurvatureNeed::kDiagHessian | CurvatureNeed::kKfra));
        static_cast<void>(curvature_coverage(copy, CurvatureNeed::kTraceGgn));
        for (CurvatureKind kind : {CurvatureKind::kHessian, CurvatureKind::kGgn}) {
          const auto op = curvature_operator(copy, kind);
          op->multiply(random({1, op->dim()}));
        }
        static_cast<void>(averaged_blocks(whole));
        static_cast<void>(Vivit(some).eigenvalues());
        Watch watch(whole, Need::kVariance);
        losses_.mean().backward();
        static_cast<void>(watch.finish());
      }),
      1);
}

TEST_F(CapturedBatches, AreCapturedWhenFirstNeeded) {
  EXPECT_EQ(captures([&] { static_cast<void>(batch().of({1})); }), 0);
}

TEST_F(CapturedBatches, CaptureOnceForEveryProductOfASlowDiagonal) {
  // Used twice, so that its Hessian diagonal takes a product for each entry of each sample.
  auto cell = on_device(nn::Linear(3, 3));
  const Tensor losses = losses_of(cell(cell(random({kN, 3})).tanh()));
  const Batch twice(losses, cell->named_parameters());
  EXPECT_EQ(
      captures([&] { static_cast<void>(curvature(twice, CurvatureNeed::kDiagHessianPerSample)); }),
      1);
}

TEST_F(CapturedBatches, LeaveOutSharedTermsInTheSameCapture) {
  losses_ = losses_ + 0.1 * net_->parameters()[0].square().sum();
  BatchOptions options;
  options.shared_terms = SharedTerms::kLeaveOut;
  const Batch without = batch(options);
  EXPECT_EQ(captures([&] {
              EXPECT_TRUE(gradients(without, Need::kMean).coverage.leaves_out_shared_terms);
              static_cast<void>(curvature(without, CurvatureNeed::kTraceHessian));
            }),
            1);
}

TEST_F(CapturedBatches, GiveEachPassThePolicyThatItUnderstands) {
  auto norm = on_device(nn::BatchNorm1d(8));
  const Parameters all = ParameterList().add("net", net_).add("norm", norm);
  const Tensor normalised = norm(outputs_);
  losses_ = losses_of(normalised);
  BatchOptions options;
  options.batch_norm = BatchNormPolicy::kConstantStatistics;
  const Batch held(losses_, all, options);
  const Batch refused(losses_, all);
  // Products are those of the losses as they are, under any policy.
  const auto of_held = curvature_operator(held, CurvatureKind::kHessian);
  const auto of_refused = curvature_operator(refused, CurvatureKind::kHessian);
  const Tensor v = random({2, of_held->dim()});
  const Tensor expected = of_refused->multiply(v);
  expect_close(of_held->multiply(v), expected, "product");
  // So they are after a pass that holds the statistics.
  static_cast<void>(curvature(held, CurvatureNeed::kDiagGgn));
  static_cast<void>(gradients(held, Need::kNorms));
  expect_close(of_held->multiply(v), expected, "product");
  expect_error([&] { return gradients(refused, Need::kNorms); }, {"batch norm", "norm.weight"});
}

TEST_F(CapturedBatches, ThatSayTheirSizeTwiceMustSayTheSame) {
  BatchOptions options;
  options.batch_size = kN;
  EXPECT_FALSE(batch(options).is_scalar());
  expect_close(gradients(batch(options), Need::kMean).concatenated(&ParameterGradients::mean),
               gradients(batch(), Need::kMean).concatenated(&ParameterGradients::mean),
               "mean");
  options.batch_size = kN + 1;
  expect_error([&] { return gradients(batch(options), Need::kMean); }, {"batch_size", "5", "4"});
}

TEST_F(CapturedBatches, OfAverageBlocksMayChooseSamples) {
  const Batch some = batch().of({3, 1});
  const Tensor alone =
      outputs_.index_select(0, at::tensor({3, 1}, at::kLong).to(outputs_.device()));
  const std::vector<AveragedBlock> blocks = averaged_blocks(some);
  ASSERT_EQ(blocks.size(), 4u);
  // The block of the last bias is the mean Hessian of the loss.
  const Tensor p = alone.softmax(1).detach();
  const Tensor hessian = at::diag_embed(p.mean(0)) - p.t().matmul(p) / 2.0;
  const Tensor block = blocks[3].block->multiply(at::eye(8, doubles()));
  expect_close(block, hessian, "block of the last bias");
}

// ---- limits -------------------------------------------------------------------------------------

thread_local int64_t largest_seen = 0;

// The entries of the largest tensor that an op reads while `call` runs.
int64_t largest_tensor(const std::function<void()>& call) {
  const auto see = [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
    for (const c10::IValue& input : function.inputs()) {
      if (!input.isTensor() || !input.toTensor().defined()) continue;
      largest_seen = std::max(largest_seen, input.toTensor().numel());
    }
    return nullptr;
  };
  largest_seen = 0;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(see).needsInputs(true));
  call();
  at::removeCallback(handle);
  return largest_seen;
}

class LimitsOfABatch : public CapturedBatches {
 protected:
  // A column holds 500 entries for each sample where it is widest; eight classes have seven.
  static constexpr int64_t kColumn = kN * 500, kColumns = 7, kWeights = 500 * 8;

  void expect_reached(const std::function<void(const Batch&)>& ask, int64_t columns) {
    const int64_t whole = largest_tensor([&] { ask(batch()); });
    BatchOptions options;
    options.memory.stack_bytes = 1;
    const int64_t limited = largest_tensor([&] { ask(batch(options)); });
    EXPECT_GE(whole, kColumns * kColumn);
    EXPECT_LE(limited, std::max(columns * kColumn, kWeights));
  }
};

TEST_F(LimitsOfABatch, ReachDiagonals) {
  expect_reached(
      [](const Batch& asked) { static_cast<void>(curvature(asked, CurvatureNeed::kDiagGgn)); }, 1);
}

TEST_F(LimitsOfABatch, ReachTheGramMatrix) {
  // Two columns at a time give their inner products.
  expect_reached([](const Batch& asked) { static_cast<void>(Vivit(asked).gram()); }, 2);
}

TEST_F(LimitsOfABatch, ReachWhatACockpitComputes) {
  const auto largest = [&](int64_t stack_bytes) {
    forward();
    CockpitOptions options;
    options.strict = true;
    options.memory.stack_bytes = stack_bytes;
    Cockpit cockpit(net_->named_parameters(), {quantity("ggn_spectrum")}, options);
    return largest_tensor([&] {
      const StepWatch watch = cockpit.watch(0, losses_);
      losses_.mean().backward();
    });
  };
  EXPECT_GE(largest(MemoryLimits().stack_bytes), kColumns * kColumn);
  EXPECT_LE(largest(1), std::max(2 * kColumn, kWeights));
}

}  // namespace
}  // namespace flightdeck::tests
