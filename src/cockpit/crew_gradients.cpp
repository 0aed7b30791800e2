// SPDX-License-Identifier: MIT
#include "cockpit/crew_gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>

#include "passes/kept_rows.h"
#include "rows/form.h"

namespace flightdeck {
namespace {

Tensor flat_double(const Tensor& tensor) { return tensor.detach().reshape({-1}).to(at::kDouble); }

// Returns the type and device that answers about this parameter have.
at::TensorOptions row_options(const Tensor& parameter) {
  return in_row_precision(at::empty({0}, parameter.options().requires_grad(false))).options();
}

bool has_answers(const ParameterGradients& own) {
  const Asked& all = answer_catalogue();
  return own.arrived_norm.defined() || std::any_of(all.begin(), all.end(), [&](const Answer* one) {
           return !one->get(own).empty();
         });
}

// Returns the answers about samples told apart that fill a tensor and are among the needs.
std::vector<const TensorAnswer*> tensor_answers(Needs needs) {
  Questions questions;
  questions.what = needs;
  std::vector<const TensorAnswer*> found;
  for (const Answer* answer : asked(questions)) {
    if (const auto* one = dynamic_cast<const TensorAnswer*>(answer)) found.push_back(one);
  }
  return found;
}

bool is_about_mean(const TensorAnswer& answer) {
  return answer.kind().over_ranks == OverRanks::kAboutMean;
}

bool is_per_sample(const TensorAnswer& answer) { return answer.kind().extent == Extent::kSamples; }

}  // namespace

int64_t CrewSizes::all() const {
  return std::accumulate(of_ranks.begin(), of_ranks.end(), int64_t{0});
}

int64_t CrewSizes::before() const {
  return std::accumulate(of_ranks.begin(), of_ranks.begin() + rank, int64_t{0});
}

Needs JointGradients::needed_for(Needs asked, bool brings_rows) {
  Needs needed = asked;
  for (const TensorAnswer* answer : tensor_answers(asked)) {
    if (is_about_mean(*answer)) needed = needed | Need::kMean;
  }
  if (brings_rows) needed = needed | Need::kIndividual;
  return needed;
}

bool JointGradients::keeps_rows(Needs asked) {
  const std::vector<const TensorAnswer*> answers = tensor_answers(asked);
  return std::any_of(answers.begin(), answers.end(), [](const TensorAnswer* answer) {
    return is_about_mean(*answer) && is_per_sample(*answer);
  });
}

JointGradients::JointGradients(const Parameters& parameters,
                               const Plan& layout,
                               const Gradients* own,
                               const std::vector<Tensor>& arrived,
                               int64_t samples)
    : parameters_(parameters),
      layout_(layout),
      asked_(layout.gradients),
      own_(samples > 0 ? own : nullptr),
      arrived_(arrived),
      samples_(samples),
      of_(parameters.size()),
      is_missing_(parameters.size(), false) {
  asked_ = needed_for(asked_, /*brings_rows=*/false);
  for (const TensorAnswer* answer : tensor_answers(asked_)) {
    if (answer->own_need() == Need::kDots) continue;  // those of the whole model do
    const bool is_early = answer->kind().over_ranks == OverRanks::kSum;
    (is_early ? early_ : late_).push_back(answer);
  }
  if (layout.ends_chord) asked_ = asked_ | Need::kDots;
}

// Returns a mean over the rank's samples as their sum.
Tensor JointGradients::weighted(size_t p, Tensor ParameterGradients::*field) const {
  if (own(p) == nullptr || !(own(p)->*field).defined()) return {};
  return flat_double(own(p)->*field) * static_cast<double>(samples_);
}

Tensor JointGradients::of_samples(size_t p, Tensor ParameterGradients::*field) const {
  if (own(p) == nullptr || !(own(p)->*field).defined()) return {};
  return flat_double(own(p)->*field);
}

void JointGradients::add_sums(Packet& packet) {
  const auto P = static_cast<int64_t>(parameters_.size());
  Tensor missing = at::zeros({P}, at::kDouble);
  for (int64_t p = 0; p < P && own_; ++p) {
    if (!has_answers(own_->parameters[p])) missing[p] = 1;
  }
  missing_ = packet.add(P, missing);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    Places& places = of_[p].places;
    const int64_t d = parameters_[p].tensor.numel();
    for (const TensorAnswer* answer : early_) {
      places.answers[answer] = packet.add(d, weighted(p, answer->field()));
    }
    if (asks(Need::kArrivedNorm)) {
      const bool has = own_ && p < arrived_.size() && arrived_[p].defined();
      const auto n = static_cast<double>(samples_);
      places.arrived = packet.add(d, has ? flat_double(arrived_[p]) * n : Tensor());
    }
    add_counts(packet, p);
  }
}

void JointGradients::add_counts(Packet& packet, size_t p) {
  Places& places = of_[p].places;
  const auto counts_of = [&](const std::vector<Tensor>* own, size_t k) {
    return own != nullptr && k < own->size() ? flat_double((*own)[k]) : Tensor();
  };
  const std::vector<Tensor>* own_counts = own(p) ? &own(p)->histograms : nullptr;
  for (size_t k = 0; k < layout_.histograms.size(); ++k) {
    const int64_t count = layout_.histograms[k].count + 3;
    places.histograms.push_back(packet.add(count, counts_of(own_counts, k)));
  }
  own_counts = own(p) ? &own(p)->joint_histograms : nullptr;
  for (size_t k = 0; k < layout_.joint_histograms.size(); ++k) {
    const JointBins& bins = layout_.joint_histograms[k];
    const int64_t count = bins.gradients.count * bins.parameters.count;
    places.joint_histograms.push_back(packet.add(count, counts_of(own_counts, k)));
  }
}

void JointGradients::take_counts(const Packet& packet, size_t p) {
  ParameterGradients& all = result_.parameters[p];
  const at::Device device = parameters_[p].tensor.device();
  for (const size_t entry : of_[p].places.histograms) {
    all.histograms.push_back(packet.get(entry).to(device).to(at::kLong));
  }
  for (size_t k = 0; k < of_[p].places.joint_histograms.size(); ++k) {
    const JointBins& bins = layout_.joint_histograms[k];
    const Tensor counts = packet.get(of_[p].places.joint_histograms[k]).to(device).to(at::kLong);
    all.joint_histograms.push_back(counts.view({bins.gradients.count, bins.parameters.count}));
  }
}

void JointGradients::agree(const CrewSizes& sizes, bool brings_rows) {
  sizes_ = sizes;
  brings_rows_ = brings_rows;
}

void JointGradients::give_nothing() {
  own_ = nullptr;
  for (OfParameter& of : of_) of.shift = MeanShift();
}

void JointGradients::take_sums(const Packet& packet) {
  const auto N = static_cast<double>(sizes_.all());
  result_.batch_size = sizes_.all();
  result_.total.name = "total";
  result_.parameters.resize(parameters_.size());
  if (own_) {
    result_.coverage = own_->coverage;
    result_.total.epsilon = own_->total.epsilon;
  } else {
    result_.coverage.parameters.resize(parameters_.size());
  }
  const std::vector<double> missing = packet.numbers(missing_);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    ParameterGradients& all = result_.parameters[p];
    const Tensor& tensor = parameters_[p].tensor;
    const at::TensorOptions options = row_options(tensor);
    all.name = parameters_[p].name;
    result_.coverage.parameters[p].name = all.name;
    is_missing_[p] = missing[p] > 0;
    if (is_missing_[p]) continue;  // a rank has no answer: nor have all together
    all.epsilon = own(p) ? own(p)->epsilon : machine_epsilon(options.dtype().toScalarType());
    for (const TensorAnswer* answer : early_) {
      const Tensor joint = packet.get(of_[p].places.answers.at(answer)) / N;
      answer->put(all, {joint.to(options).view(tensor.sizes())});
      if (answer->own_need() == Need::kMean) find_shift(p, joint);
    }
    if (asks(Need::kArrivedNorm)) {
      const Tensor sum = packet.get(of_[p].places.arrived);
      all.arrived_norm = (at::linalg_vector_norm(sum) / N).to(options);
    }
    take_counts(packet, p);
  }
  find_products();
}

void JointGradients::find_shift(size_t p, const Tensor& mean_of_all) {
  of_[p].mean = mean_of_all;
  const Tensor own_mean = of_samples(p, &ParameterGradients::mean);
  if (!own_mean.defined()) return;
  of_[p].shift.own_mean = own_mean.to(mean_of_all.device());
  of_[p].shift.offset = of_[p].shift.own_mean - mean_of_all;
}

// Computes <g_n, own mean - mean of all>, by which the rank's products and distances are off.
void JointGradients::find_products() {
  const bool is_alone = sizes_.all() == samples_;
  if (!keeps_rows(asked_) || !own_ || is_alone) return;
  try {
    std::vector<Tensor> directions;
    for (size_t p = 0; p < parameters_.size(); ++p) {
      const Tensor& tensor = parameters_[p].tensor;
      const Tensor& offset = of_[p].shift.offset;
      TORCH_CHECK(offset.defined(), "the mean of '", parameters_[p].name, "' is not known");
      Shape shape = tensor.sizes().vec();
      shape.insert(shape.begin(), 1);
      directions.push_back(offset.to(row_options(tensor)).view(shape));
    }
    const auto* rows = dynamic_cast<const FactoredRows*>(own_->rows.get());
    TORCH_CHECK(rows != nullptr, "the individual gradients were not kept");
    const std::vector<Tensor> products = rows->dots_by_parameter(directions);
    for (size_t p = 0; p < parameters_.size(); ++p) {
      of_[p].shift.products = flat_double(products[p]);
    }
  } catch (...) {
    failure_ = std::current_exception();
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    for (OfParameter& of : of_) of.shift.products = at::full({samples_}, kNaN, at::kDouble);
  }
}

void JointGradients::add_rest(Packet& packet) {
  const int64_t N = sizes_.all(), first = sizes_.before();
  if (asks(Need::kDots)) {
    const bool has = own_ && own_->total.dots.defined();
    dots_ = packet.add_at(N, first, has ? flat_double(own_->total.dots) : Tensor());
  }
  for (size_t p = 0; p < parameters_.size(); ++p) {
    Places& places = of_[p].places;
    const int64_t d = parameters_[p].tensor.numel();
    for (const TensorAnswer* answer : late_) {
      if (answer->kind().over_ranks == OverRanks::kFromRows) continue;
      const Tensor own = moved(*answer, p);
      places.answers[answer] =
          is_per_sample(*answer) ? packet.add_at(N, first, own) : packet.add(d, own);
    }
    if (brings_rows_) {
      places.rows = packet.add_at(N * d, first * d, of_samples(p, &ParameterGradients::individual));
    }
  }
}

// Returns what this rank gives of an answer: per sample, or of entries as a sum over the samples.
// What refers to the mean refers to that of all ranks.
Tensor JointGradients::moved(const TensorAnswer& answer, size_t p) const {
  Tensor own = of_samples(p, answer.field());
  if (!own.defined()) return own;
  MeanShift shift = of_[p].shift;
  const bool is_alone = sizes_.all() == samples_;
  if (is_about_mean(answer) && shift.offset.defined() && !is_alone) {
    if (!is_per_sample(answer)) own = own.to(shift.offset.device());
    if (shift.products.defined()) shift.products = shift.products.to(own.device());
    own = answer.about(own, shift);
  }
  return is_per_sample(answer) ? own : own * static_cast<double>(samples_);
}

void JointGradients::take_samples(const Packet& packet, size_t p) {
  ParameterGradients& all = result_.parameters[p];
  const Places& places = of_[p].places;
  const Tensor& tensor = parameters_[p].tensor;
  const at::TensorOptions options = row_options(tensor);
  bool wants_squared_mean = false;
  for (const TensorAnswer* answer : late_) {
    if (answer->kind().over_ranks == OverRanks::kFromRows) continue;
    Tensor joint = packet.get(places.answers.at(answer));
    if (!is_per_sample(*answer)) {
      joint = (joint / static_cast<double>(sizes_.all())).view(tensor.sizes());
    }
    const bool in_double = answer->kind().in_double;
    answer->put(all, {joint.to(in_double ? options.dtype(at::kDouble) : options)});
    const Need need = answer->own_need();
    wants_squared_mean |= need == Need::kDeviations || need == Need::kVariance;
  }
  if (wants_squared_mean) all.squared_mean = of_[p].mean.square().sum().to(tensor.device());
  if (!brings_rows_) return;
  const Tensor rows = packet.get(places.rows).to(tensor.device()).view({sizes_.all(), -1});
  if (asks(Need::kGram)) all.gram = rows.mm(rows.t());
  if (asks(Need::kIndividual)) {
    Shape shape = tensor.sizes().vec();
    shape.insert(shape.begin(), sizes_.all());
    all.individual = rows.to(options).view(shape);
  }
}

Gradients JointGradients::take_rest(const Packet& packet) {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (!is_missing_[p]) take_samples(packet, p);
  }
  if (asks(Need::kDots)) {
    const at::TensorOptions options = row_options(parameters_[0].tensor);
    result_.total.dots = packet.get(dots_).unsqueeze(1).to(options);
  }
  add_up();
  return std::move(result_);
}

// Adds up what all parameters have together.
void JointGradients::add_up() {
  std::vector<const ParameterGradients*> parts;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (!is_missing_[p]) parts.push_back(&result_.parameters[p]);
  }
  if (parts.empty()) return;
  ParameterGradients& total = result_.total;
  const auto add = [&](Tensor ParameterGradients::*field, bool is_squared) {
    if (!(parts[0]->*field).defined()) return;
    std::vector<Tensor> all;
    for (const ParameterGradients* part : parts) {
      const Tensor one = (part->*field).to(at::kDouble);
      all.push_back(is_squared ? one.square() : one);
    }
    const Tensor sum = at::stack(all).sum(0);
    total.*field = is_squared ? sum.sqrt().to((parts[0]->*field).dtype()) : sum;
  };
  for (const TensorAnswer* answer : late_) {
    const bool is_root = answer->kind().power == Power::kMagnitude;
    if (is_root || answer->is_sum_in_total()) add(answer->field(), is_root);
  }
  add(&ParameterGradients::arrived_norm, true);
  add(&ParameterGradients::squared_mean, false);
  for (const ParameterGradients* part : parts) {
    total.epsilon = std::max(total.epsilon, part->epsilon);
  }
  for (size_t k = 0; k < layout_.histograms.size(); ++k) {
    std::vector<Tensor> all;
    for (const ParameterGradients* part : parts) all.push_back(part->histograms[k]);
    total.histograms.push_back(at::stack(all).sum(0));
  }
}

}  // namespace flightdeck
