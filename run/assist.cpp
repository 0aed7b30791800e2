// SPDX-License-Identifier: MIT
#include "run/assist.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "base/order_statistics.h"
#include "base/shown_number.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/record.h"
#include "run/tracking.h"

namespace flightdeck::run {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kTrackEvery = 5, kLookEvery = 20;
constexpr int64_t kNoisyLooks = 3;
constexpr double kNear = 0.2;  // alphas between -0.2 and 0.2 are near enough
// The choice takes rounds of steps; after each the rate may change by a factor.
constexpr int64_t kRounds = 15, kStepsOfRound = 4;
constexpr double kFirstFactor = 0.01, kMostChange = 4;

// A step is 1 + alpha times as long as the one to the minimum along it, so the rate is divided by
// that.
double change_for(double alpha, double most) {
  if (!(std::abs(alpha) > kNear)) return 1;
  return std::clamp(1 / std::max(1 + alpha, 1e-6), 1 / most, most);
}

double median_or_nan(std::vector<double> values) {
  return values.empty() ? kNoNumber : median(std::move(values));
}

int64_t power_of_two(double near, int64_t most) {
  if (!std::isfinite(near)) near = static_cast<double>(most);
  int64_t size = 16;
  while (size * 2 <= most && static_cast<double>(size) * std::sqrt(2.0) < near) size *= 2;
  return size;
}

// A watched training that is thrown away after the choice.
class BriefTraining {
 public:
  BriefTraining(const suite::Problem& problem, TrainingOptions options)
      : training_(problem, options), values_(std::make_shared<MemorySink>()) {
    CockpitOptions watching;
    watching.grouping = Grouping::whole();
    watching.on_warning = [](const std::string&) {};
    watching.seed = options.seed;
    // A first guess need not know how batch norm couples the samples.
    watching.batch_norm = BatchNormPolicy::kConstantStatistics;
    cockpit_ = std::make_unique<Cockpit>(
        training_.parameters(),
        std::vector<Quantity>{
            quantity("alpha").every(1), quantity("cabs").every(1), quantity("loss").every(1)},
        watching);
    cockpit_->add_sink(values_);
  }

  Training& training() { return training_; }
  // Takes steps; returns false if the loss is no longer finite.
  bool takes(int64_t steps) {
    bool is_finite = true;
    for (int64_t k = 0; k < steps; ++k) {
      is_finite = std::isfinite(training_.step(cockpit_.get()).loss.item<double>()) && is_finite;
    }
    cockpit_->flush();
    return is_finite;
  }
  // Returns the median of the last `count` values that are numbers.
  double median_of(const std::string& quantity, int64_t count) const {
    std::vector<double> values;
    const auto& steps = values_->steps();
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const Reading* reading = values_->find(step->first, quantity);
      if (reading == nullptr || !std::isfinite(reading->number)) continue;
      values.push_back(reading->number);
      if (static_cast<int64_t>(values.size()) == count) break;
    }
    return median_or_nan(std::move(values));
  }

 private:
  Training training_;
  std::shared_ptr<MemorySink> values_;
  std::unique_ptr<Cockpit> cockpit_;
};

}  // namespace

AssistChoice choose(const suite::Problem& problem, const TrainingOptions& options) {
  TrainingOptions tried = options;
  tried.schedule = "constant";
  AssistChoice choice;
  const bool has_rate = options.hyperparameters.count("learning_rate") != 0;
  double factor = has_rate ? 1 : kFirstFactor;
  auto brief = std::make_unique<BriefTraining>(problem, tried);
  int64_t rounds_near = 0;
  double batch = kNoNumber;
  for (int64_t round = 0; round < kRounds; ++round) {
    brief->training().set_rate_factor(factor);
    const bool is_finite = brief->takes(kStepsOfRound);
    choice.steps += kStepsOfRound;
    if (!is_finite) {
      brief = std::make_unique<BriefTraining>(problem, tried);
      if (!has_rate) factor /= 10;
      continue;
    }
    batch = brief->median_of("cabs", 3 * kStepsOfRound);
    const double alpha = brief->median_of("alpha", kStepsOfRound);
    rounds_near = std::abs(alpha) <= 2 * kNear ? rounds_near + 1 : 0;
    if (rounds_near == 3) break;
    if (!has_rate) factor *= change_for(alpha, kMostChange);
  }
  const Training& training = brief->training();
  choice.learning_rate = training.hyperparameters().at("learning_rate") * factor;
  const int64_t most = std::clamp<int64_t>(training.data().train.size() / 20, 16, 512);
  choice.batch_size = options.batch_size > 0 ? options.batch_size : power_of_two(batch, most);
  return choice;
}

void track_for_assist(Tracking& tracking) {
  for (const char* name : {"alpha", "early_stopping"}) {
    const auto& all = tracking.quantities;
    const bool is_tracked = std::any_of(
        all.begin(), all.end(), [&](const Quantity& one) { return one.name() == name; });
    if (!is_tracked) track(tracking, quantity(name).every(kTrackEvery));
  }
}

Assistant::Assistant(std::string folder, Training& training, Cockpit& cockpit, Tell tell)
    : folder_(std::move(folder)),
      training_(training),
      cockpit_(cockpit),
      tell_(std::move(tell)),
      highest_factor_(std::numeric_limits<double>::infinity()),
      heeds_noise_from_(training.steps_per_epoch()) {}

Assistant::~Assistant() = default;

void Assistant::decide() {
  const int64_t step = training_.next_step();
  if (step == 0 || step % kLookEvery != 0) return;
  const auto median_since_last = [&](const char* name) {
    std::vector<double> values;
    const auto series = record_->find(name);
    if (!series) return kNoNumber;
    // Alpha of a step is known one step later, so all values of this range are there.
    for (const NumberPoint& point : record_->numbers(series->id, {step - kLookEvery, step - 1})) {
      if (std::isfinite(point.value)) values.push_back(point.value);
    }
    return median_or_nan(std::move(values));
  };
  try {
    if (!record_) record_ = std::make_unique<RunReader>(folder_);
    follow_alpha(median_since_last("alpha"));
    heed_noise(median_since_last("early_stopping"));
  } catch (const std::exception&) {
    // The record cannot be read now, so nothing is decided.
  }
}

void Assistant::follow_alpha(double alpha) {
  const double factor = std::min(training_.rate_factor() * change_for(alpha, 2), highest_factor_);
  if (factor == training_.rate_factor()) return;
  training_.set_rate_factor(factor);
  cockpit_.log(training_.next_step(), "assist_rate_factor", factor);
}

// A plateau looks like noise while a network begins, and so does any gradient of a few samples:
// before all data were seen at a rate it says nothing of that rate.
void Assistant::heed_noise(double criterion) {
  if (training_.next_step() < heeds_noise_from_) return;
  noisy_looks_ = criterion > 0 ? noisy_looks_ + 1 : 0;
  if (noisy_looks_ < kNoisyLooks) return;
  noisy_looks_ = 0;
  if (++halvings_ == kMostHalvings) return say("the gradient is noise: the training has converged");
  heeds_noise_from_ = training_.next_step() + training_.steps_per_epoch();
  highest_factor_ = training_.rate_factor() / 2;
  training_.set_rate_factor(highest_factor_);
  cockpit_.log(training_.next_step(), "assist_rate_factor", highest_factor_);
  say("the gradient looks like noise: the learning rate is halved to " +
      short_number(training_.learning_rate()));
}

void Assistant::say(const std::string& what) {
  const int64_t step = training_.next_step();
  const std::string sentence = "step " + std::to_string(step) + ": " + what;
  cockpit_.remark(step, sentence);
  if (tell_) tell_(step, sentence);
}

std::map<std::string, Tensor> Assistant::save() const {
  return {
      {"assist",
       at::tensor(
           {highest_factor_, double(noisy_looks_), double(halvings_), double(heeds_noise_from_)},
           at::kDouble)}};
}

void Assistant::load(const std::map<std::string, Tensor>& saved) {
  const auto found = saved.find("assist");
  if (found == saved.end()) return;
  highest_factor_ = found->second[0].item<double>();
  noisy_looks_ = static_cast<int64_t>(found->second[1].item<double>());
  halvings_ = static_cast<int64_t>(found->second[2].item<double>());
  if (found->second.numel() > 3) {
    heeds_noise_from_ = static_cast<int64_t>(found->second[3].item<double>());
  }
}

}  // namespace flightdeck::run
