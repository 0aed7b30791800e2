// SPDX-License-Identifier: MIT
#include "cockpit/emit.h"

#include <ATen/ATen.h>

#include "graph/error_message.h"

namespace flightdeck {
namespace {

using Field = Value::Field;

// Lines of a field: one per group, or one.
int64_t lines_of(const Field& field) {
  if (field.kind == Field::Kind::kList) return 1;
  return field.data.dim() == 0 ? 1 : field.data.size(0);
}

std::vector<int64_t> to_counts(const double* values, int64_t size) {
  return std::vector<int64_t>(values, values + size);
}

Reading reading_of(
    const Field& field, const double* data, int64_t per_line, const double* outside, int64_t line) {
  Reading reading;
  reading.field = field.name;
  const double* first = data + line * per_line;
  switch (field.kind) {
    case Field::Kind::kNumbers:
    case Field::Kind::kRounding:
      reading.number = *first;
      break;
    case Field::Kind::kList:
      reading.kind = ReadingKind::kList;
      reading.list.assign(first, first + per_line);
      break;
    case Field::Kind::kHistogram:
      reading.kind = ReadingKind::kHistogram;
      for (const Bins& bins : field.axes) reading.axes.push_back({bins.low, bins.high, bins.count});
      reading.counts = to_counts(first, per_line);
      if (outside != nullptr) {
        reading.below = static_cast<int64_t>(outside[3 * line]);
        reading.above = static_cast<int64_t>(outside[3 * line + 1]);
        reading.not_a_number = static_cast<int64_t>(outside[3 * line + 2]);
      }
      break;
  }
  return reading;
}

}  // namespace

void check_value(const std::string& quantity, const Value& value, const Groups& groups) {
  for (const Field& field : value.fields()) {
    const int64_t lines = lines_of(field);
    TORCH_CHECK(lines == 1 || lines == static_cast<int64_t>(groups.size()),
                "quantity '",
                quantity,
                "' gave ",
                lines,
                " values for ",
                groups.size(),
                " groups; give one, or one per group with the whole model first");
  }
}

void Transfer::add(Tensor& tensor) {
  if (tensor.defined()) tensors_.push_back(&tensor);
}

void Transfer::add(std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) add(tensor);
}

void Transfer::run() {
  std::vector<Tensor> parts;
  std::vector<Tensor*> remote;
  for (Tensor* tensor : tensors_) {
    *tensor = tensor->detach().to(at::kDouble);
    if (tensor->is_cpu()) {
      *tensor = tensor->contiguous();
    } else {
      parts.push_back(tensor->reshape({-1}));
      remote.push_back(tensor);
    }
  }
  tensors_.clear();
  if (parts.empty()) return;
  const Tensor all = at::cat(parts).cpu();
  int64_t begin = 0;
  for (Tensor* tensor : remote) {
    const int64_t size = tensor->numel();
    *tensor = all.slice(0, begin, begin + size).view(tensor->sizes());
    begin += size;
  }
}

std::vector<Tensor> tensors_of(const NamedValues& values) {
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : values) {
    for (const Field& field : value.fields()) {
      tensors.push_back(field.data);
      if (field.outside.defined()) tensors.push_back(field.outside);
    }
    for (const Value::Remark& remark : value.remarks()) tensors.push_back(remark.numbers);
  }
  return tensors;
}

std::vector<Reading> readings_of(const NamedValues& values,
                                 const std::vector<Tensor>& fetched,
                                 const Groups& groups) {
  std::vector<Reading> readings;
  size_t next = 0;
  for (const auto& [name, value] : values) {
    for (const Field& field : value.fields()) {
      const Tensor& data = fetched[next++];
      const double* outside =
          field.outside.defined() ? fetched[next++].data_ptr<double>() : nullptr;
      const int64_t lines = lines_of(field);
      for (int64_t line = 0; line < lines; ++line) {
        Reading reading =
            reading_of(field, data.data_ptr<double>(), data.numel() / lines, outside, line);
        const bool is_rounding = field.kind == Field::Kind::kRounding;
        if (is_rounding && !(reading.number > kRoundingLimit)) continue;
        reading.quantity = name;
        reading.group = groups.names[line];
        readings.push_back(std::move(reading));
      }
    }
    next += value.remarks().size();
  }
  return readings;
}

std::vector<std::pair<std::string, std::string>> remarks_of(const NamedValues& values,
                                                            const std::vector<Tensor>& fetched) {
  std::vector<std::pair<std::string, std::string>> remarks;
  size_t next = 0;
  for (const auto& [name, value] : values) {
    for (const Field& field : value.fields()) next += field.outside.defined() ? 2 : 1;
    for (const Value::Remark& remark : value.remarks()) {
      const Tensor& data = fetched[next++];
      const double* first = data.data_ptr<double>();
      std::string text;
      try {
        text = remark.say(std::vector<double>(first, first + data.numel()));
      } catch (...) {
        text = "what there is to say could not be said: " + current_message();
      }
      if (!text.empty()) remarks.emplace_back(name, std::move(text));
    }
  }
  return remarks;
}

}  // namespace flightdeck
