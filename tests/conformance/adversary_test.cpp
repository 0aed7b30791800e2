// SPDX-License-Identifier: MIT
// An adversary: random models, losses and loops of the kinds that go wrong in silence. Every answer
// is exact, or a remark says what it is instead, or it is refused by name; anything else fails.
//
//   adversary_test [--models N] [--seed S] [--verbose]
//
// asks about the N cases of seeds S, S+1, ... (500 from seed 0 by default). "Inherited" are
// statistics of rows that lost their digits in autograd itself, without a mark: right for those
// rows, wrong for the net in double. They are counted, and too many fail. A failure prints its seed
// and the model; `--seed S --models 1 --verbose` replays it and prints what was refused. Exit code
// 0: all right, 1: not, 2: usage.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>

#include <torch/torch.h>

#include "conformance/adverse_checks.h"
#include "conformance/seeded_program.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

struct Tally {
  int64_t cases = 0, exact = 0, remarked = 0, refused = 0, inherited = 0, failed = 0;

  void add(const Verdicts& verdicts) {
    ++cases;
    exact += verdicts.exact;
    remarked += verdicts.remarked;
    refused += verdicts.refused;
    inherited += verdicts.inherited;
    failed += static_cast<int64_t>(verdicts.failures.size());
  }
  int64_t answers() const { return exact + remarked + refused + inherited + failed; }
};

// Refusing everything is no way to pass: at least this share of the answers is exact. Scalar losses
// that have no individual losses can only be refused, and are not counted.
constexpr double kLeastExact = 0.6;

// At most this share of the statistics of nearly equal samples is inherited, or one.
constexpr double kMostInherited = 0.001;

// Shares of the cases.
constexpr double kNearlyEqual = 0.05;
constexpr double kBent = 0.7;
constexpr double kTrained = 0.5;

constexpr const char* kNearlyEqualSamples = "nearly-equal";

class Adversary {
 public:
  explicit Adversary(const Settings& settings) : settings_(settings) {}

  int run() {
    for (int64_t i = 0; i < settings_.models; ++i) {
      challenge(settings_.seed + static_cast<uint64_t>(i));
    }
    report();
    const bool is_exact =
        static_cast<double>(total_.exact) >= kLeastExact * static_cast<double>(total_.answers());
    return failed_ == 0 && !inherits_too_much() && (is_exact || settings_.models < 100) ? 0 : 1;
  }

 private:
  bool inherits_too_much() const {
    const auto nearly_equal = by_feature_.find(kNearlyEqualSamples);
    if (nearly_equal == by_feature_.end()) return false;
    const Tally& tally = nearly_equal->second;
    return tally.inherited > 1 && static_cast<double>(tally.inherited) >
                                      kMostInherited * static_cast<double>(tally.answers());
  }

  void challenge(uint64_t seed) {
    Verdicts verdicts;
    AdverseModel model;
    // Questions have a stream of their own, so that they can change without changing the models.
    Sketch dice(~seed);
    try {
      if (dice.chance(kNearlyEqual)) {
        model.features = {kNearlyEqualSamples};
        ask_nearly_equal(seed, verdicts);
      } else {
        model = adverse_model(seed);
        if (settings_.is_verbose) {
          std::cout << "seed " << seed << ": " << model.description << std::endl;
        }
        ask_first_order(seed, model, dice, verdicts);
        if (dice.chance(kBent)) ask_second_order(seed, model, dice, verdicts);
        // Last, because its optimizer changes the parameters.
        if (dice.chance(kTrained)) ask_cockpit(seed, model, dice, verdicts);
      }
    } catch (const std::exception& error) {
      verdicts.failures.push_back(std::string("the case itself broke: ") + error.what());
    }
    tell(seed, model, verdicts);
    count(model, verdicts);
  }

  void count(const AdverseModel& model, const Verdicts& verdicts) {
    if (model.features.count("inseparable") == 0) total_.add(verdicts);
    if (!verdicts.failures.empty()) ++failed_;
    std::set<std::string> features = model.features;
    features.insert(verdicts.features.begin(), verdicts.features.end());
    if (features.empty()) features.insert("(none)");
    for (const std::string& feature : features) by_feature_[feature].add(verdicts);
  }

  void tell(uint64_t seed, const AdverseModel& model, const Verdicts& verdicts) const {
    if (settings_.is_verbose) {
      for (const std::string& line : verdicts.refusals) std::cout << "  refused " << line << "\n";
    }
    if (verdicts.failures.empty()) return;
    std::cout << "FAILED seed " << seed << " (replay: --seed " << seed
              << " --models 1 --verbose)\n  model: " << model.description << "\n  N = " << model.N()
              << ", parameters:";
    for (const NamedParameter& parameter : model.parameters) {
      std::cout << " " << parameter.name << parameter.tensor.sizes();
    }
    std::cout << "\n";
    for (const std::string& line : verdicts.failures) std::cout << "  " << line << "\n";
    std::cout << std::flush;
  }

  void report() const {
    std::cout << settings_.models << " cases from seed " << settings_.seed << " on "
              << test_device() << ": " << failed_ << " failed\n"
              << "feature               cases   exact  remarked  refused  inherited  failed\n";
    for (const auto& [feature, tally] : by_feature_) tell_tally(feature, tally);
    tell_tally("all but inseparable", total_);
  }

  static void tell_tally(const std::string& name, const Tally& tally) {
    std::cout << std::left << std::setw(20) << name << std::right << std::setw(7) << tally.cases
              << std::setw(8) << tally.exact << std::setw(10) << tally.remarked << std::setw(9)
              << tally.refused << std::setw(11) << tally.inherited << std::setw(8) << tally.failed
              << "\n";
  }

  Settings settings_;
  std::map<std::string, Tally> by_feature_;
  Tally total_;
  int64_t failed_ = 0;
};

}  // namespace
}  // namespace flightdeck::tests

int main(int argc, char** argv) {
  using namespace flightdeck::tests;
  return seeded_main("adversary_test", argc, argv, 500, [](const Settings& settings) {
    return Adversary(settings).run();
  });
}
