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
  return own.mean.defined() || own.norms.defined() || own.arrived_norm.defined() ||
         own.second_moment.defined() || own.gram.defined() || own.dots.defined() ||
         !own.histograms.empty() || !own.joint_histograms.empty() || own.individual.defined();
}

}  // namespace

int64_t CrewSizes::all() const {
  return std::accumulate(of_ranks.begin(), of_ranks.end(), int64_t{0});
}

int64_t CrewSizes::before() const {
  return std::accumulate(of_ranks.begin(), of_ranks.begin() + rank, int64_t{0});
}

Needs JointGradients::needed_for(Needs asked, bool brings_rows) {
  Needs needed = asked;
  const bool refers_to_mean = asked.has(Need::kVariance) || keeps_rows(asked);
  if (refers_to_mean) needed = needed | Need::kMean;
  if (brings_rows) needed = needed | Need::kIndividual;
  return needed;
}

bool JointGradients::keeps_rows(Needs asked) {
  return asked.has(Need::kMeanDots) || asked.has(Need::kDeviations);
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
  if (layout.ends_chord) asked_ = asked_ | Need::kDots;
}

bool JointGradients::asks_mean() const {
  return asks(Need::kMean) || asks(Need::kVariance) || keeps_rows(asked_);
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
    if (asks_mean()) places.mean = packet.add(d, weighted(p, &ParameterGradients::mean));
    if (asks(Need::kArrivedNorm)) {
      const bool has = own_ && p < arrived_.size() && arrived_[p].defined();
      const auto n = static_cast<double>(samples_);
      places.arrived = packet.add(d, has ? flat_double(arrived_[p]) * n : Tensor());
    }
    if (asks(Need::kSecondMoment)) {
      places.second_moment = packet.add(d, weighted(p, &ParameterGradients::second_moment));
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
  for (OfParameter& of : of_) of.products = of.offset = Tensor();
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
    if (asks_mean()) {
      of_[p].mean = packet.get(of_[p].places.mean) / N;
      if (const Tensor sum = weighted(p, &ParameterGradients::mean); sum.defined()) {
        of_[p].offset = sum.to(of_[p].mean.device()) / static_cast<double>(samples_) - of_[p].mean;
      }
      all.mean = of_[p].mean.to(options).view(tensor.sizes());
    }
    if (asks(Need::kArrivedNorm)) {
      const Tensor sum = packet.get(of_[p].places.arrived);
      all.arrived_norm = (at::linalg_vector_norm(sum) / N).to(options);
    }
    if (asks(Need::kSecondMoment)) {
      const Tensor sum = packet.get(of_[p].places.second_moment);
      all.second_moment = (sum / N).to(options).view(tensor.sizes());
    }
    take_counts(packet, p);
  }
  find_products();
}

// Computes <g_n, own mean - mean of all>, by which the rank's products and distances are off.
void JointGradients::find_products() {
  const bool is_alone = sizes_.all() == samples_;
  if (!keeps_rows(asked_) || !own_ || is_alone) return;
  try {
    std::vector<Tensor> directions;
    for (size_t p = 0; p < parameters_.size(); ++p) {
      const Tensor& tensor = parameters_[p].tensor;
      const Tensor& offset = of_[p].offset;
      TORCH_CHECK(offset.defined(), "the mean of '", parameters_[p].name, "' is not known");
      Shape shape = tensor.sizes().vec();
      shape.insert(shape.begin(), 1);
      directions.push_back(offset.to(row_options(tensor)).view(shape));
    }
    const auto* rows = dynamic_cast<const FactoredRows*>(own_->rows.get());
    TORCH_CHECK(rows != nullptr, "the individual gradients were not kept");
    const std::vector<Tensor> products = rows->dots_by_parameter(directions);
    for (size_t p = 0; p < parameters_.size(); ++p) of_[p].products = flat_double(products[p]);
  } catch (...) {
    failure_ = std::current_exception();
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    for (OfParameter& of : of_) of.products = at::full({samples_}, kNaN, at::kDouble);
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
    const Tensor& offset = of_[p].offset;
    const int64_t d = parameters_[p].tensor.numel();
    if (asks(Need::kVariance)) {
      Tensor sum = weighted(p, &ParameterGradients::variance);
      if (sum.defined() && offset.defined()) {
        sum = sum.to(offset.device()) + offset.square() * static_cast<double>(samples_);
      }
      places.variance = packet.add(d, sum);
    }
    if (asks(Need::kNorms)) {
      places.norms = packet.add_at(N, first, of_samples(p, &ParameterGradients::norms));
    }
    const Tensor& products = of_[p].products;
    if (asks(Need::kMeanDots)) {
      Tensor dots = of_samples(p, &ParameterGradients::mean_dots);
      if (dots.defined() && products.defined()) dots = dots - products.to(dots.device());
      places.mean_dots = packet.add_at(N, first, dots);
    }
    if (asks(Need::kDeviations)) {
      // With the rank's own mean h,
      // ||g_n - g||² = ||g_n - h||² + 2 <g_n - h, h - g> + ||h - g||².
      Tensor squares = of_samples(p, &ParameterGradients::deviations);
      if (squares.defined() && products.defined() && offset.defined()) {
        const Tensor own_mean = of_[p].mean + offset;
        const Tensor constant = offset.square().sum() - 2 * (own_mean * offset).sum();
        squares = squares + (2 * products + constant.to(products.device())).to(squares.device());
        squares = squares.clamp_min(0);
      }
      places.deviations = packet.add_at(N, first, squares);
    }
    if (brings_rows_) {
      places.rows = packet.add_at(N * d, first * d, of_samples(p, &ParameterGradients::individual));
    }
  }
}

void JointGradients::take_samples(const Packet& packet, size_t p) {
  ParameterGradients& all = result_.parameters[p];
  const Places& places = of_[p].places;
  const Tensor& tensor = parameters_[p].tensor;
  const at::TensorOptions options = row_options(tensor);
  if (asks(Need::kNorms)) all.norms = packet.get(places.norms).to(options);
  if (asks(Need::kMeanDots)) all.mean_dots = packet.get(places.mean_dots).to(tensor.device());
  if (asks(Need::kDeviations)) all.deviations = packet.get(places.deviations).to(tensor.device());
  if (asks(Need::kVariance)) {
    const Tensor mean = packet.get(places.variance) / static_cast<double>(sizes_.all());
    all.variance = mean.to(options).view(tensor.sizes());
  }
  if (asks(Need::kDeviations) || asks(Need::kVariance)) {
    all.squared_mean = of_[p].mean.square().sum().to(tensor.device());
  }
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
  add(&ParameterGradients::norms, true);
  add(&ParameterGradients::arrived_norm, true);
  add(&ParameterGradients::mean_dots, false);
  add(&ParameterGradients::deviations, false);
  add(&ParameterGradients::gram, false);
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
