// SPDX-License-Identifier: MIT
#include "cockpit/emit.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "graph/error_message.h"
#include "rows/gpu_tables.h"

namespace flightdeck {
namespace {

using Field = Value::Field;

// Counts the lines of a field: one per group, or one.
int64_t lines_of(const Field& field) {
  if (field.kind == Field::Kind::kList) return 1;
  return field.data.dim() == 0 ? 1 : field.data.size(0);
}

std::vector<int64_t> to_counts(const double* values, int64_t size) {
  return std::vector<int64_t>(values, values + size);
}

// Makes a reading of one line of a field that was fetched.
Reading reading_of(const Field& field, int64_t per_line, int64_t line) {
  Reading reading;
  reading.field = field.name;
  const double* first = field.data.data_ptr<double>() + line * per_line;
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
      if (field.outside.defined()) {
        const double* outside = field.outside.data_ptr<double>() + 3 * line;
        reading.below = static_cast<int64_t>(outside[0]);
        reading.above = static_cast<int64_t>(outside[1]);
        reading.not_a_number = static_cast<int64_t>(outside[2]);
      }
      break;
  }
  return reading;
}

// Puts all entries of tensors of one device into a list.
Tensor packed(const std::vector<Tensor*>& tensors) {
  if (runs_behind(*tensors[0])) {
    if (auto list = packed_by_table({tensors.begin(), tensors.end()})) return *list;
  }
  std::vector<Tensor> parts;
  for (const Tensor* tensor : tensors) parts.push_back(tensor->reshape({-1}).to(at::kDouble));
  return at::cat(parts);
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

void Transfer::add(std::vector<NamedValue>& values) {
  for (NamedValue& value : values) {
    for (Field& field : value.fields) {
      add(field.data);
      add(field.outside);
    }
    for (Value::Remark& remark : value.remarks) add(remark.numbers);
  }
}

void Transfer::start() {
  for (Tensor* tensor : tensors_) {
    if (tensor->requires_grad()) *tensor = tensor->detach();
    if (!runs_behind(*tensor)) {
      const bool is_list = tensor->scalar_type() == at::kDouble && tensor->is_contiguous();
      if (!is_list) *tensor = tensor->to(at::kDouble).contiguous();
      continue;
    }
    const auto is_there = [&](const Packet& packet) {
      return packet.tensors.front()->device() == tensor->device();
    };
    auto packet = std::find_if(packets_.begin(), packets_.end(), is_there);
    if (packet == packets_.end()) packet = packets_.emplace(packets_.end());
    packet->tensors.push_back(tensor);
  }
  tensors_.clear();
  for (Packet& packet : packets_) {
    packet.packed = packed(packet.tensors);
    if (packet.packed.is_cpu()) packet.is_here = true;
    if (!packet.packed.is_cuda()) continue;  // other devices have no pinned memory to copy to
    const c10::Device device = packet.packed.device();
    const c10::impl::VirtualGuardImpl guard(device.type());
    packet.copy = at::empty(packet.packed.sizes(), at::dtype(at::kDouble).pinned_memory(true));
    packet.copy.copy_(packet.packed, /*non_blocking=*/true);
    packet.event = std::make_unique<c10::Event>(device.type());
    packet.event->record(guard.getStream(device));
  }
}

bool Transfer::is_here() const {
  return std::all_of(packets_.begin(), packets_.end(), [](const Packet& packet) {
    return packet.is_here || (packet.event && packet.event->query());
  });
}

void Transfer::finish() {
  for (Packet& packet : packets_) {
    // A copy that waits is as good as the one that is under way.
    const bool is_here = packet.event && packet.event->query();
    const Tensor all = is_here ? packet.copy : packet.packed.cpu();
    auto* next = all.data_ptr<double>();
    for (Tensor* tensor : packet.tensors) {
      const int64_t size = tensor->numel();
      // Each tensor holds all of the numbers. Views would be two operations each.
      *tensor = at::from_blob(
          next, tensor->sizes(), [all](void*) {}, at::kDouble);
      next += size;
    }
  }
  packets_.clear();
}

void fetch(NamedValues& values) {
  Transfer transfer;
  transfer.add(values);
  transfer.start();
  transfer.finish();
}

bool NamedValue::is_here() const {
  const auto is_on_cpu = [](const Tensor& tensor) {
    return !tensor.defined() || !runs_behind(tensor);
  };
  return std::all_of(fields.begin(),
                     fields.end(),
                     [&](const Field& field) {
                       return is_on_cpu(field.data) && is_on_cpu(field.outside);
                     }) &&
         std::all_of(remarks.begin(), remarks.end(), [&](const Value::Remark& remark) {
           return is_on_cpu(remark.numbers);
         });
}

std::vector<Reading> readings_of(const NamedValues& values, const Groups& groups) {
  std::vector<Reading> readings;
  for (const NamedValue& value : values) {
    for (const Field& field : value.fields) {
      const int64_t lines = lines_of(field);
      for (int64_t line = 0; line < lines; ++line) {
        Reading reading = reading_of(field, field.data.numel() / lines, line);
        const bool is_rounding = field.kind == Field::Kind::kRounding;
        if (is_rounding && !(reading.number > kRoundingLimit)) continue;
        reading.quantity = value.quantity;
        reading.group = groups.names[line];
        readings.push_back(std::move(reading));
      }
    }
  }
  return readings;
}

std::vector<std::pair<std::string, std::string>> remarks_of(const NamedValues& values) {
  std::vector<std::pair<std::string, std::string>> remarks;
  for (const NamedValue& value : values) {
    for (const Value::Remark& remark : value.remarks) {
      const double* first = remark.numbers.data_ptr<double>();
      std::string text;
      try {
        text = remark.say(std::vector<double>(first, first + remark.numbers.numel()));
      } catch (...) {
        text = "what there is to say could not be said: " + current_message();
      }
      if (!text.empty()) remarks.emplace_back(value.quantity, std::move(text));
    }
  }
  return remarks;
}

}  // namespace flightdeck
