// SPDX-License-Identifier: MIT
// Lamps that are lit by one field of the whole model: each by its own value and by no other's.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

struct Value {
  std::string quantity, field;
  double value;
};

struct Fact {
  std::string lamp;
  std::vector<Value> lit, dark;
  std::string said;  // part of the text
  int64_t steps = 60;
};

std::string name_of(const testing::TestParamInfo<Fact>& info) { return info.param.lamp; }

class LampsOfFacts : public testing::TestWithParam<Fact> {
 protected:
  // Names of the lamps that are lit by a run with these values at every step.
  static std::vector<Finding> found_with(const std::vector<Value>& values, int64_t steps) {
    const RunFolder folder;
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    for (int64_t k = 0; k < steps; ++k) {
      std::vector<Reading> readings;
      for (const Value& one : values) {
        readings.push_back(number(one.quantity, one.value, "", one.field));
      }
      recorder.write(step_of(k, readings));
    }
    recorder.finish(Ending::kFinished);
    return findings_in(RunReader(folder.path()));
  }
};

TEST_P(LampsOfFacts, AreLitByTheirValueAlone) {
  const Fact& fact = GetParam();
  const std::vector<Finding> found = found_with(fact.lit, fact.steps);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].lamp, fact.lamp);
  EXPECT_NE(found[0].text().find(fact.said), std::string::npos) << found[0].text();
  EXPECT_FALSE(found[0].advice.empty());
  EXPECT_TRUE(found_with(fact.dark, fact.steps).empty());
}

TEST_P(LampsOfFacts, AreDarkWhereTheValueIsNotANumber) {
  std::vector<Value> values = GetParam().lit;
  for (Value& one : values) one.value = kNan;
  for (const Finding& one : found_with(values, 60)) {
    EXPECT_TRUE(one.lamp == "diverged" || one.lamp == "high_first_loss" || one.lamp == "overflow")
        << one.lamp;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    LampsOfFacts,
    testing::Values(
        Fact{"softmax_twice",
             {{"wiring", "head_softmax", 1}},
             {{"wiring", "head_softmax", 0}},
             "softmax"},
        Fact{"bounded_outputs",
             {{"wiring", "head_bounded", 1}},
             {{"wiring", "head_bounded", 0}},
             "last thing"},
        Fact{"missing_logarithm",
             {{"wiring", "head_no_log", 1}},
             {{"wiring", "head_no_log", 0}},
             "log_softmax"},
        Fact{"conflicting_labels",
             {{"inputs", "conflicting_labels", 0.25}},
             {{"inputs", "conflicting_labels", 0.01}},
             "25 %"},
        Fact{"labels_out_of_range",
             {{"inputs", "labels_outside", 0.25},
              {"inputs", "label_low", 0},
              {"inputs", "label_high", 255}},
             {{"inputs", "labels_outside", 0}},
             "25 % of the labels are none that the loss has, at step 0: they go from 0 to 255"},
        Fact{"underflow", {{"finite", "underflow", 0.4}}, {{"finite", "underflow", 0.1}}, "40 %"},
        Fact{"beyond_stability",
             {{"sharpness", "", 4}},
             {{"sharpness", "", 1.1}},
             "Divide the learning rate by about 4"},
        Fact{"beyond_critical_batch",
             {{"critical_batch", "ratio", 8}},
             {{"critical_batch", "ratio", 2}},
             "Divide the batch size by about 8"},
        Fact{"spiking_updates",
             {{"spikes", "update", 20}},
             {{"spikes", "update", 5}},
             "30 of the last 30 updates"},
        Fact{"slow_data",
             {{"step_times", "", 0.1},
              {"step_times", "cockpit", 0.02},
              {"step_times", "data", 0.05}},
             {{"step_times", "", 0.1},
              {"step_times", "cockpit", 0.02},
              {"step_times", "data", 0.03}},
             "0.05 s of the 0.08 s"},
        Fact{"same_streams",
             {{"rank_streams", "", 2}, {"wiring", "dropouts", 3}},
             {{"rank_streams", "", 2}, {"wiring", "dropouts", 0}},
             "2 ranks"},
        Fact{"linear_pairs",
             {{"wiring", "linear_pairs", 2}},
             {{"wiring", "linear_pairs", 0}},
             "2 times"},
        Fact{"evaluation_mode",
             {{"wiring", "batch_norms_evaluating", 3}},
             {{"wiring", "batch_norms_evaluating", 0}},
             "3 batch norms"},
        Fact{"heavy_dropout",
             {{"wiring", "dropout_share", 0.7}},
             {{"wiring", "dropout_share", 0.6}},
             "70 %"},
        Fact{"summed_losses",
             {{"wiring", "loss_weight", 128}},
             {{"wiring", "loss_weight", 65536}},
             "weight 128"},
        Fact{"left_out_of_optimizer",
             {{"trained", "not_optimized", 2}},
             {{"trained", "not_optimized", 0}},
             "2 parameters"},
        Fact{"unreachable_parameters",
             {{"trained", "unreachable", 1}},
             {{"trained", "unreachable", 0}},
             "no path leads to 1"},
        Fact{"unchanged_parameters",
             {{"trained", "unchanged", 1}},
             {{"trained", "unchanged", 0}},
             "left 1"},
        Fact{"summed_gradients",
             {{"wiring", "loss_weight", 1}, {"trained", "leftover", 3}},
             {{"wiring", "loss_weight", 0.25}, {"trained", "leftover", 3}},
             "a whole mean"},
        Fact{"same_batch",
             {{"inputs", "same_batch", 1}},
             {{"inputs", "same_batch", 0}},
             "batch before"},
        Fact{"duplicated_samples",
             {{"inputs", "duplicates", 0.5}},
             {{"inputs", "duplicates", 0.05}},
             "50 %"},
        Fact{"constant_features",
             {{"inputs", "constant_features", 0.9}},
             {{"inputs", "constant_features", 0.3}},
             "90 %"},
        Fact{"broken_inputs",
             {{"inputs", "not_finite", 0.25}},
             {{"inputs", "not_finite", 0}},
             "25 %"},
        Fact{"unscaled_inputs",
             {{"inputs", "", 120}, {"inputs", "deviation", 60}},
             {{"inputs", "", 120}},
             "is 120"},
        Fact{"shifted_inputs",
             {{"inputs", "mean", 10}, {"inputs", "deviation", 1}},
             {{"inputs", "mean", 0.5}, {"inputs", "deviation", 1}},
             "10 times"},
        Fact{"one_class",
             {{"inputs", "label_largest", 0.9}},
             {{"inputs", "label_largest", 0.2}},
             "90 %"},
        Fact{"ignored_targets", {{"logits", "ignored", 0.8}}, {{"logits", "ignored", 0.2}}, "80 %"},
        Fact{"label_conflicts",
             {{"label_conflicts", "", 0.45}},
             {{"label_conflicts", "", 0.1}},
             "45 %"},
        Fact{"vanishing_gradients",
             {{"activation_scale", "gradient_ratio", 1e-5}},
             {{"activation_scale", "gradient_ratio", 0.3}},
             "1e-05"},
        Fact{"exploding_gradients",
             {{"activation_scale", "gradient_ratio", 100}},
             {{"activation_scale", "gradient_ratio", 3}},
             "100"},
        Fact{"uneven_activations",
             {{"activation_scale", "rms_ratio", 500}},
             {{"activation_scale", "rms_ratio", 10}},
             "500"},
        Fact{"noisy_gradients", {{"norm_test", "", 40}}, {{"norm_test", "", 1}}, "is 40"},
        Fact{"quiet_gradients", {{"norm_test", "", 0.0001}}, {{"norm_test", "", 0.1}}, "0.0001"},
        Fact{"loss_spikes", {{"spikes", "", 20}}, {{"spikes", "", 2}}, "30 of the last 30"},
        Fact{"high_first_loss",
             {{"loss", "", 23}, {"logits", "uniform_loss", 2.3}},
             {{"loss", "", 2.5}, {"logits", "uniform_loss", 2.3}},
             "23",
             20},
        Fact{"at_chance",
             {{"loss", "", 2.31}, {"logits", "uniform_loss", 2.3026}},
             {{"loss", "", 1.5}, {"logits", "uniform_loss", 2.3026}},
             "2.31"},
        Fact{"tiny_batches", {{"inputs", "samples", 6}}, {{"inputs", "samples", 8}}, "about 36"},
        Fact{
            "large_share_of_data",
            {{"inputs", "seen_before", 1}, {"inputs", "same_batch", 0}, {"inputs", "samples", 500}},
            {{"inputs", "seen_before", 0.4},
             {"inputs", "same_batch", 0},
             {"inputs", "samples", 500}},
            "about 63"},
        Fact{"large_start",
             {{"activation_scale", "", 9}, {"activation_scale", "gradient_ratio", 1}},
             {{"activation_scale", "", 1}, {"activation_scale", "gradient_ratio", 1}},
             "of 9"},
        Fact{"slow_steps",
             {{"update_ratio", "", -4}, {"loss", "", 2}},
             {{"update_ratio", "", -2}, {"loss", "", 2}},
             "Multiply the learning rate by about 100"},
        Fact{"little_learned",
             {{"loss", "", 2.2}, {"logits", "uniform_loss", 2.3}, {"update_ratio", "", -2}},
             {{"loss", "", 1.5}, {"logits", "uniform_loss", 2.3}, {"update_ratio", "", -2}},
             "The loss is 2.2"},
        Fact{"confident_mistakes",
             {{"loss", "", 1},
              {"logits", "confidence", 0.6},
              {"logits", "margin_smallest", -3},
              {"logits", "uniform_loss", 2.3},
              {"logits", "targets", 64},
              {"inputs", "samples", 64}},
             // A text: many letters are open.
             {{"loss", "", 1},
              {"logits", "confidence", 0.6},
              {"logits", "margin_smallest", -3},
              {"logits", "uniform_loss", 2.3},
              {"logits", "targets", 1024},
              {"inputs", "samples", 64}},
             "20.1 times as likely"}),
    &name_of);

}  // namespace

// ---- those that compare a beginning with an end -------------------------------------------------

namespace {

class LampsOfCourses : public testing::Test {
 protected:
  using Readings = std::function<std::vector<Reading>(int64_t step)>;

  static std::vector<std::string> lit_by(int64_t count,
                                         const Readings& readings,
                                         Ending ending = Ending::kFinished) {
    const RunFolder folder;
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    for (int64_t k = 0; k < count; ++k) recorder.write(step_of(k, readings(k)));
    recorder.finish(ending);
    std::vector<std::string> names;
    for (const Finding& one : findings_in(RunReader(folder.path()))) names.push_back(one.lamp);
    return names;
  }
  using Names = std::vector<std::string>;
};

TEST_F(LampsOfCourses, LossGrewIsLitBeforeTheLossBreaks) {
  const auto times = [](double factor) {
    return
        [=](int64_t k) { return std::vector<Reading>{number("loss", k < 3 ? 2.0 : 2.0 * factor)}; };
  };
  EXPECT_EQ(lit_by(6, times(30)), Names{"loss_grew"});
  EXPECT_TRUE(lit_by(5, times(30)).empty());
  EXPECT_TRUE(lit_by(6, times(1.5)).empty());
}

TEST_F(LampsOfCourses, StaleGradientsTellsWhatIsForgottenFromWhatIsAccumulated) {
  const auto left = [](double at_first, double later) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("trained", k == 0 ? at_first : later, "", "leftover")};
    };
  };
  EXPECT_EQ(lit_by(20, left(0, 4)), Names{"stale_gradients"});
  EXPECT_TRUE(lit_by(20, left(4, 4)).empty());
  EXPECT_TRUE(lit_by(20, left(0, 0)).empty());
}

TEST_F(LampsOfCourses, DropoutOffIsSaidOfDropoutThatWasOn) {
  const auto dropouts = [](double before, double later) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("wiring", k < 10 ? before : later, "", "dropouts")};
    };
  };
  EXPECT_EQ(lit_by(20, dropouts(2, 0)), Names{"dropout_off"});
  EXPECT_TRUE(lit_by(12, dropouts(2, 0)).empty()) << "an evaluation may be watched too";
  EXPECT_TRUE(lit_by(20, dropouts(0, 0)).empty());
  EXPECT_TRUE(lit_by(20, dropouts(0, 2)).empty());
}

// What `finite` says of a step with this scale, where `bad` entries of gradients are not finite.
std::vector<Reading> scaled_step(double scale, double bad) {
  return {number("finite", bad),
          number("finite", bad, "", "backward"),
          number("finite", 0, "", "forward"),
          number("finite", scale, "", "loss_scale")};
}

TEST_F(LampsOfCourses, NotFiniteIsSaidOfOverflowsThatNoScalerHandled) {
  const auto overflow = [](double scale, double next, int64_t at) {
    return [=](int64_t k) { return scaled_step(k <= at ? scale : next, k == at ? 7 : 0); };
  };
  EXPECT_EQ(lit_by(20, overflow(1, 1, 5)), Names{"not_finite"});
  EXPECT_EQ(lit_by(20, overflow(1024, 1024, 5)), Names{"not_finite"});
  EXPECT_TRUE(lit_by(20, overflow(1024, 512, 5)).empty());
  EXPECT_TRUE(lit_by(6, overflow(1024, 512, 5)).empty())
      << "the scaler may yet handle the last one";
  EXPECT_EQ(lit_by(6, overflow(1, 1, 5)), Names{"not_finite"});
  EXPECT_TRUE(lit_by(20, overflow(1, 1, 30)).empty());
}

TEST_F(LampsOfCourses, NotFiniteNamesWhereItBegan) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t k = 0; k < 9; ++k) recorder.write(step_of(k, scaled_step(1, k < 4 ? 0 : 3)));
  recorder.note(
      {4, 1, NoteKind::kRemark, "finite", "first not finite: output of log of layer 'fc1'"});
  recorder.finish(Ending::kFinished);
  const std::vector<Finding> found = findings_in(RunReader(folder.path()));
  ASSERT_EQ(found.size(), 2u);  // and the remark itself
  EXPECT_EQ(found[0].lamp, "not_finite");
  EXPECT_EQ(found[0].step, 4);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].evidence,
            "3 entries of gradients are NaN or infinite at step 4; first not finite: output of log "
            "of layer 'fc1'");
}

TEST_F(LampsOfCourses, ScaleCollapsedCountsHalvings) {
  const auto halved = [](int64_t times) {
    return [=](int64_t k) {
      const auto exponent = static_cast<double>(std::min(k / 3, times));
      return std::vector<Reading>{
          number("finite", 65536 * std::pow(0.5, exponent), "", "loss_scale")};
    };
  };
  EXPECT_EQ(lit_by(60, halved(12)), Names{"scale_collapsed"});
  EXPECT_TRUE(lit_by(60, halved(5)).empty()) << "a scaler that begins too high";
}

TEST_F(LampsOfCourses, ExplodingScoresGrow) {
  const auto scores = [](const char* field, double first, double last) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("attention", k < 20 ? first : last, "", field)};
    };
  };
  EXPECT_EQ(lit_by(60, scores("largest", 4, 90)), Names{"exploding_scores"});
  EXPECT_EQ(lit_by(60, scores("at_least", 4, 90)), Names{"exploding_scores"});
  EXPECT_TRUE(lit_by(60, scores("largest", 80, 90)).empty()) << "it began so";
  EXPECT_TRUE(lit_by(60, scores("at_most", 4, 90)).empty()) << "a bound from above proves nothing";
  EXPECT_TRUE(lit_by(60, scores("largest", 4, 40)).empty());
}

TEST_F(LampsOfCourses, FrozenAttentionLostItsEntropy) {
  const auto entropy = [](double first, double last) {
    return
        [=](int64_t k) { return std::vector<Reading>{number("attention", k < 20 ? first : last)}; };
  };
  EXPECT_EQ(lit_by(60, entropy(2, 0.01)), Names{"frozen_attention"});
  EXPECT_TRUE(lit_by(60, entropy(0.02, 0.01)).empty());
  EXPECT_TRUE(lit_by(60, entropy(2, 0.4)).empty());
}

TEST_F(LampsOfCourses, DeadExpertsGetNothingAtAnyStep) {
  const auto loads = [](bool alternate) {
    return [=](int64_t k) {
      Reading load = number("experts", 0, "", "load:router");
      load.kind = ReadingKind::kList;
      const bool is_first = alternate && k % 2 == 0;
      load.list = {is_first ? 0.0 : 0.5, is_first ? 0.5 : 0.0, 0.5};
      return std::vector<Reading>{number("experts", 1, "", "dead"), load};
    };
  };
  EXPECT_EQ(lit_by(40, loads(false)), Names{"dead_experts"});
  EXPECT_TRUE(lit_by(40, loads(true)).empty()) << "each has a turn";
  EXPECT_TRUE(lit_by(10, loads(false)).empty());
}

TEST_F(LampsOfCourses, GrowingMemoryGrowsSteadily) {
  constexpr double kMegabyte = 1 << 20;
  const auto memory = [=](const std::function<double(double)>& megabytes) {
    return [=](int64_t k) {
      return std::vector<Reading>{
          number("step_times", megabytes(double(k)) * kMegabyte, "", "memory")};
    };
  };
  EXPECT_EQ(lit_by(200, memory([](double k) { return 300 + k; })), Names{"growing_memory"});
  EXPECT_TRUE(lit_by(90, memory([](double k) { return 300 + 3 * k; })).empty()) << "too short";
  EXPECT_TRUE(lit_by(200, memory([](double k) { return k < 100 ? 300 : 500; })).empty()) << "once";
  EXPECT_TRUE(lit_by(200, memory([](double k) { return 300 + 0.1 * k; })).empty()) << "little";
}

TEST_F(LampsOfCourses, CollapsedWeightsNameTheirGroups) {
  const auto ranks = [](double first, double last) {
    return [=](int64_t k) {
      return std::vector<Reading>{
          number("weight_spectra", k < 20 ? first : last, "", "stable_rank"),
          number("weight_spectra", 9, "fc1", "stable_rank")};
    };
  };
  EXPECT_EQ(lit_by(60, ranks(6, 1.01)), Names{"collapsed_weights"});
  EXPECT_TRUE(lit_by(60, ranks(1.1, 1.01)).empty());
  EXPECT_TRUE(lit_by(60, ranks(6, 3)).empty());
}

TEST_F(LampsOfCourses, SortedBatchesAreNotThoseOfOneClassAlone) {
  const auto classes = [](bool changes) {
    return [=](int64_t k) {
      return std::vector<Reading>{
          number("inputs", 1, "", "label_classes"),
          number("inputs", changes ? double(k / 10) : 0.0, "", "label_low")};
    };
  };
  EXPECT_EQ(lit_by(40, classes(true)), Names{"sorted_batches"});
  EXPECT_TRUE(lit_by(40, classes(false)).empty());
}

TEST_F(LampsOfCourses, StillFallingIsSaidOfARunThatEnded) {
  const auto falling = [](int64_t k) {
    return std::vector<Reading>{number("loss", 10.0 - 0.2 * double(k))};
  };
  const auto settled = [](int64_t k) {
    return std::vector<Reading>{number("loss", k < 5 ? 10.0 - double(k) : 5.0)};
  };
  EXPECT_EQ(lit_by(40, falling), Names{"still_falling"});
  EXPECT_TRUE(lit_by(40, falling, Ending::kInterrupted).empty());
  EXPECT_TRUE(lit_by(40, settled).empty());
}

TEST_F(LampsOfCourses, ShrinkingParametersComparesWithTheBeginning) {
  const auto norm = [](double end) {
    return [=](int64_t k) {
      // A length of 10 that becomes `end`: a step of a hundredth of it.
      const double length = k < 2 ? 10.0 : end;
      return std::vector<Reading>{number("update_size", length / 100), number("update_ratio", -2)};
    };
  };
  EXPECT_EQ(lit_by(20, norm(5)), Names{"shrinking_parameters"});
  EXPECT_TRUE(lit_by(20, norm(9.5)).empty());
}

TEST_F(LampsOfCourses, ShrinkingParametersSeesThemShrinkAtOnceAndGrowAgain) {
  const auto length = [](double soon) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("update_size", (k == 9 ? soon : 10.0) / 100),
                                  number("update_ratio", -2)};
    };
  };
  EXPECT_EQ(lit_by(40, length(9)), Names{"shrinking_parameters"});
  EXPECT_TRUE(lit_by(40, length(9.5)).empty());
}

TEST_F(LampsOfCourses, LossGrewRemembersAPeakThatIsOver) {
  const auto peak = [](double height) {
    return [=](int64_t k) { return std::vector<Reading>{number("loss", k == 7 ? height : 2.0)}; };
  };
  EXPECT_EQ(lit_by(200, peak(30)), Names{"loss_grew"});
  EXPECT_TRUE(lit_by(200, peak(15)).empty());
}

TEST_F(LampsOfCourses, OverwrittenStartLooksAtTheFirstStepsAlone) {
  const auto ratio = [](double first, double later) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("update_ratio", k < 2 ? first : later)};
    };
  };
  EXPECT_EQ(lit_by(20, ratio(0.5, -2)), Names{"overwritten_start"});
  EXPECT_TRUE(lit_by(20, ratio(-0.9, -2)).empty());
  EXPECT_TRUE(lit_by(4, ratio(0.5, -2)).empty());
}

TEST_F(LampsOfCourses, VanishingGradientsSeesAStartThatTheTrainingMended) {
  const auto ratio = [](double first) {
    return [=](int64_t k) {
      return std::vector<Reading>{
          number("activation_scale", k < 3 ? first : 0.5, "", "gradient_ratio")};
    };
  };
  EXPECT_EQ(lit_by(40, ratio(1e-6)), Names{"vanishing_gradients"});
  EXPECT_TRUE(lit_by(40, ratio(5e-4)).empty());
}

TEST_F(LampsOfCourses, ShortTrainingIsSaidOfARunThatEndedAndLearned) {
  const auto falling = [](int64_t k) {
    return std::vector<Reading>{number("loss", 2.0 / (1.0 + double(k)))};
  };
  const auto has = [](const Names& names) {
    return std::count(names.begin(), names.end(), "short_training") > 0;
  };
  EXPECT_TRUE(has(lit_by(12, falling)));
  EXPECT_FALSE(has(lit_by(12, falling, Ending::kInterrupted)));
  EXPECT_FALSE(has(lit_by(31, falling)));
  EXPECT_FALSE(has(lit_by(12, [](int64_t) { return std::vector<Reading>{number("loss", 2)}; })));
}

TEST_F(LampsOfCourses, OtherLossNeedsLabelsAndTheWordOfLogits) {
  const auto lit_with = [](const std::string& field, const std::string& remarked) {
    const RunFolder folder;
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    recorder.write(step_of(0, {number("inputs", 3, "", field)}));
    Note note;
    note.quantity = remarked;
    note.text = "the loss is no cross-entropy";
    recorder.note(note);
    recorder.finish(Ending::kFinished);
    Names names;
    for (const Finding& one : findings_in(RunReader(folder.path()))) names.push_back(one.lamp);
    return names;
  };
  EXPECT_EQ(lit_with("label_classes", "logits"), (Names{"other_loss", "remark"}));
  EXPECT_EQ(lit_with("mean", "logits"), Names{"remark"});
  EXPECT_EQ(lit_with("label_classes", "alpha"), Names{"remark"});
}

TEST_F(LampsOfCourses, OverflowIsADivergenceWithoutGrowth) {
  const auto course = [](double growth) {
    return [=](int64_t k) {
      return std::vector<Reading>{number("loss", k < 9 ? 2.0 : kNan),
                                  number("grad_norm", k < 9 ? std::pow(growth, double(k)) : kNan)};
    };
  };
  EXPECT_EQ(lit_by(10, course(1.0)), (Names{"diverged", "overflow"}));
  EXPECT_EQ(lit_by(10, course(3.0)), Names{"diverged"});
}

TEST_F(LampsOfCourses, AnAdviceIsNotSaidBesideADivergence) {
  const auto course = [](int64_t k) {
    return std::vector<Reading>{number("loss", k < 30 ? 1.0 : kNan), number("early_stopping", 0.5)};
  };
  EXPECT_EQ(lit_by(40, course), Names{"diverged"});
  EXPECT_EQ(lit_by(30, course), Names{"only_noise"});
}

}  // namespace
}  // namespace flightdeck::tests
