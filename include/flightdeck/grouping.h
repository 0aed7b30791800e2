// SPDX-License-Identifier: MIT
// Which parameters are taken together: quantities give one value for the whole model and one for
// each group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flightdeck {

/// How groups are formed. They are known from the first watched step on: layer type and depth are
/// read from the graph.
class Grouping {
 public:
  enum class Kind { kWhole, kAutomatic, kParameter, kModule, kLayerType, kDepth, kPattern };

  /// The whole model only.
  Grouping() = default;
  static Grouping whole() { return Grouping(); }
  /// By module where that makes 2 to kMostAutomatic groups, else the whole model only.
  static Grouping automatic() { return Grouping(Kind::kAutomatic); }
  static constexpr size_t kMostAutomatic = 200;
  static Grouping by_parameter() { return Grouping(Kind::kParameter); }
  /// "features.0.weight" belongs to "features.0", or with levels = 1 to "features".
  static Grouping by_module(int64_t levels = 0);
  /// linear, convolution, embedding, norm, bias-like additions, other.
  static Grouping by_layer_type() { return Grouping(Kind::kLayerType); }
  /// "depth 00" is nearest to the inputs; parameters of one op share a depth.
  static Grouping by_depth() { return Grouping(Kind::kDepth); }
  /// The first regular expression (ECMAScript, matched anywhere in the name) that fits names the
  /// group; parameters that fit none form "other".
  static Grouping by_pattern(std::vector<std::string> patterns);
  /// "whole", "automatic", "parameter", "module", "module:1", "type", "depth", "pattern:A,B";
  /// throws otherwise.
  static Grouping parse(const std::string& text);

  Kind kind() const { return kind_; }
  int64_t levels() const { return levels_; }
  const std::vector<std::string>& patterns() const { return patterns_; }
  std::string text() const;

 private:
  explicit Grouping(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::kWhole;
  int64_t levels_ = 0;
  std::vector<std::string> patterns_;
};

/// The groups of one run. Group 0 is the whole model and has the empty name.
struct Groups {
  std::vector<std::string> names;
  std::vector<std::vector<size_t>> members;  ///< positions of parameters

  size_t size() const { return names.size(); }
};

}  // namespace flightdeck
