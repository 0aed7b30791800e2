// SPDX-License-Identifier: MIT
#include "flightdeck/quantity.h"

#include <ATen/ATen.h>

namespace flightdeck {

const char* to_string(Cost cost) {
  switch (cost) {
    case Cost::kFree:
      return "free";
    case Cost::kFirstOrder:
      return "first-order";
    case Cost::kCurvature:
      return "curvature";
    case Cost::kSpectrum:
      return "spectrum";
  }
  TORCH_INTERNAL_ASSERT(false, "unknown cost");
}

// ---- values -------------------------------------------------------------------------------------

Value Value::none(std::string why) {
  Value value;
  value.reason_ = std::move(why);
  return value;
}

Value::Value(double number) { with("", number); }

Value& Value::with(std::string field, const Tensor& numbers) {
  TORCH_CHECK(numbers.defined() && numbers.dim() <= 1,
              "value: field '",
              field,
              "' needs one number or one per group; for lists use with_list");
  fields_.push_back({std::move(field), Field::Kind::kNumbers, numbers, {}, {}});
  return *this;
}

Value& Value::with(std::string field, double number) {
  return with(std::move(field), at::scalar_tensor(number, at::kDouble));
}

Value& Value::with_rounding(const Tensor& share) {
  with(kRoundingField, share);
  fields_.back().kind = Field::Kind::kRounding;
  return *this;
}

Value& Value::with_remark(const Tensor& numbers, Say say) {
  TORCH_CHECK(numbers.defined() && say, "value: a remark needs numbers and a function of them");
  remarks_.push_back({numbers, std::move(say)});
  return *this;
}

Value& Value::with_list(std::string field, const Tensor& list) {
  TORCH_CHECK(list.defined() && list.dim() == 1, "value: field '", field, "' needs a list [n]");
  fields_.push_back({std::move(field), Field::Kind::kList, list, {}, {}});
  return *this;
}

Value& Value::with_histogram(std::string field,
                             std::vector<Bins> axes,
                             const Tensor& counts,
                             const Tensor& outside) {
  TORCH_CHECK(counts.defined() && counts.dim() == static_cast<int64_t>(axes.size()) + 1,
              "value: histogram '",
              field,
              "' has ",
              axes.size(),
              " axes; its counts need one dimension more, for the groups");
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    TORCH_CHECK(counts.size(static_cast<int64_t>(axis) + 1) == axes[axis].count,
                "value: histogram '",
                field,
                "' has counts of shape ",
                counts.sizes(),
                " but ",
                axes[axis].count,
                " bins on axis ",
                axis,
                "; give one count per bin");
  }
  TORCH_CHECK(!outside.defined() || outside.sizes().equals({counts.size(0), 3}),
              "value: histogram '",
              field,
              "' has entries outside of shape ",
              outside.defined() ? outside.sizes() : at::IntArrayRef(),
              " but ",
              counts.size(0),
              " group(s); give [G, 3]: below, above and NaN");
  fields_.push_back({std::move(field), Field::Kind::kHistogram, counts, outside, std::move(axes)});
  return *this;
}

// ---- the quantity -------------------------------------------------------------------------------

Quantity& Quantity::summary(std::string text) {
  summary_ = std::move(text);
  return *this;
}
Quantity& Quantity::needs(Needs gradients) {
  needs_.gradients = gradients;
  return *this;
}
Quantity& Quantity::needs(StepNeeds needs) {
  needs_ = std::move(needs);
  return *this;
}
Quantity& Quantity::cost(Cost cost) {
  cost_ = cost;
  return *this;
}
Quantity& Quantity::compute(Compute function) {
  functions_.compute = std::move(function);
  return *this;
}
Quantity& Quantity::after_update(AfterUpdate function) {
  needs_.update = true;
  functions_.after_update = std::move(function);
  return *this;
}
Quantity& Quantity::after_next(AfterNext function) {
  needs_.chord = true;
  functions_.after_next = std::move(function);
  return *this;
}
Quantity& Quantity::make(std::function<Functions()> factory) {
  factory_ = std::move(factory);
  return *this;
}
Quantity& Quantity::on(DueSteps due) {
  due_ = std::move(due);
  return *this;
}
Quantity& Quantity::named(std::string name) {
  name_ = std::move(name);
  return *this;
}
Quantity& Quantity::reference(std::string text) {
  reference_ = std::move(text);
  return *this;
}
Quantity& Quantity::has_groups(bool has) {
  has_groups_ = has;
  return *this;
}

Quantity& Quantity::light(bool is_light) {
  is_light_ = is_light;
  return *this;
}

Quantity& Quantity::reads_numbers(bool reads) {
  reads_numbers_ = reads;
  return *this;
}

Quantity& Quantity::reads_parameters(bool reads) {
  reads_parameters_ = reads;
  return *this;
}

Quantity& Quantity::measures_process(bool measures) {
  measures_process_ = measures;
  return *this;
}

Quantity& Quantity::gives_way(bool gives) {
  gives_way_ = gives;
  return *this;
}
Quantity& Quantity::settings(const Settings& settings) {
  setting_infos_ = settings.declared();
  settings_text_ = settings.text();
  return *this;
}

Quantity::Functions Quantity::functions() const {
  Functions functions = factory_ ? factory_() : functions_;
  TORCH_CHECK_VALUE(functions.compute || functions.after_update || functions.after_next,
                    "quantity '",
                    name_,
                    "' has no computation; give it one by compute, after_update or after_next");
  return functions;
}

}  // namespace flightdeck
