// SPDX-License-Identifier: MIT
// Parameters whose memory comes and goes: nothing of ours reads them while it is gone, and it is
// said which one is missing.
#include "graph/transient_parameters.h"

#include "errors.h"
#include "flightdeck/flightdeck.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// As fully_shard frees: the tensor stays, its storage is empty.
class Freed {
 public:
  explicit Freed(const Tensor& tensor)
      : storage_(tensor.storage().unsafeGetStorageImpl()), bytes_(storage_->nbytes()) {
    storage_->set_nbytes(0);
  }
  ~Freed() { storage_->set_nbytes(bytes_); }
  Freed(const Freed&) = delete;
  Freed& operator=(const Freed&) = delete;

 private:
  c10::StorageImpl* storage_;
  size_t bytes_;
};

class TransientParameters : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    w_ = random_parameter({4, 3});
    v_ = random_parameter({3, 2});
    parameters_ = {{"w", w_}, {"v", v_}};
    add_transient("the.weight", v_);
  }
  Tensor losses() const { return random({5, 4}).mm(w_).tanh().mm(v_).square().sum(1); }

  std::vector<NamedParameter> parameters_;
  Tensor w_, v_;
};

TEST_F(TransientParameters, AreKnownByTheirTensor) {
  EXPECT_TRUE(is_transient(v_));
  EXPECT_FALSE(is_transient(w_));
  EXPECT_FALSE(is_freed(v_));
  const Freed freed(v_);
  EXPECT_TRUE(is_freed(v_));
  EXPECT_FALSE(is_freed(torch::empty({0})));
}

TEST_F(TransientParameters, ThatAreFreedAreNamedByPassesOfOurOwn) {
  const std::string why = "fully_shard has freed 'the.weight'";
  const Tensor given = losses();
  const auto op = curvature_operator(given, parameters_, CurvatureKind::kHessian);
  const Tensor vector = torch::ones({1, op->dim()}, at::kDouble);
  {
    const Freed freed(v_);
    expect_error([&] { (void)gradients(given, parameters_, Need::kNorms); },
                 {why, "reshard_after_forward=False"});
    expect_error([&] { (void)op->multiply(vector); }, {why});
    expect_error([&] { (void)curvature(given, parameters_, CurvatureNeed::kDiagGgn); }, {why});
  }
  EXPECT_TRUE(op->multiply(vector).isfinite().all().item<bool>());
  EXPECT_EQ(gradients(given, parameters_, Need::kNorms).batch_size, 5);
}

TEST_F(TransientParameters, MayBeGoneWhereOthersAskForThem) {
  { add_transient("gone", random_parameter({2})); }
  EXPECT_NO_THROW(check_transient());
}

TEST_F(TransientParameters, AreNeitherCopiedNorCompared) {
  const std::vector<std::string> names{"grad_norm", "distance", "update_size", "spikes", "alpha"};
  std::vector<Quantity> quantities;
  for (const std::string& name : names) quantities.push_back(quantity(name));
  const auto memory = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.on_warning = [](const std::string&) {};
  Cockpit cockpit(parameters_, std::move(quantities), options);
  cockpit.add_sink(memory);
  for (int64_t step = 0; step < 2; ++step) {
    const Tensor given = losses();
    // Only the backward pass has it: as if its module gathered it then.
    auto freed = std::make_unique<Freed>(v_);
    const StepWatch watch = cockpit.watch(step, given);
    freed.reset();
    given.mean().backward();
  }
  EXPECT_TRUE(std::isfinite(memory->number(1, "grad_norm")));
  ASSERT_EQ(memory->notes().size(), 1U);
  EXPECT_EQ(memory->notes()[0].kind, NoteKind::kSwitchedOff);
  EXPECT_EQ(memory->notes()[0].quantity, "distance, update_size, alpha");
  expect_mentions(memory->notes()[0].text, {"fully_shard keeps a piece"});
  const std::map<std::string, Tensor> saved = cockpit.save();
  EXPECT_EQ(saved.count("initial/v"), 0U);
  EXPECT_EQ(saved.count("initial/w"), 1U);
}

}  // namespace
}  // namespace flightdeck::tests
