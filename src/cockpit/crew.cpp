// SPDX-License-Identifier: MIT
#include "cockpit/crew.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "cockpit/crew_curvature.h"
#include "cockpit/over_ranks.h"
#include "curvature/flat_parameters.h"

namespace flightdeck {
namespace {

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

}  // namespace

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
  spectra_done_ = 0;
}

int64_t Crew::share_of(int64_t samples, int64_t own) const {
  return share_of_rank(samples, own, ranks_->size());
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
  const auto seed = context_.options.seed + static_cast<uint64_t>(layout().step);
  return leading_pairs(context_, *over_ranks(own, samples, ranks_), need, seed);
}

void Crew::sit_out_beginning() {
  while (spectra_done_ < layout().spectra.size()) {
    try {
      (void)spectrum(layout().spectra[spectra_done_], {}, 0);
    } catch (const std::exception&) {
      // Nobody has samples, or a rank that has them failed and tells it.
    }
  }
}

// ---- who sees what ------------------------------------------------------------------------------

bool Crew::wants_rows(const Plan& layout) const {
  return std::any_of(layout.due.begin(), layout.due.end(), [&](size_t k) {
    return meaning_over_ranks(tracked_[k]) == RankMeaning::kPairs;
  });
}

Needs Crew::needed_for(Needs asked, int64_t samples) const {
  int64_t bytes = 0;
  for (const NamedParameter& parameter : context_.parameters) bytes += parameter.tensor.numel() * 8;
  const bool fits = bytes * samples * ranks_->size() <= context_.options.pairs_bytes;
  return JointGradients::needed_for(asked, wants_rows(layout()) && fits);
}

bool Crew::is_joint(size_t tracked, const UnionStep& step) const {
  const RankMeaning meaning = meaning_over_ranks(tracked_[tracked]);
  const bool has_rows = step.has_gradients() && !step.gradients().parameters.empty() &&
                        (step.gradients().parameters[0].gram.defined() ||
                         step.gradients().parameters[0].individual.defined());
  std::string reason;
  if (meaning == RankMeaning::kFirstRank) reason = why_of_first_rank(tracked_[tracked]);
  if (meaning == RankMeaning::kPairs && !has_rows) {
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

}  // namespace flightdeck
