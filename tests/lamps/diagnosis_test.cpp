// SPDX-License-Identifier: MIT
// What lamps say together: ranking, evidence, and what is not claimed.
#include "flightdeck/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "flightdeck/finding_sink.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

class Diagnoses : public testing::Test {
 protected:
  using Readings = std::function<std::vector<Reading>(int64_t step)>;

  static Diagnosis of(int64_t count, const Readings& readings) {
    const RunFolder folder;
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    for (int64_t k = 0; k < count; ++k) recorder.write(step_of(k, readings(k)));
    recorder.finish(Ending::kFinished);
    return diagnose(RunReader(folder.path()));
  }

  // What a cockpit tracks of a training without faults.
  static std::vector<Reading> healthy(int64_t k) {
    std::vector<Reading> values = {number("loss", 2.3 / (1.0 + 0.2 * double(k))),
                                   number("alpha", -0.3),
                                   number("update_ratio", -3),
                                   number("grad_norm", 1),
                                   number("norm_test", 0.5)};
    for (const char* field :
         {"head_softmax", "head_bounded", "linear_pairs", "batch_norms_evaluating"}) {
      values.push_back(number("wiring", 0, "", field));
    }
    values.push_back(number("wiring", 40));
    values.push_back(number("wiring", 1, "", "loss_weight"));
    values.push_back(number("wiring", 1, "", "cross_entropy"));
    values.push_back(number("trained", 1));
    values.push_back(number("trained", 0, "", "not_optimized"));
    values.push_back(number("inputs", 1));
    values.push_back(number("inputs", 0, "", "same_batch"));
    values.push_back(number("logits", 1));
    values.push_back(number("logits", 2.3, "", "uniform_loss"));
    values.push_back(number("activation_scale", 1));
    values.push_back(number("dead_units", 0));
    return values;
  }
  static Readings healthy_but(const std::string& quantity, const std::string& field, double value) {
    return [=](int64_t k) {
      std::vector<Reading> values = healthy(k);
      for (Reading& one : values) {
        if (one.quantity == quantity && one.field == field) one.number = value;
      }
      return values;
    };
  }
};

TEST_F(Diagnoses, CallARunHealthyWhoseLampsStayDark) {
  const Diagnosis diagnosis = of(60, &Diagnoses::healthy);
  EXPECT_EQ(diagnosis.verdict, Verdict::kHealthy);
  EXPECT_EQ(diagnosis.sentence, "Healthy so far, up to step 59");
  EXPECT_GT(diagnosis.health, 0.5);
  EXPECT_TRUE(diagnosis.findings.empty());
}

TEST_F(Diagnoses, NameTheCauseOfAnExactFactFirst) {
  const Diagnosis diagnosis = of(60, healthy_but("wiring", "head_softmax", 1));
  EXPECT_EQ(diagnosis.verdict, Verdict::kFault);
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].name, "softmax_twice");
  EXPECT_EQ(diagnosis.sentence.find("Softmax is applied twice ("), 0u) << diagnosis.sentence;
  ASSERT_FALSE(diagnosis.causes[0].speaks_for.empty());
  EXPECT_EQ(diagnosis.causes[0].speaks_for[0].lamp, "softmax_twice");
  EXPECT_TRUE(diagnosis.causes[0].speaks_for[0].is_lit);
  EXPECT_EQ(diagnosis.causes[0].step, 59);
}

TEST_F(Diagnoses, AdviseWithTheValuesOfTheFinding) {
  const Diagnosis diagnosis = of(60, healthy_but("alpha", "", 4));
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].name, "learning_rate_too_high");
  EXPECT_EQ(diagnosis.causes[0].advice, "Divide the learning rate by about 5");
  EXPECT_DOUBLE_EQ(diagnosis.causes[0].rate_factor, 0.2);
}

TEST_F(Diagnoses, NameTheRateThatWasAndTheOneToTakeWhereItIsRecorded) {
  const auto with_rate = [&](int64_t k) {
    std::vector<Reading> values = healthy_but("alpha", "", 4)(k);
    for (Reading& one : values) {
      // Steps of this length do harm.
      if (one.quantity == "loss") one.number = 2.3 * std::pow(1.1, k);
      if (one.quantity == "update_ratio") one.number = std::log10(0.2);
    }
    values.push_back(number("learning_rate", 0.1));
    return values;
  };
  const Diagnosis diagnosis = of(60, with_rate);
  const std::string alone = "Divide the learning rate by about 20, or clip gradients";
  const std::string told = alone + " (learning rate 0.1 to about 0.005)";
  EXPECT_EQ(diagnosis.causes.at(0).advice, told);
  EXPECT_NE(diagnosis.sentence.find("(learning rate 0.1 to about 0.005)"), std::string::npos)
      << diagnosis.sentence;
  const Diagnosis of_several = of(60, [&](int64_t k) {
    std::vector<Reading> values = with_rate(k);
    values.push_back(number("learning_rate", 0.01, "", "smallest"));
    return values;
  });
  EXPECT_EQ(of_several.causes.at(0).advice, alone);
}

TEST_F(Diagnoses, SayWhatToChangeInWordsOfPrograms) {
  const Diagnosis high = of(60, healthy_but("alpha", "", 4));
  EXPECT_EQ(high.causes.at(0).changes, std::vector<std::string>{"learning_rate"});
  EXPECT_DOUBLE_EQ(high.causes.at(0).factor, 0.2);
  const Diagnosis twice = of(60, healthy_but("wiring", "head_softmax", 1));
  EXPECT_EQ(twice.causes.at(0).changes, std::vector<std::string>{"outputs"});
  EXPECT_EQ(twice.causes.at(0).factor, 0);
  EXPECT_EQ(twice.causes.at(0).rate_factor, 0);
}

TEST_F(Diagnoses, DoNotAdviseToTrackWhatIsTrackedWithoutAValue) {
  // The quantity is in the plan of the run, but this network gives it no value.
  const RunFolder folder;
  Recorder recorder(folder.path());
  RunInfo info = full_info();
  const auto plan = [&](const std::string& name) {
    QuantityInfo quantity;
    quantity.name = name;
    info.quantities.push_back(quantity);
  };
  recorder.begin(info);
  const auto write = [](Recorder& to) {
    for (int64_t k = 0; k < 60; ++k) {
      to.write(step_of(k, {number("loss", 1.0 / (1.0 + double(k)))}));
    }
    to.finish(Ending::kFinished);
  };
  write(recorder);
  const std::vector<std::string> before = diagnose(RunReader(folder.path())).track;
  ASSERT_FALSE(before.empty());
  const RunFolder planned;
  Recorder other(planned.path());
  for (const std::string& name : before) plan(name);
  other.begin(info);
  write(other);
  for (const std::string& name : diagnose(RunReader(planned.path())).track) {
    EXPECT_EQ(std::count(before.begin(), before.end(), name), 0) << name;
  }
}

TEST_F(Diagnoses, CountDarkLampsThatCouldHaveBeenLitAgainstACause) {
  const Diagnosis diagnosis = of(60, healthy_but("alpha", "", 4));
  const auto& against = diagnosis.causes.at(0).speaks_against;
  const auto found = std::find_if(against.begin(), against.end(), [](const Evidence& one) {
    return one.lamp == "large_updates";
  });
  ASSERT_NE(found, against.end());
  EXPECT_FALSE(found->is_lit);
  EXPECT_LT(found->weight, 0);
  // A lamp that could not have been lit says nothing: spikes are not tracked.
  for (const Evidence& one : against) EXPECT_NE(one.lamp, "loss_spikes");
}

// The series of the record that a piece of evidence names.
std::vector<std::string> names_of(const Evidence& evidence, const std::string& folder) {
  std::vector<std::string> names;
  for (const SeriesInfo& series : RunReader(folder).series()) {
    const auto& ids = evidence.series;
    if (std::find(ids.begin(), ids.end(), series.id) == ids.end()) continue;
    names.push_back(series.quantity + "/" + series.field + "@" + series.group);
  }
  return names;
}

const Evidence* evidence_of(const Diagnosis& diagnosis, const std::string& lamp) {
  for (const RankedCause& cause : diagnosis.causes) {
    for (const auto* all : {&cause.speaks_for, &cause.speaks_against}) {
      for (const Evidence& one : *all) {
        if (one.lamp == lamp) return &one;
      }
    }
  }
  return nullptr;
}

TEST_F(Diagnoses, ShowTheNumbersBehindTheirEvidenceWithTheirLimits) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t k = 0; k < 60; ++k) recorder.write(step_of(k, healthy_but("alpha", "", 4)(k)));
  recorder.finish(Ending::kFinished);
  const Diagnosis diagnosis = diagnose(RunReader(folder.path()));
  const Evidence* lit = evidence_of(diagnosis, "long_steps");
  ASSERT_NE(lit, nullptr);
  EXPECT_EQ(lit->title, "The steps are too long");
  EXPECT_EQ(names_of(*lit, folder.path()), std::vector<std::string>{"alpha/@"});
  EXPECT_EQ(lit->limits, std::vector<double>{1});
  const Evidence* dark = evidence_of(diagnosis, "large_updates");
  ASSERT_NE(dark, nullptr);
  EXPECT_EQ(names_of(*dark, folder.path()), std::vector<std::string>{"update_ratio/@"});
  EXPECT_EQ(dark->limits, std::vector<double>{-1});
  EXPECT_EQ(dark->title, "A step changes the parameters by more than a tenth");
}

TEST_F(Diagnoses, NameTheLayersAndSamplesOfTheirEvidence) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t k = 0; k < 60; ++k) {
    std::vector<Reading> readings = healthy(k);
    readings.push_back(number("dead_units", 0.9, "", "relu1"));
    readings.push_back(number("dead_units", 0.1, "", "relu2"));
    readings.push_back(number("label_conflicts", 0.5));
    Reading places;
    places.kind = ReadingKind::kList;
    places.quantity = "label_conflicts";
    places.field = "samples";
    places.list = {3, 1e300, std::nan(""), -1, static_cast<double>(k)};
    readings.push_back(places);
    recorder.write(step_of(k, readings));
  }
  recorder.finish(Ending::kFinished);
  const Diagnosis diagnosis = diagnose(RunReader(folder.path()));
  const Evidence* dead = evidence_of(diagnosis, "dead_layers");
  ASSERT_NE(dead, nullptr);
  EXPECT_EQ(dead->layers, std::vector<std::string>{"relu1"});
  EXPECT_EQ(names_of(*dead, folder.path()), std::vector<std::string>{"dead_units/relu1@"});
  const Evidence* labels = evidence_of(diagnosis, "label_conflicts");
  ASSERT_NE(labels, nullptr);
  // Places that no batch has are left out.
  EXPECT_EQ(labels->samples, (std::vector<int64_t>{3, 59}));
  EXPECT_TRUE(labels->samples_are_positions);
}

TEST_F(Diagnoses, NameTheSamplesOfTheSpikeAndNotOfTheStepAfterIt) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t k = 0; k < 60; ++k) {
    std::vector<Reading> readings = healthy(k);
    // Of gradients that are not cleared, so that a cause has the spikes as evidence.
    readings.push_back(number("trained", k == 0 ? 0 : 4, "", "leftover"));
    readings.push_back(number("spikes", k > 40 && k < 50 ? 30 : 0.1));
    Reading ids = number("spikes", 0, "", "ids");
    ids.kind = ReadingKind::kList;
    ids.list = {1000.0 + static_cast<double>(k)};
    readings.push_back(ids);
    recorder.write(step_of(k, readings));
  }
  recorder.finish(Ending::kFinished);
  const Diagnosis diagnosis = diagnose(RunReader(folder.path()));
  const Evidence* spikes = evidence_of(diagnosis, "loss_spikes");
  ASSERT_NE(spikes, nullptr);
  EXPECT_EQ(spikes->step, 49);
  EXPECT_EQ(spikes->samples, std::vector<int64_t>{1049});
}

TEST_F(Diagnoses, NameGroupsAndParametersThatTakeNoPart) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  recorder.note(
      {0, 1, NoteKind::kRemark, "trained", "not in the optimizer: 'fc2.weight', 'fc2.bias'"});
  for (int64_t k = 0; k < 60; ++k) {
    std::vector<Reading> readings = healthy(k);
    for (Reading& one : readings) {
      if (one.quantity == "trained" && one.field == "not_optimized") one.number = 2;
    }
    readings.push_back(number("trained", 0, "fc1", "not_optimized"));
    readings.push_back(number("trained", 2, "fc2", "not_optimized"));
    readings.push_back(number("trained", 3, "", "unchanged"));
    recorder.write(step_of(k, readings));
  }
  recorder.finish(Ending::kFinished);
  const Diagnosis diagnosis = diagnose(RunReader(folder.path()));
  const Evidence* left_out = evidence_of(diagnosis, "left_out_of_optimizer");
  ASSERT_NE(left_out, nullptr);
  EXPECT_EQ(left_out->layers, std::vector<std::string>{"fc2"});
  EXPECT_NE(left_out->text.find("fc2.weight, fc2.bias"), std::string::npos) << left_out->text;
  EXPECT_EQ(names_of(*left_out, folder.path()),
            std::vector<std::string>{"trained/not_optimized@fc2"});
  // Without groups the picture is that of the model.
  const Evidence* unchanged = evidence_of(diagnosis, "unchanged_parameters");
  ASSERT_NE(unchanged, nullptr);
  EXPECT_TRUE(unchanged->layers.empty());
  EXPECT_EQ(names_of(*unchanged, folder.path()), std::vector<std::string>{"trained/unchanged@"});
}

TEST_F(Diagnoses, LinkToThePagesOfCausesAndLamps) {
  const Diagnosis diagnosis = of(60, healthy_but("wiring", "head_softmax", 1));
  EXPECT_EQ(diagnosis.causes.at(0).page, "docs/causes.md#softmax_twice");
  EXPECT_EQ(diagnosis.findings.at(0).page, "docs/lamps.md#" + diagnosis.findings.at(0).lamp);
}

TEST_F(Diagnoses, CannotTellWhereLittleIsTracked) {
  const Diagnosis diagnosis = of(
      60, [](int64_t k) { return std::vector<Reading>{number("loss", 1.0 / (1.0 + double(k)))}; });
  EXPECT_EQ(diagnosis.verdict, Verdict::kCannotTell);
  EXPECT_EQ(diagnosis.sentence.find("Cannot tell"), 0u) << diagnosis.sentence;
  EXPECT_NE(diagnosis.sentence.find("track "), std::string::npos);
  EXPECT_FALSE(diagnosis.track.empty());
}

TEST_F(Diagnoses, CannotTellBeforeTheFirstValues) {
  const RunFolder folder;
  { Recorder(folder.path()).begin(full_info()); }
  const Diagnosis diagnosis = diagnose(RunReader(folder.path()));
  EXPECT_EQ(diagnosis.verdict, Verdict::kCannotTell);
  EXPECT_EQ(diagnosis.sentence, "Cannot tell: no values are recorded yet");
}

TEST_F(Diagnoses, HaveProbabilitiesThatAddUpToOne) {
  for (const double alpha : {-0.3, 1.5, -0.99}) {
    const Diagnosis diagnosis = of(60, healthy_but("alpha", "", alpha));
    double sum = diagnosis.health;
    for (const RankedCause& cause : diagnosis.causes) sum += cause.probability;
    EXPECT_LE(sum, 1 + 1e-9);
    EXPECT_GT(sum, 0.7);  // those below 1 % are left out
    EXPECT_TRUE(std::is_sorted(
        diagnosis.causes.begin(), diagnosis.causes.end(), [](const auto& a, const auto& b) {
          return a.probability > b.probability;
        }));
  }
}

// ---- while a run goes on ------------------------------------------------------------------------

class FindingSinks : public testing::Test {
 protected:
  // What is told while this loss is recorded, with the step at which it was told.
  std::vector<std::string> told(const std::vector<double>& losses, FindingSinkOptions options) {
    const RunFolder folder;
    Recorder recorder(folder.path());
    std::vector<std::string> lamps;
    int64_t step = 0;
    FindingSink sink(
        folder.path(),
        [&](const Finding& finding, const Diagnosis&) {
          lamps.push_back(finding.lamp + "@" + std::to_string(step));
        },
        options);
    recorder.begin(full_info());
    sink.begin(full_info());
    for (const double loss : losses) {
      const StepReadings readings = step_of(step, {number("loss", loss)});
      recorder.write(readings);
      sink.write(readings);
      ++step;
    }
    recorder.finish(Ending::kFinished);
    sink.finish(Ending::kFinished);
    return lamps;
  }
};

TEST_F(FindingSinks, TellEachFindingOnceWhenItsLampLights) {
  FindingSinkOptions options;
  options.pause_s = 0;
  const std::vector<double> growing = {1, 1, 1, 9, 9, 9, 9, 9, 9};
  EXPECT_EQ(told(growing, options), std::vector<std::string>{"loss_grew@5"});
}

TEST_F(FindingSinks, LookAtTheEndHoweverShortTheRun) {
  EXPECT_EQ(told({1, 1, 1, 9, 9, 9}, {}), std::vector<std::string>{"loss_grew@6"});
}

TEST_F(FindingSinks, LeaveOutWhatIsBelowTheirSeverity) {
  FindingSinkOptions options;
  options.on = {"failure"};
  EXPECT_TRUE(told({1, 1, 1, 9, 9, 9}, options).empty());
}

TEST_F(FindingSinks, TellLampsByNameWhateverTheirSeverity) {
  FindingSinkOptions options;
  options.on = {"loss_grew"};
  EXPECT_EQ(told({1, 1, 1, 9, 9, 9}, options), std::vector<std::string>{"loss_grew@6"});
  options.on = {"diverged", "long_steps"};
  EXPECT_TRUE(told({1, 1, 1, 9, 9, 9}, options).empty());
}

TEST_F(FindingSinks, LookAtTheSameStepsWhereTheyAreTold) {
  FindingSinkOptions options;
  options.every = 4;
  options.looks_at_end = false;
  EXPECT_EQ(told({1, 1, 1, 9, 9, 9, 9, 9, 9, 9}, options), std::vector<std::string>{"loss_grew@8"});
}

TEST_F(FindingSinks, TellTheCausesAsTheyAreRankedThen) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t step = 0; step < 6; ++step) {
    recorder.write(step_of(step, {number("loss", step < 3 ? 1 : 9)}));
  }
  std::string first;
  FindingSink sink(folder.path(), [&](const Finding&, const Diagnosis& diagnosis) {
    ASSERT_FALSE(diagnosis.causes.empty());
    first = diagnosis.causes[0].name;
  });
  sink.finish(Ending::kFinished);
  const Diagnosis after = diagnose(RunReader(folder.path()));
  EXPECT_EQ(first, after.causes.at(0).name);
}

TEST(Findings, AreOfTheLampsThatAreWanted) {
  EXPECT_TRUE(is_wanted("diverged", Severity::kFailure, {"warning"}));
  EXPECT_TRUE(is_wanted("diverged", Severity::kFailure, {"long_steps", "diverged"}));
  EXPECT_FALSE(is_wanted("only_noise", Severity::kAdvice, {"warning", "long_steps"}));
  EXPECT_FALSE(is_wanted("diverged", Severity::kFailure, {}));
}

TEST(Findings, AreRefusedByNameWhereTheLampIsUnknown) {
  try {
    FindingSinkOptions options;
    options.on = {"long_step"};
    FindingSink sink(
        "/no/such/run", [](const Finding&, const Diagnosis&) {}, options);
    FAIL() << "took a lamp that there is not";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'long_steps'?"), std::string::npos);
  }
}

TEST_F(FindingSinks, AreSilentWhereThereIsNoRecord) {
  FindingSink sink("/no/such/run", [](const Finding&, const Diagnosis&) { FAIL(); });
  sink.finish(Ending::kFinished);
}

TEST(CauseCatalogue, LightsLampsThatThereAre) {
  std::set<std::string> lamps, told, names;
  for (const Lamp& lamp : lamp_catalogue()) lamps.insert(lamp.name);
  for (const Cause& cause : cause_catalogue()) {
    EXPECT_TRUE(names.insert(cause.name).second) << cause.name;
    EXPECT_FALSE(cause.lights.empty()) << cause.name;
    EXPECT_FALSE(cause.remedy.empty()) << cause.name;
    EXPECT_GT(cause.weight, 0) << cause.name;
    EXPECT_NE(cause.sentence.back(), '.') << cause.name;
    for (const auto& [lamp, share] : cause.lights) {
      EXPECT_EQ(lamps.count(lamp), 1u) << cause.name << " lights " << lamp;
      EXPECT_TRUE(share >= 0 && share <= 1) << cause.name << " lights " << lamp;
    }
  }
}

TEST(CauseCatalogue, RefusesWhatHasNoPartsOrAKnownName) {
  Cause cause;
  cause.name = "my_cause";
  EXPECT_NE(message_of([&] { register_cause(cause); }).find("'my_cause' lacks"), std::string::npos);
  cause.sentence = "Something is wrong";
  cause.lights = {{"diverged", 1.5}};
  EXPECT_NE(message_of([&] { register_cause(cause); }).find("between 0 and 1"), std::string::npos);
  cause.lights = {{"diverged", 0.5}};
  cause.weight = 0;
  EXPECT_NE(message_of([&] { register_cause(cause); }).find("above 0"), std::string::npos);
  cause.weight = 1;
  cause.name = "softmax_twice";
  EXPECT_NE(message_of([&] { register_cause(cause); }).find("'softmax_twice' already"),
            std::string::npos);
}

}  // namespace
}  // namespace flightdeck::tests
