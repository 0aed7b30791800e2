// SPDX-License-Identifier: MIT
#include "flightdeck/reactions.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "base/order_statistics.h"
#include "base/shown_number.h"
#include "base/words.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/ranks.h"
#include "flightdeck/record.h"

namespace flightdeck {
namespace {

using at::Tensor;

constexpr double kLeastRateFactor = 0.1, kUsualRateFactor = 0.5;
constexpr int64_t kMostSkippedInARow = 10;
constexpr size_t kGoodStates = 2;

// Returns the lamps of each reaction, with the words that name it.
std::vector<std::pair<std::string, const std::vector<std::string>*>> wishes(
    const ReactionOptions& options) {
  return {{"stop", &options.stop_on},
          {"keep a checkpoint", &options.checkpoint_on},
          {"lower the rate", &options.lower_rate_on},
          {"clip", &options.clip_on},
          {"skip the step", &options.skip_on},
          {"restore", &options.restore_on}};
}

std::string lamps_of(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.push_back(finding.lamp);
  return joined(names);
}

double factor_of(const Finding& finding) {
  const double advised = finding.rate_factor;
  return advised > 0 && advised < 1 ? std::max(advised, kLeastRateFactor) : kUsualRateFactor;
}

Tensor numbers(std::vector<double> values) { return at::tensor(values, at::kDouble); }

Tensor bytes_of(const std::string& text) {
  return at::from_blob(
             const_cast<char*>(text.data()), {static_cast<int64_t>(text.size())}, at::kByte)
      .clone();
}

std::string text_of(const Tensor& bytes) {
  const Tensor here = bytes.cpu().contiguous();
  const auto* begin = static_cast<const char*>(here.data_ptr());
  return {begin, begin + here.numel()};
}

}  // namespace

bool ReactionOptions::any() const {
  const auto all = wishes(*this);
  return std::any_of(all.begin(), all.end(), [](const auto& one) { return !one.second->empty(); });
}

bool ReactionOptions::names(const std::string& lamp) const {
  const auto all = wishes(*this);
  return std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return std::find(one.second->begin(), one.second->end(), lamp) != one.second->end();
  });
}

std::string ReactionOptions::text() const {
  std::string text;
  for (const auto& [what, on] : wishes(*this)) {
    if (!on->empty()) text += (text.empty() ? "" : "; ") + what + " on " + joined(*on);
  }
  return text;
}

void check_reactions(const ReactionOptions& options) {
  for (const auto& [what, on] : wishes(options)) check_wanted("what is to " + what + " on", *on);
  for (const auto& [name, value] : {std::make_pair("look_every", options.look_every),
                                    std::make_pair("pause", options.pause),
                                    std::make_pair("most", options.most),
                                    std::make_pair("keep_every", options.keep_every)}) {
    if (value >= 1) continue;
    throw std::invalid_argument(std::string("reactions: options.") + name + " is " +
                                std::to_string(value) + " but must be at least 1");
  }
  if (!(options.clip_norm >= 0)) {
    throw std::invalid_argument("reactions: options.clip_norm is " +
                                short_number(options.clip_norm) + " but must be at least 0");
  }
}

Reactions::Reactions(
    ReactionOptions options, std::string folder, ReactingLoop loop, Cockpit& cockpit, Tell tell)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      loop_(std::move(loop)),
      cockpit_(cockpit),
      tell_(std::move(tell)) {
  check_reactions(options_);
  const std::shared_ptr<Ranks>& ranks = cockpit_.options().ranks;
  const int64_t count = ranks ? ranks->size() : 1;
  TORCH_CHECK_NOT_IMPLEMENTED(
      count == 1,
      "reactions: the cockpit is one of ",
      count,
      " ranks, of which the first alone has the record; call on_finding there, and tell the others "
      "what to do");
}

int64_t Reactions::look_interval() const {
  return options_.skip_on.empty() && options_.restore_on.empty() ? options_.look_every : 1;
}

bool Reactions::takes_update(int64_t step) {
  step_ = step;
  is_left_out_ = false;
  if (step % look_interval() == 0) {
    const Lit lit = look();
    stop_or_keep(lit);
    lower_rate(lit);
    start_clipping(lit);
    is_left_out_ = restores(lit) || skips(lit);
    if (!is_left_out_) keep_good_state(lit);
  }
  if (is_left_out_) return false;
  if (clip_norm_ > 0) clip();
  return true;
}

bool Reactions::takes_checkpoint() { return std::exchange(is_checkpoint_wanted_, false); }

// Returns nothing if the record cannot be read now.
Reactions::Lit Reactions::look() {
  std::vector<std::string> wanted;
  for (const auto& wish : wishes(options_)) {
    wanted.insert(wanted.end(), wish.second->begin(), wish.second->end());
  }
  // A state that follows a loss which is not finite is never a good one.
  if (!options_.restore_on.empty()) wanted.emplace_back("diverged");
  try {
    if (!record_) record_ = std::make_unique<RunReader>(folder_);
    return findings_in(*record_, wanted);
  } catch (const std::exception&) {
    return {};
  }
}

Reactions::Lit Reactions::answered(const char* what,
                                   const std::vector<std::string>& on,
                                   const Lit& lit) {
  Lit answered;
  for (const Finding& finding : lit) {
    if (!is_wanted(finding.lamp, finding.severity, on)) continue;
    Acted& acted = acted_[std::string(what) + " " + finding.lamp];
    if (acted.times >= options_.most) continue;
    if (acted.last_step >= 0 && step_ < acted.last_step + options_.pause) continue;
    // A warning about the start, or about a peak that is over, says nothing of what came since. A
    // failure always names the first step that failed, so its step does not count.
    if (finding.severity != Severity::kFailure && finding.step < acted.last_step) continue;
    acted.last_step = step_;
    ++acted.times;
    answered.push_back(finding);
  }
  return answered;
}

// Stops and keeps at most once for each lamp.
void Reactions::stop_or_keep(const Lit& lit) {
  const auto first = [](const Acted& acted) { return acted.times == 1; };
  for (const Finding& finding : answered("stop", options_.stop_on, lit)) {
    if (!stopped_by_.empty() || !first(acted_["stop " + finding.lamp])) continue;
    stopped_by_ = finding.lamp;
    record("stopped", 1, "the run is stopped", {finding});
  }
  for (const Finding& finding : answered("keep", options_.checkpoint_on, lit)) {
    if (!first(acted_["keep " + finding.lamp])) continue;
    is_checkpoint_wanted_ = true;
    record("checkpoint", 1, "a checkpoint is kept", {finding});
  }
}

void Reactions::lower_rate(const Lit& lit) {
  const Lit because = answered("rate", options_.lower_rate_on, lit);
  if (because.empty()) return;
  double factor = 1;
  for (const Finding& finding : because) factor = std::min(factor, factor_of(finding));
  const double before = loop_.learning_rate();
  loop_.set_rate_factor(loop_.rate_factor() * factor);
  record("rate_factor",
         loop_.rate_factor(),
         "the learning rate is lowered from " + short_number(before) + " to " +
             short_number(before * factor),
         because);
}

void Reactions::start_clipping(const Lit& lit) {
  const Lit because = answered("clip", options_.clip_on, lit);
  if (because.empty()) return;
  if (clip_norm_ > 0) {
    clip_norm_ /= 2;
  } else {
    clip_norm_ = options_.clip_norm > 0 ? options_.clip_norm : usual_gradient_norm();
  }
  const std::string text =
      clip_norm_ > 0 ? "gradients are clipped at a norm of " + short_number(clip_norm_)
                     : "gradients would be clipped, but grad_norm is not tracked; track it, or "
                       "set options.clip_norm";
  record("clip_norm", clip_norm_, text, because);
}

bool Reactions::skips(const Lit& lit) {
  Lit because;
  for (const Finding& finding : lit) {
    if (is_wanted(finding.lamp, finding.severity, options_.skip_on)) because.push_back(finding);
  }
  if (because.empty()) {
    skipped_in_a_row_ = 0;
    return false;
  }
  // A lamp would stay lit for ever if nothing were trained any more.
  if (++skipped_in_a_row_ > kMostSkippedInARow) return false;
  record("skipped", 1, "the update is skipped", because);
  return true;
}

bool Reactions::restores(const Lit& lit) {
  if (good_.empty()) return false;
  const Lit because = answered("restore", options_.restore_on, lit);
  if (because.empty()) return false;
  const bool is_old_enough = good_.back().step + options_.keep_every / 2 <= step_;
  const Good& good = is_old_enough ? good_.back() : good_.front();
  loop_.restore(good.model, good.optimizer);
  record("restored",
         static_cast<double>(good.step),
         "the state of before step " + std::to_string(good.step) + " is restored",
         because);
  return true;
}

// Clips as torch.nn.utils.clip_grad_norm_ does. A norm that is not finite stays what it is.
void Reactions::clip() const {
  std::vector<Tensor> gradients, norms;
  for (const NamedParameter& parameter : loop_.parameters) {
    if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
  }
  for (const Tensor& gradient : gradients) norms.push_back(gradient.norm().to(at::kDouble));
  if (norms.empty()) return;
  const double norm = at::stack(norms).norm().item<double>();
  if (!(norm > clip_norm_) || !std::isfinite(norm)) return;
  const at::NoGradGuard no_grad;
  for (Tensor& gradient : gradients) gradient.mul_(clip_norm_ / (norm + 1e-6));
}

void Reactions::keep_good_state(const Lit& lit) {
  if (options_.restore_on.empty() || step_ % options_.keep_every != 0) return;
  const bool is_bad = std::any_of(lit.begin(), lit.end(), [&](const Finding& finding) {
    return finding.lamp == "diverged" ||
           is_wanted(finding.lamp, finding.severity, options_.restore_on);
  });
  if (is_bad) return;
  Good good;
  good.step = step_;
  for (const auto& [name, tensor] : loop_.save_model()) good.model[name] = tensor.clone();
  good.optimizer = loop_.save_optimizer();
  good_.push_back(std::move(good));
  if (good_.size() > kGoodStates) good_.pop_front();
}

double Reactions::usual_gradient_norm() const {
  if (!record_) return 0;
  const auto series = record_->find("grad_norm");
  std::vector<double> values;
  if (series) {
    for (const NumberPoint& point : record_->numbers(series->id)) {
      if (std::isfinite(point.value)) values.push_back(point.value);
    }
  }
  return values.empty() ? 0 : median(std::move(values));
}

void Reactions::record(const std::string& field,
                       double value,
                       const std::string& text,
                       const Lit& because) {
  Reading reading;
  reading.quantity = "interventions";
  reading.field = field;
  reading.number = value;
  cockpit_.log_readings(step_, {reading});
  const std::string sentence = "step " + std::to_string(step_) + ": " + text + ", because of " +
                               lamps_of(because) + " (" + because.front().evidence + ")";
  cockpit_.remark(step_, sentence);
  if (tell_) tell_(step_, sentence);
}

std::map<std::string, Tensor> Reactions::save() const {
  std::map<std::string, Tensor> saved;
  saved["numbers"] = numbers({clip_norm_, double(skipped_in_a_row_)});
  for (const auto& [name, acted] : acted_) {
    saved["acted/" + name] = numbers({double(acted.last_step), double(acted.times)});
  }
  for (size_t k = 0; k < good_.size(); ++k) {
    const std::string place = "good/" + std::to_string(k) + "/";
    saved[place + "step"] = numbers({double(good_[k].step)});
    saved[place + "optimizer"] = bytes_of(good_[k].optimizer);
    for (const auto& [name, tensor] : good_[k].model) saved[place + "model/" + name] = tensor;
  }
  return saved;
}

void Reactions::load(const std::map<std::string, Tensor>& saved) {
  const auto found = saved.find("numbers");
  if (found == saved.end()) return;
  clip_norm_ = found->second[0].item<double>();
  skipped_in_a_row_ = static_cast<int64_t>(found->second[1].item<double>());
  for (const auto& [name, tensor] : saved) {
    if (name.rfind("acted/", 0) == 0) {
      acted_[name.substr(6)] = {static_cast<int64_t>(tensor[0].item<double>()),
                                static_cast<int64_t>(tensor[1].item<double>())};
    }
    if (name.rfind("good/", 0) != 0) continue;
    const size_t place = static_cast<size_t>(std::stoul(name.substr(5)));
    const std::string what = name.substr(name.find('/', 5) + 1);
    if (good_.size() <= place) good_.resize(place + 1);
    if (what == "step") good_[place].step = static_cast<int64_t>(tensor[0].item<double>());
    if (what == "optimizer") good_[place].optimizer = text_of(tensor);
    if (what.rfind("model/", 0) == 0) good_[place].model[what.substr(6)] = tensor;
  }
}

}  // namespace flightdeck
