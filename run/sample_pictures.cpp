// SPDX-License-Identifier: MIT
#include "run/sample_pictures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

namespace flightdeck::run {
namespace {

constexpr int64_t kLongestEdge = 32;      // larger pictures are reduced
constexpr int64_t kMostNumbers = 16;      // of a sample that is no picture
constexpr size_t kMostPictures = 24;      // of one list
constexpr int64_t kMostLogged = 1 << 20;  // numbers of outliers in a run: 8 MiB

// Returns the rows of the part with these places in the data set; leaves out those that are not in
// it.
std::vector<int64_t> rows_of(const suite::Samples& samples, const std::vector<double>& ids) {
  std::vector<int64_t> rows;
  for (size_t k = 0; k < std::min(ids.size(), kMostPictures); ++k) {
    const auto id = static_cast<int64_t>(ids[k]);
    if (!samples.places.defined()) {
      if (id >= 0 && id < samples.size()) rows.push_back(id);
      continue;
    }
    const Tensor found = (samples.places == id).nonzero();
    if (found.numel() > 0) rows.push_back(found[0][0].item<int64_t>());
  }
  return rows;
}

// Reduces [k, C, H, W] to [k, C, h, w] with edges of at most kLongestEdge.
Tensor reduced(const Tensor& pictures) {
  const int64_t height = pictures.size(2), width = pictures.size(3);
  const int64_t longest = std::max(height, width);
  if (longest <= kLongestEdge) return pictures;
  const auto edge = [&](int64_t size) {
    return std::max<int64_t>(1, size * kLongestEdge / longest);
  };
  return at::adaptive_avg_pool2d(pictures, {edge(height), edge(width)});
}

// Scales each picture from its own range to [0, 255], because networks read standardised values.
Tensor levels_of(const Tensor& pictures) {
  const Tensor low = pictures.amin({1, 2, 3}, /*keepdim=*/true);
  const Tensor range = pictures.amax({1, 2, 3}, /*keepdim=*/true) - low;
  return ((pictures - low) / range.clamp_min(1e-30) * 255).nan_to_num(0).round().clamp(0, 255);
}

void append(std::vector<double>& list, const Tensor& values) {
  const Tensor numbers = values.to(at::kDouble).contiguous();
  const double* begin = numbers.data_ptr<double>();
  list.insert(list.end(), begin, begin + numbers.numel());
}

}  // namespace

std::vector<double> picture_list(const suite::DataSet& data,
                                 suite::Part part,
                                 const std::vector<double>& ids) {
  const at::NoGradGuard no_grad;
  const suite::Samples& samples = data.part(part);
  const std::vector<int64_t> rows = rows_of(samples, ids);
  // A missing picture would shift the others.
  if (rows.empty() || rows.size() != std::min(ids.size(), kMostPictures)) return {};
  const Tensor places = at::tensor(rows, at::kLong).to(samples.inputs.device());
  Tensor inputs = data.prepare(samples.inputs.index_select(0, places)).cpu();
  const auto count = static_cast<double>(rows.size());
  if (inputs.dim() == 2) {
    inputs = inputs.slice(1, 0, kMostNumbers);
    std::vector<double> list = {count, 0, static_cast<double>(inputs.size(1))};
    append(list, inputs);
    return list;
  }
  if (inputs.dim() == 3) inputs = inputs.unsqueeze(1);
  if (inputs.dim() != 4 || (inputs.size(1) != 1 && inputs.size(1) != 3)) return {};
  const Tensor levels = levels_of(reduced(inputs.to(at::kDouble)));
  const Tensor red = levels.select(1, 0);
  const Tensor green = levels.size(1) == 3 ? levels.select(1, 1) : red;
  const Tensor blue = levels.size(1) == 3 ? levels.select(1, 2) : red;
  std::vector<double> list = {
      count, static_cast<double>(levels.size(2)), static_cast<double>(levels.size(3))};
  append(list, (red * 256 + green) * 256 + blue);
  return list;
}

SamplePictures::SamplePictures(const Training& training,
                               Cockpit& cockpit,
                               const std::vector<Quantity>& tracked)
    : training_(training), cockpit_(cockpit) {
  for (const Quantity& quantity : tracked) {
    if (quantity.name() != "sample_outliers") continue;
    for (int64_t step = 0; step < training.next_step(); ++step) {
      named_before_ += quantity.due().contains(step) ? 1 : 0;
    }
  }
}

void SamplePictures::write(const StepReadings& step) {
  for (const Reading& named : step.readings) {
    const bool is_outliers = named.quantity == "sample_outliers";
    if (named.field != "ids" || !(is_outliers || named.quantity == "misclassified")) continue;
    const suite::Part part = is_outliers ? suite::Part::kTrain : suite::Part::kTest;
    if (is_outliers && numbers_ > kMostLogged) continue;
    Reading pictures;
    pictures.quantity = "sample_pictures";
    pictures.field = named.quantity;
    pictures.kind = ReadingKind::kList;
    pictures.list = picture_list(training_.data(), part, named.list);
    if (pictures.list.empty()) continue;
    if (is_outliers) {
      // Pictures named before a resumption count as if they had been as large, so that a run that
      // went on keeps what one that was never stopped keeps.
      const auto size = static_cast<int64_t>(pictures.list.size());
      numbers_ += size * (1 + std::exchange(named_before_, 0));
      if (numbers_ > kMostLogged) continue;
    }
    cockpit_.log_readings(step.step, {std::move(pictures)});
  }
}

}  // namespace flightdeck::run
