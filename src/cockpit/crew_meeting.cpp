// SPDX-License-Identifier: MIT
// What the ranks exchange at the end of a step: first what all of them can count on, then what
// follows from that.
#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "cockpit/crew.h"
#include "cockpit/crew_curvature.h"
#include "cockpit/crew_table.h"
#include "cockpit/crew_texts.h"
#include "cockpit/over_ranks.h"
#include "cockpit/rank_readings.h"

namespace flightdeck {
namespace {

Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

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

  CrewTable table;
  std::vector<double> failed;  // per tracked quantity, on so many ranks
  CrewSizes sizes, start_sizes;
  size_t losses = 0, ids = 0, labels = 0, predictions = 0, start_losses = 0, start_slopes = 0;
  std::map<size_t, size_t> shared_places;
  size_t notes_place = 0, spoilt_place = 0;
  UnionData data;
};

std::unique_ptr<UnionStep> Crew::sit_out(const ChordEnd* start) {
  sit_out_beginning();
  return meet(nullptr, start);
}

std::unique_ptr<UnionStep> Crew::meet(const Step* own, const ChordEnd* start) {
  Meeting meeting;
  meeting.layout = layout();
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
  const Plan& layout = meeting.layout;
  if (!layout.is_light) share_own(meeting);
  if (!is_first()) {
    failures_.tell();
    meeting.told = notes_.size();
    meeting.notes = packed_notes(notes_);
  }
  add_line(meeting);
  add_failed(meeting);
  if (layout.has_gradient_pass()) add_gradients(meeting);
  for (const CurvaturePass& pass : layout.curvature) add_curvature(pass, meeting);
}

void Crew::add_line(Meeting& meeting) {
  const Step* own = meeting.own;
  const Plan& layout = meeting.layout;
  const int64_t columns = layout.is_light ? int64_t{kLightColumns}
                                          : kColumns + static_cast<int64_t>(meeting.sharing.size());
  CrewLine line(columns, 0);
  line[kNoteSize] = meeting.notes.defined() ? static_cast<double>(meeting.notes.numel()) : 0;
  if (own) {
    const bool is_next = last_step_ >= 0 && layout.step == last_step_ + 1;
    write_light(*own, is_next ? own->clock().begin - left_ : kUnknown, line);
  }
  if (!layout.is_light) {
    if (meeting.start) line[kStartSamples] = static_cast<double>(meeting.start->batch_size);
    if (own) write_rest(*own, context_, wants_rows(layout), line);
  }
  for (size_t k = 0; k < meeting.sharing.size() && own; ++k) {
    const auto found = meeting.packed.find(meeting.sharing[k]);
    if (found == meeting.packed.end()) continue;
    line[kColumns + k] = static_cast<double>(found->second.numel());
  }
  meeting.table.columns = columns;
  meeting.table_place =
      meeting.first.add_at(ranks_->size() * columns, ranks_->rank() * columns, numbers(line));
}

// Adds which quantities have failed on this rank and are not off on all yet.
void Crew::add_failed(Meeting& meeting) {
  std::vector<double> failed;
  for (size_t k = 0; k < tracked_.size(); ++k) {
    const bool fails_now = std::any_of(meeting.failures.begin(),
                                       meeting.failures.end(),
                                       [&](const auto& failure) { return failure.first == k; });
    failed.push_back(!agreed_off_[k] && (!tracked_[k].is_on || fails_now) ? 1 : 0);
  }
  meeting.failed_place = meeting.first.add(static_cast<int64_t>(failed.size()), numbers(failed));
}

void Crew::add_gradients(Meeting& meeting) {
  const Step* own = meeting.own;
  if (own) meeting.arrived = own->arrived();
  const Gradients* gradients = own && own->has_gradients() ? &own->gradients() : nullptr;
  meeting.gradients.emplace(
      context_.parameters, meeting.layout, gradients, meeting.arrived, own ? own->batch_size() : 0);
  meeting.gradients->add_sums(meeting.first);
}

void Crew::add_curvature(const CurvaturePass& pass, Meeting& meeting) {
  if (!adds_up(pass.needs)) return;
  const Step* own = meeting.own;
  const Curvature* curvature = own ? own->own_curvature(pass.batch) : nullptr;
  const int64_t samples = own ? share_of(pass.batch.samples, own->batch_size()) : 0;
  meeting.curvatures.emplace_back(context_.parameters, pass, curvature, samples);
  meeting.curvatures.back().add(meeting.first);
}

// Reads what all have said of themselves; what is exchanged next follows from it.
void Crew::take_table(Meeting& meeting) {
  meeting.table.numbers = meeting.first.numbers(meeting.table_place);
  meeting.failed = meeting.first.numbers(meeting.failed_place);
  meeting.sizes.rank = meeting.start_sizes.rank = ranks_->rank();
  for (int64_t rank = 0; rank < ranks_->size(); ++rank) {
    meeting.sizes.of_ranks.push_back(static_cast<int64_t>(meeting.table.at(rank, kSamples)));
    if (meeting.layout.is_light) continue;
    meeting.start_sizes.of_ranks.push_back(
        static_cast<int64_t>(meeting.table.at(rank, kStartSamples)));
  }
  for (size_t k = 0; k < meeting.failed.size(); ++k) {
    if (meeting.failed[k] > 0) agreed_off_[k] = true;
  }
  UnionData& data = meeting.data;
  data.sizes = meeting.sizes.of_ranks;
  data.batch_size = meeting.sizes.all();
  const bool has_gradients = !meeting.layout.is_light && data.batch_size > 0 && meeting.gradients &&
                             meeting.table.all_have(kHasGradients);
  if (has_gradients) {
    const bool brings_rows = wants_rows(meeting.layout) && meeting.table.all_have(kBringsRows);
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
  } else if (!meeting.table.all_have(kKnowsLoss)) {
    data.loss_error =
        "the losses contain a term that all samples share, which is left out, and its value is not "
        "in the graph; watch the losses without it and add it outside, or keep shared terms";
  } else {
    double sum = 0;
    for (int64_t rank = 0; rank < ranks_->size(); ++rank) {
      const double samples = meeting.table.at(rank, kSamples);
      if (samples > 0) sum += samples / N * meeting.table.at(rank, kLoss);
    }
    data.loss = at::full({}, sum, at::TensorOptions(at::kDouble).device(device));
  }
  tell_other_samples(meeting);
  if (meeting.gradients) meeting.gradients->take_sums(meeting.first);
  size_t next = 0;
  for (const CurvaturePass& pass : meeting.layout.curvature) {
    if (!adds_up(pass.needs)) continue;
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
    return meeting.table.all_have(column) ? meeting.second.add_at(N, first, flat) : size_t{0};
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
    return meeting.table.all_have(column) ? meeting.second.get(place).to(device).to(type)
                                          : Tensor();
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
      const auto before = static_cast<int64_t>(meeting.table.sum_before(ranks_->rank(), column));
      const auto all = static_cast<int64_t>(meeting.table.sum(column));
      const auto found = meeting.packed.find(meeting.sharing[k]);
      const Tensor own = found == meeting.packed.end() ? Tensor() : found->second;
      meeting.shared_places[meeting.sharing[k]] = meeting.second.add_at(all, before, own);
    }
  }
  const auto before = static_cast<int64_t>(meeting.table.sum_before(ranks_->rank(), kNoteSize));
  const auto all = static_cast<int64_t>(meeting.table.sum(kNoteSize));
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
  if (meeting.table.sum(kNoteSize) == 0 || !is_first()) return;
  const std::vector<double> packed = meeting.second.numbers(meeting.notes_place);
  auto begin = packed.begin();
  for (int64_t rank = 0; rank < meeting.table.W(); ++rank) {
    const auto end = begin + static_cast<int64_t>(meeting.table.at(rank, kNoteSize));
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
      for (int64_t rank = 0; rank < meeting.table.W(); ++rank) {
        const auto size = static_cast<int64_t>(meeting.table.at(rank, column));
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

// Says where curvature of some samples is of more or fewer than were asked for: all ranks give as
// many, as far as they have them.
void Crew::tell_other_samples(const Meeting& meeting) {
  if (!is_first()) return;
  const int64_t W = ranks_->size();
  for (const size_t k : meeting.layout.due) {
    const int64_t asked = asked_samples(tracked_[k].needs());
    const int64_t there = std::min(asked, meeting.sizes.all());
    int64_t given = 0;
    for (const int64_t own : meeting.sizes.of_ranks) {
      given += asked == 0 ? 0 : share_of_rank(asked, own, W);
    }
    if (given == there) continue;
    output_.remark(meeting.layout.step,
                   tracked_[k].quantity.name(),
                   "of " + std::to_string(given) + " samples where " + std::to_string(asked) +
                       " are asked for: every rank gives as many of its own");
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

std::vector<Reading> Crew::readings_by_rank(const Meeting& meeting) const {
  std::vector<Reading> readings = rank_readings(meeting.table, meeting.layout, context_.is_sharded);
  const bool has_labels = !meeting.layout.is_light && meeting.data.batch_size > 0 &&
                          meeting.table.all_have(kKnowsLabels);
  const bool has_ids =
      !meeting.layout.is_light && meeting.data.batch_size > 0 && meeting.table.all_have(kKnowsIds);
  if (is_first() && has_ids) {
    add_overlap(meeting.table, meeting.second.numbers(meeting.ids), readings);
  }
  if (is_first() && has_labels) {
    add_label_distances(meeting.table, meeting.second.numbers(meeting.labels), readings);
  }
  return readings;
}

}  // namespace flightdeck
