// SPDX-License-Identifier: MIT
// What each lamp of the catalogue says, and about what it is silent.
#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

class Lamps : public testing::Test {
 protected:
  // Records losses at steps 0, 10, 20, ... and ends the run.
  void record(const std::vector<double>& losses,
              Ending ending = Ending::kFinished,
              const std::vector<Note>& notes = {},
              const std::string& diverged_at = "") {
    Recorder recorder(folder_.path());
    RunInfo info = full_info();
    if (!diverged_at.empty()) info.config["diverged_at"] = diverged_at;
    recorder.begin(info);
    int64_t step = 0;
    for (const double loss : losses) {
      recorder.write(step_of(step, {number("loss", loss), number("grad_norm", kNan)}));
      step += 10;
    }
    for (const Note& note : notes) recorder.note(note);
    recorder.finish(ending);
  }

  std::vector<Finding> findings() const { return findings_in(RunReader(folder_.path())); }

  // The only finding.
  Finding finding() const {
    const std::vector<Finding> all = findings();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Finding() : all.front();
  }

  RunFolder folder_;
};

TEST_F(Lamps, AreDarkAfterARunThatWentWell) {
  record({3, 2, 1});
  EXPECT_TRUE(findings().empty());
}

TEST_F(Lamps, AreDarkWhereALossRecovered) {
  record({3, kNan, 1});
  EXPECT_TRUE(findings().empty());
}

TEST_F(Lamps, BrokenOffTellsAFailure) {
  record({3, 2}, Ending::kFailed);
  const Finding found = finding();
  EXPECT_EQ(found.lamp, "broken_off");
  EXPECT_EQ(found.severity, Severity::kFailure);
  EXPECT_EQ(found.step, 10);
  EXPECT_EQ(found.symptom, "The run failed");
  EXPECT_EQ(found.text(), "It ended with an exception after step 10; its command printed why");
}

TEST_F(Lamps, BrokenOffTellsARunWithoutAnEnding) {
  { Recorder(folder_.path()).begin(full_info()); }
  const Finding found = finding();
  EXPECT_EQ(found.step, -1);
  EXPECT_EQ(found.symptom, "The run was killed");
  EXPECT_EQ(found.text(),
            "Its process is gone before the first values without ending the run: killed, out of "
            "memory, or the machine went down. All values up to there are safe; see the log of the "
            "system");
}

TEST_F(Lamps, DivergedNamesTheFirstLossThatIsNotFinite) {
  record({3, kInfinity, kNan});
  const Finding found = finding();
  EXPECT_EQ(found.lamp, "diverged");
  EXPECT_EQ(found.severity, Severity::kFailure);
  EXPECT_EQ(found.step, 10);
  EXPECT_EQ(found.quantity, "loss");
  EXPECT_EQ(found.symptom, "The loss is no longer finite");
  EXPECT_EQ(found.evidence, "loss is infinite at step 10");
  EXPECT_NE(found.advice.find("lower the learning rate"), std::string::npos);
}

TEST_F(Lamps, DivergedBelievesTheProgramThatSawIt) {
  record({3, kNan}, Ending::kDiverged, {}, "7");
  const Finding found = finding();
  EXPECT_EQ(found.step, 7);
  EXPECT_EQ(found.symptom, "The training diverged");
  EXPECT_EQ(found.evidence, "The loss is not finite at step 7");
}

TEST_F(Lamps, TellNotesWithTheirSeverity) {
  record({3, 2},
         Ending::kFinished,
         {{0, 100, NoteKind::kRemark, "alpha", "the update is unknown"},
          {10, 101, NoteKind::kNotStored, "", "steps 10 to 10"},
          {5, 102, NoteKind::kSwitchedOff, "alpha, norm_test", "no rows"}});
  const std::vector<Finding> all = findings();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].lamp, "switched_off");
  EXPECT_EQ(all[0].severity, Severity::kWarning);
  EXPECT_EQ(all[0].symptom, "2 quantities were switched off: alpha, norm_test");
  EXPECT_EQ(all[0].text(),
            "no rows. No values of these from step 5 on; the others go on. Track them again after "
            "removing the cause, or leave them out");
  EXPECT_EQ(all[1].lamp, "not_stored");
  EXPECT_EQ(all[1].text(),
            "steps 10 to 10. Free some space on the disk of the run; training went on");
  EXPECT_EQ(all[2].lamp, "remark");
  EXPECT_EQ(all[2].severity, Severity::kAdvice);
  EXPECT_EQ(all[2].text(), "alpha: the update is unknown");
}

TEST_F(Lamps, AreSortedByGravityAndThenByStep) {
  record({3, kNan, kNan}, Ending::kFailed, {{0, 100, NoteKind::kRemark, "", "early"}});
  const std::vector<Finding> all = findings();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].lamp, "diverged");    // at step 10
  EXPECT_EQ(all[1].lamp, "broken_off");  // after step 20
  EXPECT_EQ(all[2].lamp, "remark");
}

}  // namespace
}  // namespace flightdeck::tests
