// SPDX-License-Identifier: MIT
// What a watched step asks of a device that runs behind: few operations, and no answer. It runs
// where the CPU plays a GPU (FLIGHTDECK_ISA=gpu_reference), whose kernels are plain loops, and on a
// GPU with FLIGHTDECK_TEST_DEVICE=cuda.
#include <atomic>
#include <cmath>
#include <dlfcn.h>
#include <map>
#include <set>

#include <ATen/record_function.h>

#include "kernels/isa.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// Operations that LibTorch begins, by name. Those inside of others are counted where they make the
// host wait.
class Operations {
 public:
  Operations() {
    counted().clear();
    waited().clear();
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&begin, &end).scopes({at::RecordScope::FUNCTION}));
  }
  ~Operations() { at::removeCallback(handle_); }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  static int64_t count() {
    int64_t count = 0;
    for (const auto& [name, times] : counted()) count += times;
    return count;
  }
  static std::map<std::string, int64_t>& counted() {
    static std::map<std::string, int64_t> counted;
    return counted;
  }
  static std::set<std::string>& waited() {
    static std::set<std::string> waited;
    return waited;
  }

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
  // A backward pass is one operation for LibTorch, whatever hooks do in it.
  static bool is_engine(const at::RecordFunction& function) {
    return std::string(function.name()).rfind("autograd::engine", 0) == 0;
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    static const std::set<std::string> waits = {"aten::_local_scalar_dense",
                                                "aten::is_nonzero",
                                                "aten::nonzero",
                                                "aten::masked_select",
                                                "aten::equal",
                                                "aten::unique_dim",
                                                "aten::_unique2",
                                                "aten::repeat_interleave"};
    if (is_engine(function)) return nullptr;
    if (depth()++ == 0) ++counted()[function.name()];
    if (waits.count(function.name()) > 0) waited().insert(function.name());
    return nullptr;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext*) {
    if (!is_engine(function)) --depth();
  }

  at::CallbackHandle handle_;
};

// On a GPU: LibTorch throws where it would wait for it. Its switch is set by name, since there are
// no headers of CUDA here.
class WaitsAreErrors {
 public:
  WaitsAreErrors() { set(2); }
  ~WaitsAreErrors() { set(0); }
  WaitsAreErrors(const WaitsAreErrors&) = delete;
  WaitsAreErrors& operator=(const WaitsAreErrors&) = delete;

 private:
  static void set(int mode) {
    if (!test_device().is_cuda()) return;
    void* state = dlsym(RTLD_DEFAULT, "_ZZN3c104cuda13warning_stateEvE14warning_state_");
    ASSERT_NE(state, nullptr) << "this LibTorch keeps its switch for waits elsewhere";
    *static_cast<int*>(state) = mode;
  }
};

torch::nn::Sequential dense_net() {
  return torch::nn::Sequential(torch::nn::Linear(20, 15),
                               torch::nn::ReLU(),
                               torch::nn::Linear(15, 12),
                               torch::nn::ReLU(),
                               torch::nn::Linear(12, 4));
}

torch::nn::Sequential convolution_net() {
  return torch::nn::Sequential(torch::nn::Unflatten(1, std::vector<int64_t>{1, 4, 5}),
                               torch::nn::Conv2d(1, 3, 2),
                               torch::nn::ReLU(),
                               torch::nn::Flatten(),
                               torch::nn::Linear(36, 4));
}

// A training on batches that are there before it begins.
class Training {
 public:
  Training(torch::nn::Sequential net, at::ScalarType type)
      : net_(on_device(std::move(net), type)), optimizer_(net_->parameters(), 0.005) {
    torch::manual_seed(3);
    const at::NoGradGuard no_grad;
    for (Tensor& parameter : net_->parameters()) {
      parameter.copy_(random(parameter.sizes()).mul(0.4));
    }
    for (int k = 0; k < 4; ++k) {
      inputs_.push_back(random({16, 20}).to(type));
      labels_.push_back(random_integers({16}, 4));
    }
  }

  Parameters parameters() const { return net_->named_parameters(); }

  void step(Cockpit& cockpit, int64_t number) {
    namespace F = torch::nn::functional;
    clear_gradients(parameters());
    const Tensor losses = F::cross_entropy(net_->forward(inputs_[number % 4]),
                                           labels_[number % 4],
                                           F::CrossEntropyFuncOptions().reduction(torch::kNone));
    StepOptions told;
    told.optimizer = &optimizer_;
    const StepWatch watch = cockpit.watch(number, losses, told);
    // Of a sum it is known that all samples weigh the same.
    losses.sum().backward();
  }
  void update() { optimizer_.step(); }

 private:
  torch::nn::Sequential net_;
  torch::optim::SGD optimizer_;
  std::vector<Tensor> inputs_, labels_;
};

struct Watched {
  Watched(const Parameters& parameters, const std::string& name)
      : memory(std::make_shared<MemorySink>()), cockpit(parameters, name, strict()) {
    cockpit.add_sink(memory);
  }
  static CockpitOptions strict() {
    CockpitOptions options;
    options.strict = true;
    return options;
  }
  std::shared_ptr<MemorySink> memory;
  Cockpit cockpit;
};

class Launches : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    ASSERT_TRUE(test_device().is_cuda() || kernels::wishes_gpu_reference())
        << "set FLIGHTDECK_ISA=gpu_reference, as ctest does";
  }
};

TEST_F(Launches, AStepUnderEconomyWaitsForNoNumber) {
  for (const bool is_dense : {true, false}) {
    SCOPED_TRACE(is_dense ? "dense" : "convolution");
    Training training(is_dense ? dense_net() : convolution_net(), at::kFloat);
    Watched watched(training.parameters(), "economy");
    for (int64_t step = 0; step < 6; ++step) {
      const bool is_warm = step >= 3;  // places of the parameters are sent to the device once
      std::unique_ptr<WaitsAreErrors> errors;
      if (is_warm) errors = std::make_unique<WaitsAreErrors>();
      const Operations operations;
      training.step(watched.cockpit, step);
      if (is_warm) {
        EXPECT_EQ(Operations::waited(), std::set<std::string>());
      }
      errors.reset();
      training.update();
    }
  }
}

TEST_F(Launches, AStepUnderDiagnosisWaitsForNoNumber) {
  for (const bool is_dense : {true, false}) {
    SCOPED_TRACE(is_dense ? "dense" : "convolution");
    Training training(is_dense ? dense_net() : convolution_net(), at::kFloat);
    Watched watched(training.parameters(), "diagnosis");
    for (int64_t step = 0; step < 12; ++step) {
      const bool is_warm = step >= 9;  // windows of `spikes` have their first eight values
      std::unique_ptr<WaitsAreErrors> errors;
      if (is_warm) errors = std::make_unique<WaitsAreErrors>();
      const Operations operations;
      training.step(watched.cockpit, step);
      if (is_warm) {
        EXPECT_EQ(Operations::waited(), std::set<std::string>());
      }
      errors.reset();
      training.update();
    }
  }
}

TEST_F(Launches, AStepUnderDiagnosisTakesABoundedNumberOfOperations) {
  Training training(dense_net(), at::kFloat);
  Watched watched(training.parameters(), "diagnosis");
  for (int64_t step = 0; step < 10; ++step) {
    training.step(watched.cockpit, step);
    training.update();
  }
  const Operations operations;
  training.step(watched.cockpit, 10);
  std::string all;
  for (const auto& [name, times] : Operations::counted()) {
    all += "\n" + std::to_string(times) + " " + name;
  }
  // Some 45 of them are those of the training. A GPU takes more for hashes of inputs.
  EXPECT_LE(Operations::count(), test_device().is_cpu() ? 1200 : 1700) << all;
}

TEST_F(Launches, AWatchedStepTakesFewOperations) {
  Training training(dense_net(), at::kFloat);
  Watched watched(training.parameters(), "economy");
  for (int64_t step = 0; step < 4; ++step) {
    training.step(watched.cockpit, step);
    training.update();
  }
  const Operations operations;
  training.step(watched.cockpit, 4);
  std::string all;
  for (const auto& [name, times] : Operations::counted()) {
    all += "\n" + std::to_string(times) + " " + name;
  }
  EXPECT_LE(Operations::count(), 200) << all;  // some 45 of them are those of the training
}

// What the kernels answer for floats, LibTorch's operations answer for doubles.
TEST_F(Launches, FloatsInTablesAnswerAsDoublesDo) {
  for (const bool is_dense : {true, false}) {
    SCOPED_TRACE(is_dense ? "dense" : "convolution");
    const auto net = is_dense ? &dense_net : &convolution_net;
    Training in_floats(net(), at::kFloat), in_doubles(net(), at::kDouble);
    Watched floats(in_floats.parameters(), "economy"), doubles(in_doubles.parameters(), "economy");
    for (int64_t step = 0; step < 5; ++step) {
      in_floats.step(floats.cockpit, step);
      in_doubles.step(doubles.cockpit, step);
      in_floats.update();
      in_doubles.update();
    }
    floats.cockpit.flush();
    doubles.cockpit.flush();
    for (int64_t step = 0; step < 4; ++step) {
      const std::vector<Reading>& should_be = doubles.memory->steps().at(step);
      EXPECT_GT(should_be.size(), 20u);
      for (const Reading& expected : should_be) {
        if (expected.quantity == "time") continue;
        SCOPED_TRACE(expected.quantity + " " + expected.group + " " + expected.field);
        const Reading* reading =
            floats.memory->find(step, expected.quantity, expected.group, expected.field);
        ASSERT_NE(reading, nullptr);
        EXPECT_NEAR(reading->number, expected.number, 1e-3 * std::abs(expected.number) + 1e-12);
        // Zeros are counted as zeros in either type; all else lies inside of a bin.
        EXPECT_EQ(reading->counts, expected.counts);
      }
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests
