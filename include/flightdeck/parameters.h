// SPDX-License-Identifier: MIT
// The named parameters a question is asked about, from whatever container the caller has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

struct NamedParameter {
  std::string name;
  Tensor tensor;
};

/// An ordered list of named parameters. Converts from `module->named_parameters()`, from a vector
/// of NamedParameter and from a plain vector of tensors (named "0", "1", ...). Parameters are real;
/// a complex one is refused wherever the list is used: keep a real parameter [..., 2] in its place
/// and call view_as_complex on it in the model.
class Parameters {
 public:
  Parameters(std::vector<NamedParameter> entries) : entries_(std::move(entries)) {}
  Parameters(const std::vector<Tensor>& tensors);

  /// From torch::OrderedDict<std::string, Tensor>, without including its header here.
  template <typename Dict, typename = decltype(std::declval<const Dict&>().begin()->key())>
  Parameters(const Dict& dict) {
    for (const auto& item : dict) entries_.push_back({item.key(), item.value()});
  }

  size_t size() const { return entries_.size(); }
  const NamedParameter& operator[](size_t index) const { return entries_[index]; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<NamedParameter> entries_;
};

}  // namespace flightdeck
