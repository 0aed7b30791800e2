// SPDX-License-Identifier: MIT
// Findings told by a cockpit while a loop trains.
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include "flightdeck/flightdeck.h"
#include "tests/errors.h"

namespace flightdeck {
namespace {

namespace fs = std::filesystem;
using tests::expect_error;

class CockpitFindings : public testing::Test {
 protected:
  CockpitFindings() {
    folder_ = (fs::temp_directory_path() / "flightdeck-findings-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    options_.on_warning = [this](const std::string& text) { warnings_.push_back(text); };
    each_step_.every = 1;
  }
  ~CockpitFindings() override { fs::remove_all(folder_); }

  // Least squares with steps that are too long; returns where it ends.
  at::Tensor trained(const std::function<void(Cockpit&)>& prepare) {
    at::manual_seed(3);
    torch::nn::Linear net(4, 1);
    const at::Tensor inputs = at::randn({8, 4}), targets = at::randn({8, 1});
    torch::optim::SGD optimizer(net->parameters(), 1.5);
    Cockpit cockpit(net->named_parameters(), {quantity("loss"), quantity("grad_norm")}, options_);
    prepare(cockpit);
    for (int64_t step = 0; step < 12; ++step) {
      optimizer.zero_grad();
      const at::Tensor losses = (net->forward(inputs) - targets).square().sum(1);
      {
        const StepWatch watch = cockpit.watch(step, losses);
        losses.mean().backward();
      }
      optimizer.step();
    }
    return net->weight.detach().clone();
  }

  std::string folder_;
  std::vector<std::string> warnings_;
  CockpitOptions options_;
  FindingSinkOptions each_step_;
};

TEST_F(CockpitFindings, AreToldWhileTheLoopTrainsWithStepEvidenceAndCauses) {
  std::vector<Finding> told;
  size_t causes = 0;
  trained([&](Cockpit& cockpit) {
    cockpit.record_to(folder_ + "/run");
    cockpit.on_finding(
        [&](const Finding& finding, const Diagnosis& diagnosis) {
          told.push_back(finding);
          causes = diagnosis.causes.size();
        },
        each_step_);
  });
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].lamp, "loss_grew");
  EXPECT_EQ(told[0].severity, Severity::kWarning);
  EXPECT_EQ(told[0].step, 5);
  EXPECT_NE(told[0].evidence.find("It began at"), std::string::npos);
  EXPECT_GT(causes, 0u);
}

TEST_F(CockpitFindings, LeaveTheTrainingAsItIsToTheBit) {
  const at::Tensor without = trained([](Cockpit&) {});
  const at::Tensor with = trained([&](Cockpit& cockpit) {
    cockpit.record_to(folder_ + "/run");
    cockpit.on_finding([](const Finding&, const Diagnosis&) {}, each_step_);
  });
  EXPECT_TRUE(at::equal(without, with));
}

TEST_F(CockpitFindings, ThatAreToldToAFunctionWhichThrowsAreOneWarning) {
  const at::Tensor without = trained([](Cockpit&) {});
  int64_t calls = 0;
  const at::Tensor with = trained([&](Cockpit& cockpit) {
    cockpit.record_to(folder_ + "/run");
    cockpit.on_finding(
        [&](const Finding&, const Diagnosis&) {
          ++calls;
          throw std::runtime_error("no mail today");
        },
        each_step_);
  });
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("no mail today"), std::string::npos);
  EXPECT_TRUE(at::equal(without, with));
  EXPECT_EQ(RunReader(folder_ + "/run").last_step(), 11);
}

TEST_F(CockpitFindings, MayBeAnsweredByTheCockpitItself) {
  trained([&](Cockpit& cockpit) {
    cockpit.record_to(folder_ + "/run");
    cockpit.on_finding(
        [&](const Finding& finding, const Diagnosis&) {
          cockpit.log(finding.step, "told", 1);
          cockpit.remark(finding.step, "seen: " + finding.lamp);
        },
        each_step_);
  });
  const RunReader run(folder_ + "/run");
  EXPECT_NE(run.find("told"), nullptr);
  ASSERT_FALSE(run.notes().empty());
  EXPECT_EQ(run.notes()[0].text, "seen: loss_grew");
}

TEST_F(CockpitFindings, AreRefusedWhereNothingIsRecorded) {
  expect_error(
      [&] {
        trained(
            [](Cockpit& cockpit) { cockpit.on_finding([](const Finding&, const Diagnosis&) {}); });
      },
      {"call record_to(folder) before it"});
}

}  // namespace
}  // namespace flightdeck
