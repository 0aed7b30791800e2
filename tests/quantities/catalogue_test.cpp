// SPDX-License-Identifier: MIT
// The catalogue as a whole: what every entry owes, the papers' presets, names and settings.
#include <algorithm>
#include <cctype>
#include <set>

#include "errors.h"
#include "flightdeck/run_difference.h"
#include "quantities/watched_run.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

std::vector<std::string> names_of(const std::vector<Quantity>& quantities) {
  std::vector<std::string> names;
  for (const Quantity& quantity : quantities) names.push_back(quantity.name());
  std::sort(names.begin(), names.end());
  return names;
}

// Sections of docs/quantities.md, panels and tests of every entry are held to the catalogue by
// docs_quantities, web and catalogues.
TEST(Catalogue, TellsWhatEachEntryIs) {
  std::set<std::string> names;
  for (const Quantity& entry : all_quantities()) {
    EXPECT_TRUE(names.insert(entry.name()).second) << entry.name();
    EXPECT_EQ(quantity(entry.name()).name(), entry.name());
    ASSERT_FALSE(entry.summary().empty()) << entry.name();
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(entry.summary().front()))) << entry.name();
    EXPECT_NE(entry.summary().back(), '.') << entry.name();
    EXPECT_LE(entry.summary().size(), 90u) << entry.name();
    EXPECT_FALSE(entry.reference().empty()) << entry.name();
    for (const SettingInfo& setting : entry.setting_infos()) {
      EXPECT_FALSE(setting.summary.empty()) << entry.name() << "/" << setting.name;
    }
  }
}

TEST(Catalogue, IsComparedBetweenRunsButForWhatMeasuresTheProcess) {
  std::set<std::string> measures_process;
  for (const Quantity& entry : all_quantities()) {
    if (entry.measures_process()) measures_process.insert(entry.name());
  }
  EXPECT_EQ(DifferenceOptions().left_out, measures_process);
}

// The needs of adapting histograms come from their functions.
StepNeeds needs_of(const Quantity& entry) {
  const Quantity::Functions functions = entry.functions();
  return functions.needs ? functions.needs() : entry.needs();
}

TEST(Catalogue, StatesCostsThatFitTheNeeds) {
  for (const Quantity& entry : all_quantities()) {
    const StepNeeds needs = needs_of(entry);
    const bool is_free_need = needs.gradients.empty() || needs.gradients.has(Need::kArrivedNorm);
    Cost expected = Cost::kFree;
    if (!is_free_need || !needs.histograms.empty() || !needs.joint_histograms.empty() ||
        needs.chord) {
      expected = Cost::kFirstOrder;
    }
    if (!needs.curvature.empty() || needs.vivit) expected = Cost::kCurvature;
    if (needs.spectrum) expected = Cost::kSpectrum;
    // Products with a matrix of its own making.
    if (entry.name() == "sharpness") expected = Cost::kSpectrum;
    EXPECT_EQ(entry.cost(), expected) << entry.name() << ": " << to_string(entry.cost());
  }
}

TEST(Catalogue, RunsOnAConvolutionalNet) {
  torch::manual_seed(3);
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    auto net = on_device(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 3, 3)),
                                        nn::ReLU(),
                                        nn::MaxPool2d(nn::MaxPool2dOptions(2)),
                                        nn::Conv2d(nn::Conv2dOptions(3, 4, 2)),
                                        nn::Tanh(),
                                        nn::Flatten(),
                                        nn::Linear(16, 3)),
                         type);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    CockpitOptions options;
    options.grouping = Grouping::by_module();
    options.strict = true;
    Cockpit cockpit(net->named_parameters(), all_quantities(), options);
    auto sink = std::make_shared<MemorySink>();
    cockpit.add_sink(sink);
    StepOptions told;
    told.optimizer = &optimizer;
    for (int64_t step = 0; step < 3; ++step) {
      const Tensor losses =
          cross_entropies(net->forward(random({6, 1, 8, 8}).to(type)), random_integers({6}, 3));
      optimizer.zero_grad();
      StepWatch watch = cockpit.watch(step, losses, told);
      losses.mean().backward();
      watch.end();
      optimizer.step();
    }
    cockpit.finish();
    for (const Note& note : sink->notes()) {
      EXPECT_NE(note.kind, NoteKind::kSwitchedOff) << note.quantity << ": " << note.text;
    }
    // Nothing to compare with yet, and nothing of the kind in the net.
    const std::set<std::string> silent = {"spikes", "step_times", "attention", "experts"};
    for (const Quantity& entry : all_quantities()) {
      EXPECT_EQ(sink->find(0, entry.name()) == nullptr, silent.count(entry.name()) > 0)
          << entry.name();
      const bool has_groups = entry.has_groups() && silent.count(entry.name()) == 0;
      EXPECT_EQ(sink->find(0, entry.name(), "0") != nullptr, has_groups) << entry.name();
    }
  }
}

// ---- presets ------------------------------------------------------------------------------------

TEST(Presets, AreThePapersSetsWithWhatIsLight) {
  const std::vector<std::string> economy = {"alpha",
                                            "distance",
                                            "grad_hist_1d",
                                            "grad_norm",
                                            "inner_test",
                                            "learning_rate",
                                            "loss",
                                            "norm_test",
                                            "ortho_test",
                                            "time",
                                            "update_size"};
  std::vector<std::string> business = economy;
  business.insert(business.end(), {"hess_trace", "tic_diag"});
  std::vector<std::string> full = business;
  full.insert(full.end(), {"grad_hist_2d", "hess_max_ev"});
  std::sort(business.begin(), business.end());
  std::sort(full.begin(), full.end());
  EXPECT_EQ(names_of(preset("economy")), economy);
  EXPECT_EQ(names_of(preset("business")), business);
  EXPECT_EQ(names_of(preset("full")), full);
}

TEST(Presets, ForDiagnosisHaveNoCurvature) {
  EXPECT_EQ(all_presets().back().name, "diagnosis");
  for (const Quantity& entry : preset("diagnosis")) {
    EXPECT_LE(static_cast<int>(entry.cost()), static_cast<int>(Cost::kFirstOrder)) << entry.name();
  }
}

TEST(Presets, HaveTheReferenceImplementationsDefaults) {
  for (const Quantity& entry : preset("full")) {
    EXPECT_EQ(entry.settings_text(), "") << entry.name();
    EXPECT_TRUE(entry.due().contains(0) && entry.due().contains(1)) << entry.name();
  }
  EXPECT_EQ(quantity("grad_hist_1d").needs().histograms.at(0), (Bins{-2, 2, 100}));
  EXPECT_EQ(quantity("grad_hist_2d").needs().joint_histograms.at(0),
            (JointBins{{-1, 1, 40}, {-2, 2, 50}}));
  EXPECT_TRUE(quantity("tic_diag").needs().curvature.has(CurvatureNeed::kDiagHessian));
  EXPECT_TRUE(quantity("hess_trace").needs().curvature.has(CurvatureNeed::kTraceHessian));
  EXPECT_EQ(quantity("hess_trace").needs().curvature_batch,
            quantity("tic_diag").needs().curvature_batch);
}

TEST(Presets, TakeDueStepsForAllThatIsNotLight) {
  for (const Quantity& entry : preset("economy", DueSteps::every(5))) {
    EXPECT_TRUE(entry.due().contains(5)) << entry.name();
    EXPECT_EQ(entry.due().contains(6), entry.is_light()) << entry.name();
  }
}

TEST(Presets, HaveStepsOfTheirOwnWhereNobodySaysWhich) {
  EXPECT_FALSE(find_preset("economy").due);
  ASSERT_TRUE(find_preset("diagnosis").due);
  for (const Quantity& entry : preset("diagnosis")) {
    // Lamps that wait for values have fifty after fifty steps.
    EXPECT_TRUE(entry.due().contains(0) && entry.due().contains(49)) << entry.name();
    EXPECT_EQ(entry.due().contains(51), entry.is_light()) << entry.name();
    EXPECT_TRUE(entry.due().contains(1000)) << entry.name();
  }
  for (const Quantity& entry : preset("diagnosis", DueSteps::every(7))) {
    EXPECT_EQ(entry.due().contains(6), entry.is_light()) << entry.name();
  }
  expect_mentions(error_of([] { return find_preset("luxury"); }), {"'luxury'", "diagnosis"});
}

// ---- settings -----------------------------------------------------------------------------------

TEST(CatalogueSettings, AreRefusedWithTheirNameAndRemedy) {
  expect_mentions(error_of([] { return quantity("hess_trce"); }), {"hess_trce", "hess_trace"});
  expect_mentions(error_of([] {
                    return quantity("hess_trace", {{"curvature", "fisher"}});
                  }),
                  {"hess_trace", "fisher", "ggn_mc"});
  expect_mentions(error_of([] {
                    return quantity("hess_trace", {{"sampls", 3}});
                  }),
                  {"hess_trace", "sampls", "samples"});
  expect_mentions(error_of([] {
                    return quantity("tic_diag", {{"mc_samples", 0}});
                  }),
                  {"tic_diag", "mc_samples", "at least 1"});
  expect_mentions(error_of([] {
                    return quantity("hess_max_ev", {{"tolerance", -1}});
                  }),
                  {"hess_max_ev", "tolerance", "above 0"});
  expect_mentions(error_of([] {
                    return quantity("sample_outliers", {{"count", 0}});
                  }),
                  {"sample_outliers", "count"});
}

}  // namespace
}  // namespace flightdeck::tests
