// SPDX-License-Identifier: MIT
// A rule of the user's own as the engine sees it: checked, and its factors turned into forms.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flightdeck/rule.h"
#include "rules/rule.h"

namespace flightdeck {

class CheckedCustomRule final : public Rule {
 public:
  explicit CheckedCustomRule(std::unique_ptr<const CustomRule> custom);

  const std::string& name() const { return name_; }

  std::vector<std::string_view> nodes() const override;
  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override;
  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override;
  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override;
  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override;
  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override;
  bool is_linear(const NodeView& node) const override;
  bool is_linear_in(const NodeView& node, size_t edge) const override;
  bool is_pointwise() const override { return custom_->is_pointwise(); }
  bool hands_on() const override { return custom_->hands_on(); }

 private:
  std::unique_ptr<const CustomRule> custom_;
  std::string name_;
  std::vector<std::string> nodes_;
};

}  // namespace flightdeck
