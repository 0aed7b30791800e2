// SPDX-License-Identifier: MIT
// What `flightdeck run` prints while a run goes on.
#include "cli/reports/run_printer.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

Finding some_finding() {
  Finding finding;
  finding.lamp = "long_steps";
  finding.severity = Severity::kWarning;
  finding.step = 40;
  finding.quantity = "alpha";
  finding.symptom = "The steps are too long";
  finding.evidence = "alpha is 2";
  finding.advice = "Divide the learning rate by about 3";
  finding.layers = {"fc1"};
  finding.page = "docs/dashboard.md#lamps";
  return finding;
}

std::string printed(bool json) {
  RunPrinter printer("", json);
  testing::internal::CaptureStdout();
  printer.finding(some_finding());
  return testing::internal::GetCapturedStdout();
}

TEST(RunPrinter, TellsAFindingInOneLine) {
  EXPECT_EQ(printed(false), "warning at step 40: The steps are too long. alpha is 2\n");
}

TEST(RunPrinter, TellsAFindingAsOneEvent) {
  const std::string line = printed(true);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto event = nlohmann::json::parse(line);
  EXPECT_EQ(event.at("event"), "finding");
  const nlohmann::json expected = {{"lamp", "long_steps"},
                                   {"severity", "warning"},
                                   {"step", 40},
                                   {"quantity", "alpha"},
                                   {"symptom", "The steps are too long"},
                                   {"evidence", "alpha is 2"},
                                   {"cause", ""},
                                   {"advice", "Divide the learning rate by about 3"},
                                   {"layers", {"fc1"}},
                                   {"page", "docs/dashboard.md#lamps"}};
  EXPECT_EQ(event.at("finding"), expected);
}

}  // namespace
}  // namespace flightdeck::cli
