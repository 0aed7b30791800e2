// SPDX-License-Identifier: MIT
// What every lamp owes, and lamps that a program adds.
#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

std::optional<Lamp> lamp_called(const std::string& name) {
  for (const Lamp& lamp : lamp_catalogue()) {
    if (lamp.name == name) return lamp;
  }
  return std::nullopt;
}

TEST(LampCatalogue, TellsWhatEachEntryIs) {
  std::set<std::string> names;
  for (const Lamp& lamp : lamp_catalogue()) {
    EXPECT_TRUE(names.insert(lamp.name).second) << lamp.name;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(lamp.summary.front()))) << lamp.name;
    EXPECT_NE(lamp.summary.back(), '.') << lamp.name;
    EXPECT_LE(lamp.summary.size(), 90u) << lamp.name;
    EXPECT_FALSE(lamp.reads.empty()) << lamp.name;
  }
}

// Pictures show what a lamp reads; it and its limits are there once, beside its condition.
TEST(LampCatalogue, PicturesNumbersThatItReads) {
  size_t count = 0;
  for (const Lamp& lamp : lamp_catalogue()) {
    for (const Pictured& pictured : lamp.pictured) {
      const auto& reads = lamp.reads;
      EXPECT_NE(std::find(reads.begin(), reads.end(), pictured.quantity), reads.end()) << lamp.name;
      EXPECT_TRUE(std::is_sorted(pictured.limits.begin(), pictured.limits.end())) << lamp.name;
      // One axis for all: a limit of one quantity means nothing beside another.
      const Pictured& first = lamp.pictured.front();
      EXPECT_TRUE(pictured.quantity == first.quantity ||
                  (pictured.limits.empty() && first.limits.empty()))
          << lamp.name;
    }
    if (!lamp.pictured.empty()) ++count;
  }
  EXPECT_GE(count, 40u);
}

// A run that has not begun, one without values, one without notes.
TEST(LampCatalogue, LooksAtEveryRunWithoutThrowing) {
  RunFolder empty, begun, short_one;
  { Recorder recorder(empty.path()); }
  { Recorder(begun.path()).begin(full_info()); }
  record_steps(short_one.path(), 1);
  for (const std::string& folder : {empty.path(), begun.path(), short_one.path()}) {
    const RunReader run(folder);
    const LampView view(run);
    for (const Lamp& lamp : lamp_catalogue()) EXPECT_NO_THROW(lamp.look(view)) << lamp.name;
  }
}

class RegisteredLamps : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Lamp tall;
    tall.name = "tall_gradient";
    tall.summary = "A gradient is above 100";
    tall.reads = {"grad_norm"};
    tall.look = [](const LampView& view) -> std::vector<Finding> {
      for (const LastNumber& last : view.summary.numbers) {
        if (last.series.quantity != "grad_norm" || !(last.point.value > 100)) continue;
        Finding finding;
        finding.step = last.point.step;
        finding.symptom = "The gradient is tall";
        return {finding};
      }
      return {};
    };
    register_lamp(tall);

    Lamp broken;
    broken.name = "stumbling";
    broken.summary = "Throws where a run is called so";
    broken.look = [](const LampView& view) -> std::vector<Finding> {
      if (view.summary.info.config.count("stumble") != 0) throw std::runtime_error("it stumbled");
      return {};
    };
    register_lamp(broken);
  }

  std::vector<Finding> found(double grad_norm, bool stumbles = false) const {
    RunFolder folder;
    {
      Recorder recorder(folder.path());
      RunInfo info = full_info();
      if (stumbles) info.config["stumble"] = "yes";
      recorder.begin(info);
      recorder.write(step_of(3, {number("grad_norm", grad_norm)}));
      recorder.finish(Ending::kFinished);
    }
    return findings_in(RunReader(folder.path()));
  }
};

TEST_F(RegisteredLamps, LookAtRunsAsOthersDo) {
  ASSERT_TRUE(lamp_called("tall_gradient"));
  EXPECT_TRUE(found(1).empty());
  const std::vector<Finding> findings = found(1000);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].lamp, "tall_gradient");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].step, 3);
}

TEST_F(RegisteredLamps, BecomeAFindingWhereTheyThrow) {
  const std::vector<Finding> findings = found(1000, /*stumbles=*/true);
  ASSERT_EQ(findings.size(), 2u);
  // Equally grave and of one step: by name.
  EXPECT_EQ(findings[0].symptom, "The lamp stumbling could not look at the run");
  EXPECT_EQ(findings[0].text(), "it stumbled");
  EXPECT_EQ(findings[1].lamp, "tall_gradient");
}

TEST_F(RegisteredLamps, AreRefusedWithoutTheirPartsOrUnderAKnownName) {
  const size_t before = lamp_catalogue().size();
  Lamp lamp = *lamp_called("diverged");
  EXPECT_NE(message_of([&] { register_lamp(lamp); }).find("'diverged' already"), std::string::npos);
  lamp.name = "no_eyes";
  lamp.look = nullptr;
  EXPECT_NE(message_of([&] { register_lamp(lamp); }).find("'no_eyes' lacks"), std::string::npos);
  EXPECT_EQ(lamp_catalogue().size(), before);
}

}  // namespace
}  // namespace flightdeck::tests
