// SPDX-License-Identifier: MIT
#include "cockpit/crew.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include "cockpit/crew_curvature.h"
#include "cockpit/crew_texts.h"
#include "curvature/flat_parameters.h"
#include "graph/error_message.h"

namespace flightdeck {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Names what every rank says of itself, at a place of its own. A light step has the first ones.
enum Column : int64_t {
  kSamples,
  kLoss,
  kKnowsLoss,
  kNoteSize,
  kOutside,
  kBackward,
  kLightColumns,
  kKnowsLosses = kLightColumns,
  kKnowsIds,
  kKnowsLabels,
  kKnowsPredictions,
  kHasGradients,
  kBringsRows,
  kStartSamples,
  kGradNorm,
  kParametersHigh,
  kParametersLow,
  kLossesHigh,
  kLossesLow,
  kRandomHigh,
  kRandomLow,
  kColumns,  // and then the size of what each quantity shares
};

// Stands for the matrix of a rank that gives nothing, or throws what its own could not be made for.
class NoOperator final : public LinearOperator {
 public:
  explicit NoOperator(const Parameters& parameters, std::exception_ptr failure = nullptr)
      : flat_(parameters), failure_(std::move(failure)) {}
  int64_t dim() const override { return flat_.dim(); }
  at::TensorOptions options() const override { return flat_.options(); }
  Tensor multiply(const Tensor& vectors) const override {
    if (failure_) std::rethrow_exception(failure_);
    return at::zeros_like(vectors);
  }

 private:
  FlatParameters flat_;
  std::exception_ptr failure_;
};

BitSum random_state() {
  auto generator = at::globalContext().defaultGenerator(at::kCPU);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return sum_of_bits({generator.get_state()});
}

Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

Reading by_rank(const char* quantity, size_t rank, double number, const char* field = "") {
  Reading reading;
  reading.quantity = quantity;
  reading.field = field;
  reading.group = "rank " + std::to_string(rank);
  reading.number = number;
  return reading;
}

Reading of_all(const char* quantity, double number) {
  Reading reading;
  reading.quantity = quantity;
  reading.number = number;
  return reading;
}

}  // namespace

// Holds one exchange, from what this rank has to what all have.
struct Crew::Meeting {
  Plan layout;
  const Step* own = nullptr;
  const ChordEnd* start = nullptr;
  std::exception_ptr failure;  // of this rank, between the exchanges

  std::vector<size_t> sharing;  // due quantities that share something
  std::map<size_t, Tensor> packed;
  size_t told = 0;  // notes of this rank
  Tensor notes;
  std::vector<std::pair<size_t, std::exception_ptr>> failures;  // of quantities, told at the end

  Packet first, second;
  size_t table_place = 0, failed_place = 0;
  std::optional<JointGradients> gradients;
  std::vector<JointCurvature> curvatures;
  std::vector<Tensor> arrived;

  int64_t columns = 0;
  std::vector<double> table;   // [W, columns]
  std::vector<double> failed;  // per tracked quantity, on so many ranks
  CrewSizes sizes, start_sizes;
  size_t losses = 0, ids = 0, labels = 0, predictions = 0, start_losses = 0, start_slopes = 0;
  std::map<size_t, size_t> shared_places;
  size_t notes_place = 0, spoilt_place = 0;
  UnionData data;

  double at(int64_t rank, int64_t column) const { return table[rank * columns + column]; }
  int64_t W() const { return static_cast<int64_t>(sizes.of_ranks.size()); }
  // Returns true if it is so on every rank that has samples.
  bool all_have(int64_t column) const {
    for (int64_t rank = 0; rank < W(); ++rank) {
      if (at(rank, kSamples) > 0 && at(rank, column) == 0) return false;
    }
    return true;
  }
  double sum(int64_t column) const {
    double sum = 0;
    for (int64_t rank = 0; rank < W(); ++rank) sum += at(rank, column);
    return sum;
  }
};

Crew::Crew(std::shared_ptr<Ranks> ranks,
           StepContext& context,
           std::vector<TrackedQuantity>& all_tracked,
           Failures& failures,
           Output& output)
    : ranks_(std::move(ranks)),
      context_(context),
      tracked_(all_tracked),
      failures_(failures),
      output_(output),
      rates_(StepOptions()) {
  if (is_first()) return;
  output_.on_note([this](const Note& note) { notes_.push_back(note); });
}

template <typename Call>
auto Crew::collective(const Call& call) {
  try {
    return call();
  } catch (...) {
    is_lost_ = true;
    layout_.reset();
    throw;
  }
}

// ---- the plan -----------------------------------------------------------------------------------

Plan Crew::layout_of(int64_t step) const {
  std::vector<TrackedQuantity> agreed = tracked_;
  for (size_t k = 0; k < agreed.size(); ++k) {
    agreed[k].is_on = k >= agreed_off_.size() || !agreed_off_[k];
  }
  return make_plan(step, agreed, ends_chord(step), [](size_t) {});
}

void Crew::expect(Plan layout) {
  layout_ = std::move(layout);
  agreed_off_.resize(tracked_.size(), false);
  knows_sizes_ = false;
  spectra_done_ = 0;
}

void Crew::learn_sizes(int64_t own) {
  const auto is_part = [](const auto& list, const auto& samples_of) {
    return std::any_of(
        list.begin(), list.end(), [&](const auto& one) { return samples_of(one) > 0; });
  };
  const bool asks =
      is_part(layout_->curvature, [](const CurvaturePass& pass) { return pass.batch.samples; }) ||
      is_part(layout_->spectra, [](const SpectrumNeed& need) { return need.samples; });
  if (!asks || knows_sizes_) return;
  const int64_t W = ranks_->size();
  Packet packet;
  const size_t place = packet.add_at(W, ranks_->rank(), numbers({static_cast<double>(own)}));
  collective([&] { packet.exchange(*ranks_); });
  sizes_.clear();
  for (const double size : packet.numbers(place)) sizes_.push_back(static_cast<int64_t>(size));
  knows_sizes_ = true;
}

int64_t Crew::share_of(int64_t samples, int64_t own) const {
  if (samples == 0) return own;
  int64_t before = 0;
  for (int64_t rank = 0; rank < ranks_->rank(); ++rank) before += sizes_[rank];
  return std::clamp<int64_t>(samples - before, 0, own);
}

uint64_t Crew::seed_of_rank(uint64_t seed) const {
  return seed + 0x9E3779B97F4A7C15U * static_cast<uint64_t>(ranks_->rank());
}

Eigenpairs Crew::spectrum(const SpectrumNeed& need, const MakeOperator& make_own, int64_t samples) {
  ++spectra_done_;
  std::shared_ptr<const LinearOperator> own;
  try {
    if (samples > 0) own = make_own();
  } catch (...) {
    own = std::make_shared<NoOperator>(context_.parameters, std::current_exception());
  }
  if (!own) own = std::make_shared<NoOperator>(context_.parameters);
  const auto seed = context_.options.seed + static_cast<uint64_t>(layout_->step);
  return leading_pairs(context_, *over_ranks(own, samples, ranks_), need, seed);
}

void Crew::sit_out_beginning() {
  learn_sizes(0);
  while (spectra_done_ < layout_->spectra.size()) {
    try {
      (void)spectrum(layout_->spectra[spectra_done_], {}, 0);
    } catch (const std::exception&) {
      // Nobody has samples, or a rank that has them failed and tells it.
    }
  }
}

// ---- who sees what ------------------------------------------------------------------------------

bool Crew::wants_rows(const Plan& layout) const {
  return std::any_of(layout.due.begin(), layout.due.end(), [&](size_t k) {
    const Needs needs = tracked_[k].needs().gradients;
    return !tracked_[k].functions.share && (needs.has(Need::kGram) || needs.has(Need::kIndividual));
  });
}

Needs Crew::needed_for(Needs asked, int64_t samples) const {
  int64_t bytes = 0;
  for (const NamedParameter& parameter : context_.parameters) bytes += parameter.tensor.numel() * 8;
  const bool fits = bytes * samples * ranks_->size() <= context_.options.pairs_bytes;
  return JointGradients::needed_for(asked, wants_rows(*layout_) && fits);
}

bool Crew::is_joint(size_t tracked, const UnionStep& step) const {
  const StepNeeds needs = tracked_[tracked].needs();
  const Quantity::Functions& functions = tracked_[tracked].functions;
  std::string reason;
  if (!functions.share && (functions.look || needs.activations)) {
    reason = "what it reads of the graph is not exchanged";
  }
  if (needs.vivit) reason = "the GGN's Gram matrix is of pairs of samples";
  if (!JointCurvature::can_join(needs.curvature)) reason = "curvature per sample is not exchanged";
  const bool is_of_rows =
      needs.gradients.has(Need::kGram) || needs.gradients.has(Need::kIndividual);
  const bool has_rows = step.has_gradients() && !step.gradients().parameters.empty() &&
                        (step.gradients().parameters[0].gram.defined() ||
                         step.gradients().parameters[0].individual.defined());
  if (is_of_rows && !functions.share && !has_rows) {
    reason = "the individual gradients of all ranks take more than pairs_bytes, " +
             std::to_string(context_.options.pairs_bytes) + " bytes";
  }
  if (reason.empty()) return true;
  if (is_first()) {
    output_.remark(step.step(),
                   tracked_[tracked].quantity.name(),
                   "of the samples of rank 0 alone: " + reason);
  }
  return false;
}

// ---- the meeting --------------------------------------------------------------------------------

std::unique_ptr<UnionStep> Crew::sit_out(const ChordEnd* start) {
  sit_out_beginning();
  return meet(nullptr, start);
}

std::unique_ptr<UnionStep> Crew::meet(const Step* own, const ChordEnd* start) {
  Meeting meeting;
  meeting.layout = *layout_;
  meeting.own = own;
  meeting.start = start;
  if (own) rates_ = own->rates();
  add_own(meeting);
  meeting.first.pack(*ranks_);
  collective([&] { meeting.first.exchange(*ranks_); });
  layout_.reset();
  take_table(meeting);
  pack_second(meeting);
  if (!meeting.second.is_empty()) collective([&] { meeting.second.exchange(*ranks_); });
  const int64_t step = meeting.layout.step;
  chord_step_.reset();
  if (meeting.layout.chord) chord_step_ = step;
  check_whole(meeting);
  notes_.erase(notes_.begin(), notes_.begin() + static_cast<int64_t>(meeting.told));
  take_second(meeting);
  meeting.data.by_rank = readings_by_rank(meeting);
  left_ = seconds_since(context_.start);
  last_step_ = step;
  // Failures are told once nobody waits for this rank any more, since some throw.
  for (const auto& [tracked, failure] : meeting.failures) {
    try {
      std::rethrow_exception(failure);
    } catch (...) {
      failures_.switch_off({tracked}, step);
    }
  }
  return std::make_unique<UnionStep>(
      context_, std::move(meeting.layout), own, rates_, std::move(meeting.data));
}

// Packs what due quantities have read by themselves.
void Crew::share_own(Meeting& meeting) {
  for (const size_t k : meeting.layout.due) {
    if (!tracked_[k].functions.share) continue;
    meeting.sharing.push_back(k);
    if (!meeting.own || !tracked_[k].is_on) continue;
    try {
      const at::NoGradGuard no_grad;
      meeting.own->check_heard(k);
      meeting.packed[k] = packed_tensors(tracked_[k].functions.share(*meeting.own));
    } catch (...) {
      meeting.failures.emplace_back(k, std::current_exception());
    }
  }
}

void Crew::add_own(Meeting& meeting) {
  const Step* own = meeting.own;
  const Plan& layout = meeting.layout;
  if (!layout.is_light) share_own(meeting);
  if (!is_first()) {
    failures_.tell();
    meeting.told = notes_.size();
    meeting.notes = packed_notes(notes_);
  }
  meeting.columns = layout.is_light ? int64_t{kLightColumns}
                                    : kColumns + static_cast<int64_t>(meeting.sharing.size());
  std::vector<double> line(meeting.columns, 0);
  const auto say = [&](int64_t column, double number) {
    if (column < meeting.columns) line[column] = number;
  };
  say(kNoteSize, meeting.notes.defined() ? static_cast<double>(meeting.notes.numel()) : 0);
  if (own) {
    say(kSamples, static_cast<double>(own->batch_size()));
    try {
      say(kLoss, own->loss().item<double>());
      say(kKnowsLoss, 1);
    } catch (const c10::Error&) {
      // Terms that all samples share are left out of the losses: there is no loss on any rank.
    }
    const bool is_next = last_step_ >= 0 && layout.step == last_step_ + 1;
    say(kOutside, is_next ? own->clock().begin - left_ : kUnknown);
    say(kBackward, own->clock().backward);
  }
  if (meeting.start) say(kStartSamples, static_cast<double>(meeting.start->batch_size));
  if (own && !layout.is_light) {
    const StepSamples samples = own->samples();
    const bool knows_losses = samples.losses.defined() && own->has_whole_losses();
    say(kKnowsLosses, knows_losses);
    say(kKnowsIds, samples.ids.defined());
    say(kKnowsLabels, samples.labels.defined());
    say(kKnowsPredictions, samples.predictions.defined());
    say(kHasGradients, own->has_gradients());
    const bool has_rows = own->has_gradients() && !own->gradients().parameters.empty() &&
                          own->gradients().parameters[0].individual.defined();
    say(kBringsRows, has_rows && wants_rows(layout));
    const bool has_norm = own->has_gradients() && own->gradients().total.arrived_norm.defined();
    say(kGradNorm, has_norm ? own->gradients().total.arrived_norm.item<double>() : kUnknown);
    std::vector<Tensor> parameters;
    for (const NamedParameter& one : context_.parameters) parameters.push_back(one.tensor);
    const BitSum of_parameters = context_.is_sharded ? BitSum{0, 0} : sum_of_bits(parameters);
    const BitSum random = random_state();
    const BitSum losses = knows_losses ? sum_of_bits({samples.losses}) : BitSum{kUnknown, kUnknown};
    say(kParametersHigh, of_parameters.high);
    say(kParametersLow, of_parameters.low);
    say(kLossesHigh, losses.high);
    say(kLossesLow, losses.low);
    say(kRandomHigh, random.high);
    say(kRandomLow, random.low);
    for (size_t k = 0; k < meeting.sharing.size(); ++k) {
      const auto found = meeting.packed.find(meeting.sharing[k]);
      if (found == meeting.packed.end()) continue;
      say(kColumns + static_cast<int64_t>(k), static_cast<double>(found->second.numel()));
    }
  }
  meeting.table_place = meeting.first.add_at(
      ranks_->size() * meeting.columns, ranks_->rank() * meeting.columns, numbers(line));
  std::vector<double> failed;
  for (size_t k = 0; k < tracked_.size(); ++k) {
    const bool fails_now = std::any_of(meeting.failures.begin(),
                                       meeting.failures.end(),
                                       [&](const auto& failure) { return failure.first == k; });
    failed.push_back(!agreed_off_[k] && (!tracked_[k].is_on || fails_now) ? 1 : 0);
  }
  meeting.failed_place = meeting.first.add(static_cast<int64_t>(failed.size()), numbers(failed));
  if (layout.has_gradient_pass()) {
    if (own) meeting.arrived = own->arrived();
    const Gradients* gradients = own && own->has_gradients() ? &own->gradients() : nullptr;
    meeting.gradients.emplace(
        context_.parameters, layout, gradients, meeting.arrived, own ? own->batch_size() : 0);
    meeting.gradients->add_sums(meeting.first);
  }
  for (const CurvaturePass& pass : layout.curvature) {
    if (!JointCurvature::can_join(pass.needs)) continue;
    const Curvature* curvature = own ? own->own_curvature(pass.batch) : nullptr;
    const int64_t samples = own ? share_of(pass.batch.samples, own->batch_size()) : 0;
    meeting.curvatures.emplace_back(context_.parameters, pass, curvature, samples);
    meeting.curvatures.back().add(meeting.first);
  }
}

// Reads what all have said of themselves; what is exchanged next follows from it.
void Crew::take_table(Meeting& meeting) {
  meeting.table = meeting.first.numbers(meeting.table_place);
  meeting.failed = meeting.first.numbers(meeting.failed_place);
  meeting.sizes.rank = meeting.start_sizes.rank = ranks_->rank();
  for (int64_t rank = 0; rank < ranks_->size(); ++rank) {
    meeting.sizes.of_ranks.push_back(static_cast<int64_t>(meeting.at(rank, kSamples)));
    if (meeting.layout.is_light) continue;
    meeting.start_sizes.of_ranks.push_back(static_cast<int64_t>(meeting.at(rank, kStartSamples)));
  }
  for (size_t k = 0; k < meeting.failed.size(); ++k) {
    if (meeting.failed[k] > 0) agreed_off_[k] = true;
  }
  UnionData& data = meeting.data;
  data.sizes = meeting.sizes.of_ranks;
  data.batch_size = meeting.sizes.all();
  const bool has_gradients = !meeting.layout.is_light && data.batch_size > 0 && meeting.gradients &&
                             meeting.all_have(kHasGradients);
  if (has_gradients) {
    const bool brings_rows = wants_rows(meeting.layout) && meeting.all_have(kBringsRows);
    meeting.gradients->agree(meeting.sizes, brings_rows);
  } else {
    meeting.gradients.reset();
  }
}

void Crew::take_first(Meeting& meeting) {
  switch_off_failed(meeting);
  UnionData& data = meeting.data;
  const at::Device device = context_.parameters[0].tensor.device();
  const auto N = static_cast<double>(data.batch_size);
  if (data.batch_size == 0) {
    data.loss_error = "no rank has samples at this step";
  } else if (!meeting.all_have(kKnowsLoss)) {
    data.loss_error =
        "the losses contain a term that all samples share, which is left out, and its value is not "
        "in the graph; watch the losses without it and add it outside, or keep shared terms";
  } else {
    double sum = 0;
    for (int64_t rank = 0; rank < ranks_->size(); ++rank) {
      const double samples = meeting.at(rank, kSamples);
      if (samples > 0) sum += samples / N * meeting.at(rank, kLoss);
    }
    data.loss = at::full({}, sum, at::TensorOptions(at::kDouble).device(device));
  }
  if (meeting.gradients) meeting.gradients->take_sums(meeting.first);
  size_t next = 0;
  for (const CurvaturePass& pass : meeting.layout.curvature) {
    if (!JointCurvature::can_join(pass.needs)) continue;
    auto curvature = meeting.curvatures[next++].take(meeting.first);
    if (curvature) data.curvatures.emplace_back(pass.batch, std::move(*curvature));
  }
}

// The others wait for this rank's part of the second exchange, whatever became of it: as many
// numbers as agreed, zero if need be, and a mark that they are.
void Crew::pack_second(Meeting& meeting) {
  try {
    take_first(meeting);
    add_second(meeting);
    meeting.second.pack(*ranks_);
  } catch (...) {
    meeting.failure = std::current_exception();
    meeting.own = nullptr;
    meeting.start = nullptr;
    meeting.packed.clear();
    meeting.notes = Tensor();
    if (meeting.gradients) meeting.gradients->give_nothing();
    meeting.second = Packet();
    add_second(meeting);
  }
}

void Crew::check_whole(const Meeting& meeting) const {
  if (meeting.failure) std::rethrow_exception(meeting.failure);
  if (meeting.second.is_empty()) return;
  const double spoilt = meeting.second.numbers(meeting.spoilt_place)[0];
  TORCH_CHECK(spoilt == 0,
              "what the ranks exchange at step ",
              meeting.layout.step,
              " could not be packed on ",
              spoilt,
              " of ",
              ranks_->size(),
              " ranks, which say why");
}

void Crew::switch_off_failed(const Meeting& meeting) {
  for (size_t k = 0; k < meeting.failed.size(); ++k) {
    if (meeting.failed[k] == 0 || !tracked_[k].is_on) continue;
    if (tracked_[k].quantity.gives_way()) {  // a rank logs it by itself
      tracked_[k].is_on = false;
      continue;
    }
    failures_.switch_off_elsewhere(
        k,
        meeting.layout.step,
        "it failed on " + std::to_string(static_cast<int64_t>(meeting.failed[k])) + " of " +
            std::to_string(ranks_->size()) + " ranks and is off on all");
  }
}

void Crew::add_samples(Meeting& meeting) {
  const int64_t N = meeting.sizes.all(), first = meeting.sizes.before();
  const Step* own = meeting.own;
  const StepSamples samples = own ? own->samples() : StepSamples();
  const auto add = [&](int64_t column, const Tensor& tensor) {
    const Tensor flat = tensor.defined() ? tensor.reshape({-1}).to(at::kDouble) : tensor;
    return meeting.all_have(column) ? meeting.second.add_at(N, first, flat) : size_t{0};
  };
  meeting.losses = add(kKnowsLosses, samples.losses);
  meeting.ids = add(kKnowsIds, samples.ids);
  meeting.labels = add(kKnowsLabels, samples.labels);
  meeting.predictions = add(kKnowsPredictions, samples.predictions);
  if (!meeting.layout.ends_chord) return;
  const int64_t starts = meeting.start_sizes.all(), begin = meeting.start_sizes.before();
  const bool has = meeting.start != nullptr;
  meeting.start_losses =
      meeting.second.add_at(starts, begin, has ? meeting.start->losses : Tensor());
  meeting.start_slopes =
      meeting.second.add_at(starts, begin, has ? meeting.start->slopes : Tensor());
}

void Crew::take_samples(Meeting& meeting) {
  UnionData& data = meeting.data;
  const at::Device device = context_.parameters[0].tensor.device();
  const auto take = [&](int64_t column, size_t place, at::ScalarType type) {
    return meeting.all_have(column) ? meeting.second.get(place).to(device).to(type) : Tensor();
  };
  data.samples.losses = take(kKnowsLosses, meeting.losses, at::kDouble);
  data.samples.ids = take(kKnowsIds, meeting.ids, at::kLong);
  data.samples.labels = take(kKnowsLabels, meeting.labels, at::kLong);
  data.samples.predictions = take(kKnowsPredictions, meeting.predictions, at::kLong);
  if (!data.samples.losses.defined()) {
    data.losses_error = "the individual losses are not known on all ranks";
  }
  if (!meeting.layout.ends_chord || !data.samples.losses.defined() || !data.gradients) return;
  const int64_t starts = meeting.start_sizes.all();
  if (starts == 0 || !data.gradients->total.dots.defined()) return;
  data.chord_start = ChordEnd{meeting.second.get(meeting.start_losses).to(device),
                              meeting.second.get(meeting.start_slopes).to(device),
                              starts};
  data.chord_end = ChordEnd{data.samples.losses,
                            data.gradients->total.dots.select(1, 0).to(at::kDouble),
                            data.batch_size};
}

void Crew::add_second(Meeting& meeting) {
  if (!meeting.layout.is_light && meeting.data.batch_size > 0) {
    add_samples(meeting);
    if (meeting.gradients) meeting.gradients->add_rest(meeting.second);
    for (size_t k = 0; k < meeting.sharing.size(); ++k) {
      const int64_t column = kColumns + static_cast<int64_t>(k);
      int64_t before = 0;
      for (int64_t rank = 0; rank < ranks_->rank(); ++rank) {
        before += static_cast<int64_t>(meeting.at(rank, column));
      }
      const auto all = static_cast<int64_t>(meeting.sum(column));
      const auto found = meeting.packed.find(meeting.sharing[k]);
      const Tensor own = found == meeting.packed.end() ? Tensor() : found->second;
      meeting.shared_places[meeting.sharing[k]] = meeting.second.add_at(all, before, own);
    }
  }
  int64_t before = 0;
  for (int64_t rank = 0; rank < ranks_->rank(); ++rank) {
    before += static_cast<int64_t>(meeting.at(rank, kNoteSize));
  }
  const auto all = static_cast<int64_t>(meeting.sum(kNoteSize));
  if (all > 0) meeting.notes_place = meeting.second.add_at(all, before, meeting.notes);
  if (meeting.second.is_empty()) return;
  const Tensor is_spoilt = at::full({1}, meeting.failure ? 1.0 : 0.0, at::kDouble);
  meeting.spoilt_place = meeting.second.add(1, is_spoilt);
}

void Crew::take_second(Meeting& meeting) {
  if (!meeting.layout.is_light && meeting.data.batch_size > 0) {
    if (meeting.gradients) {
      meeting.data.gradients = meeting.gradients->take_rest(meeting.second);
      if (const std::exception_ptr failure = meeting.gradients->failure()) {
        for (const size_t k : meeting.layout.due) {
          const bool is_concerned = JointGradients::keeps_rows(tracked_[k].needs().gradients);
          if (is_concerned && tracked_[k].is_on) meeting.failures.emplace_back(k, failure);
        }
      }
    }
    take_samples(meeting);
    take_shared(meeting);
  } else {
    meeting.data.losses_error =
        "over several ranks individual losses are not exchanged at steps where only light "
        "quantities are due";
  }
  if (meeting.sum(kNoteSize) == 0 || !is_first()) return;
  const std::vector<double> packed = meeting.second.numbers(meeting.notes_place);
  auto begin = packed.begin();
  for (int64_t rank = 0; rank < meeting.W(); ++rank) {
    const auto end = begin + static_cast<int64_t>(meeting.at(rank, kNoteSize));
    tell_notes({begin, end}, rank);
    begin = end;
  }
}

void Crew::take_shared(Meeting& meeting) {
  for (size_t k = 0; k < meeting.sharing.size(); ++k) {
    const int64_t column = kColumns + static_cast<int64_t>(k);
    const Tensor packed = meeting.second.get(meeting.shared_places[meeting.sharing[k]]);
    std::vector<std::vector<Tensor>> of_ranks;
    int64_t begin = 0;
    try {
      for (int64_t rank = 0; rank < meeting.W(); ++rank) {
        const auto size = static_cast<int64_t>(meeting.at(rank, column));
        if (size > 0) of_ranks.push_back(unpacked_tensors(packed.narrow(0, begin, size)));
        begin += size;
      }
      leave_out_empty(of_ranks, meeting.sharing[k], meeting.layout.step);
      std::vector<Tensor> joined = joined_tensors(of_ranks);
      const at::Device device = context_.parameters[0].tensor.device();
      for (Tensor& tensor : joined) tensor = tensor.to(device);
      meeting.data.shared[meeting.sharing[k]] = std::move(joined);
    } catch (...) {
      meeting.failures.emplace_back(meeting.sharing[k], std::current_exception());
    }
  }
}

// Leaves out ranks that have read nothing: the graph of one sample does not show what belongs to
// samples.
void Crew::leave_out_empty(std::vector<std::vector<Tensor>>& of_ranks,
                           size_t tracked,
                           int64_t step) {
  const auto is_empty = [](const std::vector<Tensor>& one) { return one.empty(); };
  const auto empty = std::count_if(of_ranks.begin(), of_ranks.end(), is_empty);
  if (empty == 0 || empty == static_cast<int64_t>(of_ranks.size())) return;
  of_ranks.erase(std::remove_if(of_ranks.begin(), of_ranks.end(), is_empty), of_ranks.end());
  if (!is_first()) return;
  output_.remark(step,
                 tracked_[tracked].quantity.name(),
                 "without the samples of ranks that have one sample: their graphs do not show what "
                 "it reads");
}

void Crew::tell_notes(const std::vector<double>& packed, int64_t rank) {
  for (const Note& note : unpacked_notes(packed)) {
    const std::string text = "rank " + std::to_string(rank) + ": " + note.text;
    if (note.kind == NoteKind::kRemark) {
      output_.remark(note.step, note.quantity, text);
    } else {
      output_.note(note.step, note.kind, note.quantity, text);
    }
  }
}

// ---- ranks beside one another -------------------------------------------------------------------

// Adds half the sum over classes of | share among the rank's labels - share among all |, and what
// that is on average where samples are dealt at random.
void Crew::add_label_distances(const Meeting& meeting, std::vector<Reading>& readings) const {
  if (!is_first() || meeting.data.batch_size == 0 || !meeting.all_have(kKnowsLabels)) return;
  const std::vector<double> labels = meeting.second.numbers(meeting.labels);
  std::map<double, double> of_all;
  for (const double label : labels) ++of_all[label];
  const auto N = static_cast<double>(labels.size());
  size_t begin = 0;
  for (int64_t rank = 0; rank < meeting.W(); ++rank) {
    const size_t end = begin + static_cast<size_t>(meeting.sizes.of_ranks[rank]);
    const auto n = static_cast<double>(end - begin);
    if (n == 0 || n == N) continue;
    std::map<double, double> own;
    for (; begin < end; ++begin) ++own[labels[begin]];
    double distance = 0, by_chance = 0;
    for (const auto& [label, count] : of_all) {
      const double share = count / N;
      const double variance = share * (1 - share) / n * (N - n) / (N - 1);  // without return
      distance += std::abs(own[label] / n - share) / 2;
      by_chance += std::sqrt(variance * 2 / M_PI) / 2;
    }
    const auto place = static_cast<size_t>(rank);
    readings.push_back(by_rank("rank_labels", place, distance));
    readings.push_back(by_rank("rank_labels", place, by_chance, "by_chance"));
  }
}

std::vector<Reading> Crew::readings_by_rank(const Meeting& meeting) {
  std::vector<Reading> readings;
  const auto is_here = [&](int64_t rank) { return meeting.at(rank, kSamples) > 0; };
  const auto is_same = [&](int64_t a, int64_t b, int64_t high, int64_t low) {
    return meeting.at(a, high) == meeting.at(b, high) && meeting.at(a, low) == meeting.at(b, low);
  };
  for (int64_t rank = 0; rank < meeting.W(); ++rank) {
    const auto place = static_cast<size_t>(rank);
    readings.push_back(by_rank("rank_samples", place, meeting.at(rank, kSamples)));
    if (!is_here(rank)) continue;
    if (meeting.at(rank, kKnowsLoss) > 0) {
      readings.push_back(by_rank("rank_loss", place, meeting.at(rank, kLoss)));
    }
    if (!std::isnan(meeting.at(rank, kOutside))) {
      readings.push_back(by_rank("rank_time", place, meeting.at(rank, kOutside)));
    }
    readings.push_back(by_rank("rank_time", place, meeting.at(rank, kBackward), "backward"));
    if (meeting.layout.is_light) continue;
    if (meeting.layout.gradients.has(Need::kArrivedNorm)) {
      readings.push_back(by_rank("rank_grad_norm", place, meeting.at(rank, kGradNorm)));
    }
  }
  if (meeting.layout.is_light) return readings;
  add_label_distances(meeting, readings);
  double drifted = 0;
  std::set<int64_t> twins, streams;
  int64_t reference = -1;
  for (int64_t rank = 0; rank < meeting.W(); ++rank) {
    if (!is_here(rank)) continue;
    if (reference < 0) reference = rank;
    drifted += is_same(rank, reference, kParametersHigh, kParametersLow) ? 0 : 1;
    for (int64_t other = 0; other < meeting.W(); ++other) {
      if (other == rank || !is_here(other)) continue;
      if (is_same(rank, other, kLossesHigh, kLossesLow)) twins.insert(rank);
      if (is_same(rank, other, kRandomHigh, kRandomLow)) streams.insert(rank);
    }
  }
  if (!context_.is_sharded) readings.push_back(of_all("rank_drift", drifted));
  readings.push_back(of_all("rank_twins", static_cast<double>(twins.size())));
  readings.push_back(of_all("rank_streams", static_cast<double>(streams.size())));
  return readings;
}

}  // namespace flightdeck
