// SPDX-License-Identifier: MIT
#include "rules/custom_rule.h"

#include <utility>

#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rows/gather.h"
#include "rows/outer.h"
#include "rules/broadcast.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

// Calls the user's code; an error that it throws tells which rule it came from.
template <typename Call>
auto asked_of(const std::string& rule, const NodeView& node, const Call& call) {
  try {
    return call(OpNode(node.node()));
  } catch (c10::Error& error) {
    error.add_context("in the rule '" + rule + "' for " + node.name());
    throw;
  }
}

void check_shape(const std::string& rule,
                 const NodeView& node,
                 const std::string& what,
                 const Tensor& given,
                 const Shape& expected) {
  TORCH_CHECK_VALUE(given.sizes().equals(expected),
                    "rule '",
                    rule,
                    "': ",
                    what,
                    " of ",
                    node.name(),
                    " has shape ",
                    given.sizes(),
                    " but must have ",
                    to_string(expected));
}

// Turns the factors of one use into a form, once their shapes are known to fit.
class FormMaker {
 public:
  FormMaker(const std::string& rule,
            const NodeView& node,
            size_t edge,
            const Layout& out,
            const RowFactors& given)
      : rule_(rule),
        node_(node),
        out_(out),
        given_(given),
        input_(node.input_shape(edge)),
        output_(node.output_shape()),
        rows_("rows of input " + std::to_string(edge)) {}

  Rows make() const {
    switch (given_.form()) {
      case RowFactors::Form::kOuter:
        return outer();
      case RowFactors::Form::kSum:
        return broadcast("sum");
      case RowFactors::Form::kScale:
        return broadcast("scale");
      case RowFactors::Form::kGather:
        return gather();
      case RowFactors::Form::kDense:
        check("the " + rows_, given_.first(), flightdeck::with_lead(out_.N, input_));
        return Rows(std::make_shared<DenseForm>(in_row_precision(given_.first()), "dense"));
      case RowFactors::Form::kNone:
        break;
    }
    return {};
  }

 private:
  void check(const std::string& what, const Tensor& tensor, const Shape& expected) const {
    TORCH_CHECK_VALUE(
        tensor.defined(), "rule '", rule_, "': ", what, " of ", node_.name(), " is undefined");
    check_shape(rule_, node_, what, tensor, expected);
  }

  // Returns the output's shape with `features` in its last dimension; without it if there are none.
  Shape positions(std::initializer_list<int64_t> features) const {
    TORCH_CHECK_VALUE(out_.dim + 1 < static_cast<int64_t>(output_.size()),
                      "rule '",
                      rule_,
                      "': the ",
                      rows_,
                      " of ",
                      node_.name(),
                      " are given by positions and features, but the samples sit in dimension ",
                      out_.dim,
                      " of an output of shape ",
                      to_string(output_),
                      ", the last one; return no rows in that case");
    Shape shape(output_.begin(), output_.end() - 1);
    shape.insert(shape.end(), features);
    return shape;
  }

  int64_t input_size(size_t dim) const {
    TORCH_CHECK_VALUE(input_.size() == 2,
                      "rule '",
                      rule_,
                      "': the ",
                      rows_,
                      " of ",
                      node_.name(),
                      " are those of a matrix, but the input has shape ",
                      to_string(input_));
    return input_[dim];
  }

  Rows outer() const {
    const int64_t I = input_size(given_.is_transposed() ? 1 : 0);
    const int64_t J = input_size(given_.is_transposed() ? 0 : 1);
    check("factor a of the " + rows_, given_.first(), positions({I}));
    check("factor b of the " + rows_, given_.second(), positions({J}));
    Rows rows(std::make_shared<OuterForm>(positions_and_features(given_.first(), out_),
                                          positions_and_features(given_.second(), out_),
                                          /*is_padded=*/out_.is_scattered()));
    if (given_.is_transposed()) rows.terms().front().placement.undo_permute({1, 0});
    return rows;
  }

  Rows gather() const {
    const int64_t V = input_size(0);
    check("indices of the " + rows_, given_.first(), positions({}));
    check("factor b of the " + rows_, given_.second(), positions({input_size(1)}));
    const Tensor indices = samples_first(given_.first(), out_).reshape({out_.N, -1});
    return Rows(std::make_shared<GatherForm>(
        indices, positions_and_features(given_.second(), out_), V, /*padding_index=*/-1));
  }

  Rows broadcast(const char* name) const {
    check("contributions to the " + rows_, given_.first(), output_);
    const bool is_aligned =
        input_.size() <= output_.size() && broadcast_layout(out_, output_, input_).is_free();
    TORCH_CHECK_VALUE(is_aligned,
                      "rule '",
                      rule_,
                      "': the ",
                      rows_,
                      " of ",
                      node_.name(),
                      " are sums over what it was broadcast to, but its shape ",
                      to_string(input_),
                      " is not one that is broadcast over the samples of ",
                      to_string(output_));
    return broadcast_rows(given_.first(), out_, input_, name);
  }

  const std::string& rule_;
  const NodeView& node_;
  const Layout& out_;
  const RowFactors& given_;
  Shape input_, output_;
  std::string rows_;
};

}  // namespace

// ---- what the user's rule sees, and its defaults ------------------------------------------------

std::string OpNode::name() const { return NodeView(node_).name(); }
size_t OpNode::num_inputs() const { return NodeView(node_).num_inputs(); }
bool OpNode::has_input(size_t edge) const { return NodeView(node_).has_input(edge); }
std::vector<int64_t> OpNode::input_shape(size_t edge) const {
  return NodeView(node_).input_shape(edge);
}
std::vector<int64_t> OpNode::output_shape() const { return NodeView(node_).output_shape(); }
Tensor OpNode::unpack(const torch::autograd::SavedVariable& saved) const {
  return NodeView(node_).unpack(saved);
}

RowFactors CustomRule::rows(const OpNode&, size_t, const Tensor&, const Layout&) const {
  return {};
}

Tensor CustomRule::columns(const OpNode&, size_t, const Tensor&) const { return {}; }

Tensor CustomRule::tangent(const OpNode&, const std::vector<Tensor>&) const { return {}; }

bool CustomRule::bend(const OpNode&,
                      const Tensor&,
                      const std::vector<Tensor>&,
                      const std::vector<bool>&,
                      std::vector<Tensor>&) const {
  return false;
}

bool CustomRule::is_linear(const OpNode&) const { return false; }

bool CustomRule::is_linear_in(const OpNode& node, size_t) const { return is_linear(node); }

// ---- what the engine sees -----------------------------------------------------------------------

CheckedCustomRule::CheckedCustomRule(std::unique_ptr<const CustomRule> custom)
    : custom_(std::move(custom)), name_(custom_->name()), nodes_(custom_->nodes()) {}

std::vector<std::string_view> CheckedCustomRule::nodes() const {
  return {nodes_.begin(), nodes_.end()};
}

Layout CheckedCustomRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  if (!out.is_batch() || node.num_outputs() != 1) return Layout::unknown();
  const Layout layout =
      asked_of(name_, node, [&](const OpNode& op) { return custom_->input_layout(op, edge, out); });
  if (layout.kind == Layout::Kind::kFree || layout.kind == Layout::Kind::kMixed ||
      layout.kind == Layout::Kind::kUnknown) {
    return layout;
  }
  const Shape input = node.input_shape(edge);
  const bool fits = layout.is_batch() && layout.N == out.N && layout.dim >= 0 &&
                    layout.dim < static_cast<int64_t>(input.size()) &&
                    input[layout.dim] == layout.length();
  TORCH_CHECK_VALUE(fits,
                    "rule '",
                    name_,
                    "': says that ",
                    layout.N,
                    " samples sit in dimension ",
                    layout.dim,
                    " of input ",
                    edge,
                    " of ",
                    node.name(),
                    ", ",
                    layout.outer,
                    " times before and ",
                    layout.inner,
                    " times after, but there are ",
                    out.N,
                    " and its shape is ",
                    to_string(input),
                    "; return Layout::unknown() in cases that the rule does not cover");
  return layout;
}

Rows CheckedCustomRule::rows(const NodeView& node,
                             size_t edge,
                             const Tensor& gradient,
                             const Layout& out) const {
  const RowFactors given = asked_of(
      name_, node, [&](const OpNode& op) { return custom_->rows(op, edge, gradient, out); });
  return FormMaker(name_, node, edge, out, given).make();
}

Tensor CheckedCustomRule::columns(const NodeView& node, size_t edge, const Tensor& stack) const {
  const Tensor given =
      asked_of(name_, node, [&](const OpNode& op) { return custom_->columns(op, edge, stack); });
  if (given.defined()) {
    const std::string what = "the columns of input " + std::to_string(edge);
    check_shape(
        name_, node, what, given, flightdeck::with_lead(stack.size(0), node.input_shape(edge)));
  }
  return given;
}

Tensor CheckedCustomRule::tangent(const NodeView& node, const std::vector<Tensor>& tangents) const {
  const Tensor given =
      asked_of(name_, node, [&](const OpNode& op) { return custom_->tangent(op, tangents); });
  if (given.defined()) {
    const int64_t V = given.dim() > 0 ? given.size(0) : 0;
    check_shape(name_, node, "the tangent", given, flightdeck::with_lead(V, node.output_shape()));
  }
  return given;
}

bool CheckedCustomRule::bend(const NodeView& node,
                             const Tensor& gradient,
                             const std::vector<Tensor>& tangents,
                             const std::vector<bool>& wanted,
                             std::vector<Tensor>& bent) const {
  const bool is_told = asked_of(name_, node, [&](const OpNode& op) {
    return custom_->bend(op, gradient, tangents, wanted, bent);
  });
  for (size_t e = 0; is_told && e < bent.size(); ++e) {
    if (!bent[e].defined()) continue;
    const int64_t V = bent[e].dim() > 0 ? bent[e].size(0) : 0;
    const std::string what = "the bend of input " + std::to_string(e);
    check_shape(name_, node, what, bent[e], flightdeck::with_lead(V, node.input_shape(e)));
  }
  return is_told;
}

bool CheckedCustomRule::is_linear(const NodeView& node) const {
  return asked_of(name_, node, [&](const OpNode& op) { return custom_->is_linear(op); });
}

bool CheckedCustomRule::is_linear_in(const NodeView& node, size_t edge) const {
  return asked_of(name_, node, [&](const OpNode& op) { return custom_->is_linear_in(op, edge); });
}

}  // namespace flightdeck
