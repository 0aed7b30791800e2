// SPDX-License-Identifier: MIT
// Fast rules for ops of Python's own: any object with the methods of a rule, those that it has.
#include <torch/csrc/autograd/python_cpp_function.h>

#include "bind.h"
#include "graph/torch_compat.h"

namespace flightdeck::python {
namespace {

// Returns the node as autograd shows it in Python: the context of a torch.autograd.Function.
py::object grad_fn_of(const OpNode& node) {
  return py::reinterpret_steal<py::object>(
      torch::autograd::functionToPyObject(compat::pointer_to(*node.node())));
}

class PythonRule : public CustomRule {
 public:
  PythonRule(std::string name, std::vector<std::string> nodes, py::object object)
      : name_(std::move(name)), nodes_(std::move(nodes)), object_(std::move(object)) {}

  std::string name() const override { return name_; }
  std::vector<std::string> nodes() const override { return nodes_; }

  Layout input_layout(const OpNode& node, size_t edge, const Layout& out) const override {
    const py::gil_scoped_acquire lock;
    return method("input_layout")(node, edge, out).cast<Layout>();
  }
  RowFactors rows(const OpNode& node,
                  size_t edge,
                  const Tensor& gradient,
                  const Layout& out) const override {
    const py::gil_scoped_acquire lock;
    const py::object returned = call_if_there("rows", node, edge, gradient, out);
    return returned.is_none() ? RowFactors() : returned.cast<RowFactors>();
  }
  Tensor columns(const OpNode& node, size_t edge, const Tensor& stack) const override {
    const py::gil_scoped_acquire lock;
    return tensor_of(call_if_there("columns", node, edge, stack));
  }
  Tensor tangent(const OpNode& node, const std::vector<Tensor>& tangents) const override {
    const py::gil_scoped_acquire lock;
    return tensor_of(call_if_there("tangent", node, tangents));
  }
  bool bend(const OpNode& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    const py::gil_scoped_acquire lock;
    const py::object returned = call_if_there("bend", node, gradient, tangents, wanted);
    if (returned.is_none()) return false;
    bent.clear();
    for (const py::handle item : returned) {
      bent.push_back(tensor_of(py::reinterpret_borrow<py::object>(item)));
    }
    return true;
  }
  bool is_linear(const OpNode& node) const override {
    const py::gil_scoped_acquire lock;
    return truth_of(call_if_there("is_linear", node));
  }
  bool is_linear_in(const OpNode& node, size_t edge) const override {
    const py::gil_scoped_acquire lock;
    return truth_of(call_if_there("is_linear_in", node, edge));
  }
  bool is_pointwise() const override {
    const py::gil_scoped_acquire lock;
    return truth_of(call_if_there("is_pointwise"));
  }
  bool hands_on() const override {
    const py::gil_scoped_acquire lock;
    return truth_of(call_if_there("hands_on"));
  }

 private:
  py::object method(const char* name) const { return object_.get().attr(name); }

  template <typename... Arguments>
  py::object call_if_there(const char* name, const Arguments&... arguments) const {
    if (!py::hasattr(object_.get(), name)) return py::none();
    return method(name)(arguments...);
  }
  static Tensor tensor_of(const py::object& returned) {
    return returned.is_none() ? Tensor() : returned.cast<Tensor>();
  }
  static bool truth_of(const py::object& returned) {
    return !returned.is_none() && returned.cast<bool>();
  }

  std::string name_;
  std::vector<std::string> nodes_;
  Held object_;
};

void bind_parts(py::module_& module) {
  py::class_<Layout>(module, "Layout")
      .def_readonly("kind", &Layout::kind)
      .def_readonly("N", &Layout::N)
      .def_readonly("dim", &Layout::dim)
      .def_readonly("outer", &Layout::outer)
      .def_readonly("inner", &Layout::inner)
      .def_property_readonly("owners",
                             [](const Layout& layout) {
                               return layout.owners ? py::cast(*layout.owners)
                                                    : py::object(py::none());
                             })
      .def_static("batch",
                  &Layout::batch,
                  py::arg("N"),
                  py::arg("dim"),
                  py::arg("outer") = 1,
                  py::arg("inner") = 1)
      .def_static("free", &Layout::free)
      .def_static("unknown", &Layout::unknown)
      .def_static("mixed", &Layout::mixed)
      .def("at_dim", &Layout::at_dim, py::arg("dim"))
      .def("broadcast", &broadcast_layout, py::arg("output"), py::arg("input"));
  module.def("samples_first", &samples_first, py::arg("tensor"), py::arg("layout"));
  py::class_<OpNode>(module, "OpNode")
      .def_property_readonly("name", &OpNode::name)
      .def_property_readonly("num_inputs", &OpNode::num_inputs)
      .def("has_input", &OpNode::has_input, py::arg("edge"))
      .def("input_shape", &OpNode::input_shape, py::arg("edge"))
      .def("output_shape", &OpNode::output_shape)
      .def_property_readonly("grad_fn", &grad_fn_of);
  py::class_<RowFactors>(module, "RowFactors")
      .def_static("outer", &RowFactors::outer, py::arg("a"), py::arg("b"))
      .def_static("outer_transposed", &RowFactors::outer_transposed, py::arg("a"), py::arg("b"))
      .def_static("sum", &RowFactors::sum, py::arg("contributions"))
      .def_static("scale", &RowFactors::scale, py::arg("contributions"))
      .def_static("gather", &RowFactors::gather, py::arg("indices"), py::arg("b"))
      .def_static("dense", &RowFactors::dense, py::arg("rows"));
  py::class_<RuleDifference>(module, "RuleDifference")
      .def_readonly("node", &RuleDifference::node)
      .def_readonly("what", &RuleDifference::what)
      .def_readonly("error", &RuleDifference::error)
      .def_readonly("detail", &RuleDifference::detail);
  py::class_<RuleCheck>(module, "RuleCheck")
      .def_readonly("rule", &RuleCheck::rule)
      .def_readonly("checked", &RuleCheck::checked)
      .def_readonly("differences", &RuleCheck::differences)
      .def_property_readonly("is_right", &RuleCheck::is_right)
      .def("text", &RuleCheck::text);
}

}  // namespace

void bind_rules(py::module_& module) {
  bind_parts(module);
  module.def(
      "register_rule",
      [](const std::string& name, std::vector<std::string> nodes, const py::object& rule) {
        register_rule(std::make_unique<PythonRule>(name, std::move(nodes), rule));
      },
      py::arg("name"),
      py::arg("nodes"),
      py::arg("rule"));
  module.def(
      "check_rule",
      [](const std::string& rule, const Tensor& losses, const NamedTensors& parameters) {
        return check_rule(rule, losses, parameters_of(parameters));
      },
      py::arg("rule"),
      py::arg("losses"),
      py::arg("parameters"),
      Unlocked());
}

}  // namespace flightdeck::python
