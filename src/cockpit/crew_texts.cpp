// SPDX-License-Identifier: MIT
#include "cockpit/crew_texts.h"

#include <numeric>
#include <string>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

void add_text(std::vector<double>& numbers, const std::string& text) {
  numbers.push_back(static_cast<double>(text.size()));
  for (const char c : text) numbers.push_back(static_cast<unsigned char>(c));
}

std::string take_text(const std::vector<double>& numbers, size_t& next) {
  const auto size = static_cast<size_t>(numbers.at(next++));
  std::string text;
  for (size_t k = 0; k < size; ++k) text += static_cast<char>(numbers.at(next++));
  return text;
}

// Returns the bits of a tensor as integers, [n].
Tensor integers_of(const Tensor& tensor) {
  const Tensor flat = tensor.detach().contiguous().reshape({-1});
  switch (flat.element_size()) {
    case 8:
      return flat.view(at::kLong);
    case 4:
      return flat.view(at::kInt);
    case 2:
      return flat.view(at::kShort);
    default:
      return flat.view(at::kByte);
  }
}

}  // namespace

Tensor packed_notes(const std::vector<Note>& notes) {
  std::vector<double> numbers;
  for (const Note& note : notes) {
    numbers.push_back(static_cast<double>(note.step));
    numbers.push_back(static_cast<double>(static_cast<int>(note.kind)));
    add_text(numbers, note.quantity);
    add_text(numbers, note.text);
  }
  return at::tensor(numbers, at::kDouble);
}

std::vector<Note> unpacked_notes(const std::vector<double>& numbers) {
  std::vector<Note> notes;
  for (size_t next = 0; next < numbers.size();) {
    Note& note = notes.emplace_back();
    note.step = static_cast<int64_t>(numbers.at(next++));
    note.kind = static_cast<NoteKind>(static_cast<int>(numbers.at(next++)));
    note.quantity = take_text(numbers, next);
    note.text = take_text(numbers, next);
  }
  return notes;
}

Tensor packed_tensors(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> parts = {at::full({1}, static_cast<double>(tensors.size()), at::kDouble)};
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK_VALUE(tensor.defined() && tensor.dim() > 0,
                      "share: tensor ",
                      &tensor - tensors.data(),
                      " has no dimension to stand behind another's in; give [rows, ...]");
    std::vector<double> shape = {static_cast<double>(tensor.dim())};
    for (const int64_t size : tensor.sizes()) shape.push_back(static_cast<double>(size));
    parts.push_back(at::tensor(shape, at::kDouble));
    parts.push_back(tensor.detach().reshape({-1}).to(at::kCPU, at::kDouble));
  }
  return at::cat(parts);
}

std::vector<Tensor> unpacked_tensors(const Tensor& numbers) {
  const Tensor here = numbers.cpu();
  std::vector<Tensor> tensors;
  int64_t next = 0;
  const auto take = [&] { return here[next++].item<int64_t>(); };
  const int64_t count = take();
  for (int64_t k = 0; k < count; ++k) {
    std::vector<int64_t> shape(static_cast<size_t>(take()));
    for (int64_t& size : shape) size = take();
    const int64_t numel =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
    tensors.push_back(here.narrow(0, next, numel).view(shape));
    next += numel;
  }
  return tensors;
}

std::vector<Tensor> joined_tensors(const std::vector<std::vector<Tensor>>& of_ranks) {
  std::vector<Tensor> joined;
  if (of_ranks.empty()) return joined;
  for (const auto& one : of_ranks) {
    TORCH_CHECK_VALUE(one.size() == of_ranks[0].size(),
                      "ranks share ",
                      of_ranks[0].size(),
                      " and ",
                      one.size(),
                      " tensors; run the same model on all of them");
  }
  for (size_t k = 0; k < of_ranks[0].size(); ++k) {
    std::vector<Tensor> parts;
    for (const auto& one : of_ranks) {
      TORCH_CHECK_VALUE(one[k].sizes().slice(1).equals(of_ranks[0][k].sizes().slice(1)),
                        "ranks share tensors of shapes ",
                        of_ranks[0][k].sizes(),
                        " and ",
                        one[k].sizes(),
                        "; run the same model on all of them");
      parts.push_back(one[k]);
    }
    joined.push_back(at::cat(parts));
  }
  return joined;
}

BitSum sum_of_bits(const std::vector<Tensor>& tensors) {
  constexpr int64_t kOdd = 0x1E3779B97F4A7C15;
  std::vector<Tensor> sums;
  for (const Tensor& tensor : tensors) {
    const Tensor bits = integers_of(tensor);
    // A sum does not vanish where the same comes twice, and that of one half tells swapped halves
    // apart.
    const int64_t half = bits.numel() / 2;
    sums.push_back(bits.sum(at::kLong) * kOdd + bits.slice(0, 0, half).sum(at::kLong));
  }
  if (sums.empty()) return {};
  const Tensor all = at::stack(sums).cpu();
  uint64_t sum = 0;
  for (int64_t k = 0; k < all.numel(); ++k) {
    sum = sum * 0x100000001B3U + static_cast<uint64_t>(all[k].item<int64_t>());
  }
  return {static_cast<double>(sum >> 32U), static_cast<double>(sum & 0xFFFFFFFFU)};
}

}  // namespace flightdeck
