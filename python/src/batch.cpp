// SPDX-License-Identifier: MIT
// Batches, parameters and coverage.
#include <string_view>
#include <typeinfo>
#include <unordered_set>

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include "bind.h"
#include "graph/torch_compat.h"
#include "passes/scalar_reading.h"

namespace flightdeck::python {

Parameters parameters_of(const NamedTensors& named) {
  std::vector<NamedParameter> entries;
  entries.reserve(named.size());
  for (const auto& [name, tensor] : named) entries.push_back({name, tensor});
  return Parameters(std::move(entries));
}

NamedTensors named_tensors(const Parameters& parameters) {
  NamedTensors named;
  for (const NamedParameter& parameter : parameters) {
    named.emplace_back(parameter.name, parameter.tensor);
  }
  return named;
}

namespace {

void bind_coverage(py::module_& module) {
  py::class_<UseCoverage>(module, "UseCoverage")
      .def_readonly("op", &UseCoverage::op)
      .def_readonly("form", &UseCoverage::form)
      .def_readonly("algorithm", &UseCoverage::algorithm);
  py::class_<ParameterCoverage>(module, "ParameterCoverage")
      .def_readonly("name", &ParameterCoverage::name)
      .def_readonly("level", &ParameterCoverage::level)
      .def_readonly("uses", &ParameterCoverage::uses)
      .def_readonly("reason", &ParameterCoverage::reason)
      .def_readonly("elsewhere", &ParameterCoverage::elsewhere);
  py::class_<Coverage>(module, "Coverage")
      .def_readonly("parameters", &Coverage::parameters)
      .def_readonly("couplings", &Coverage::couplings)
      .def_readonly("shared_terms", &Coverage::shared_terms)
      .def_readonly("leaves_out_shared_terms", &Coverage::leaves_out_shared_terms)
      .def("text", &Coverage::text)
      .def("__str__", &Coverage::text);
  py::class_<OpRule>(module, "OpRule")
      .def_readonly("name", &OpRule::name)
      .def_readonly("nodes", &OpRule::nodes);
  module.def("ops_with_rules", &ops_with_rules);
}

// PyTorch does not export the type, so a cast would not link.
bool is_written_in_python(const compat::ag::Node& node) {
  return std::string_view(typeid(node).name()) == "N5torch8autograd6PyNodeE";
}

// Tells whether a loss is one of certain parameters.
class Leaves {
 public:
  explicit Leaves(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
    for (const Tensor& tensor : tensors_) wanted_.insert(tensor.unsafeGetTensorImpl());
  }

  // Returns whether the backward pass of the loss would reach one of them. A function written in
  // Python may hide what it reaches (reentrant checkpointing does), so it counts as one that does.
  bool are_reached_from(const Tensor& loss) const {
    std::vector<const compat::ag::Node*> open;
    std::unordered_set<const compat::ag::Node*> seen;
    const auto visit = [&](const compat::ag::Node* node) {
      if (node != nullptr && seen.insert(node).second) open.push_back(node);
    };
    visit(loss.grad_fn().get());
    while (!open.empty()) {
      const compat::ag::Node* node = open.back();
      open.pop_back();
      if (is_written_in_python(*node)) return true;
      const auto* leaf = dynamic_cast<const compat::ag::AccumulateGrad*>(node);
      if (leaf && wanted_.count(leaf->variable.unsafeGetTensorImpl()) > 0) return true;
      for (const auto& edge : node->next_edges()) visit(edge.function.get());
    }
    return false;
  }

 private:
  std::vector<Tensor> tensors_;  // so that no other tensor takes the place of one
  std::unordered_set<const at::TensorImpl*> wanted_;
};

}  // namespace

void bind_batch(py::module_& module) {
  py::class_<MemoryLimits>(module, "MemoryLimits")
      .def(py::init([](int64_t scratch, int64_t stack, int64_t matrix, int64_t keep) {
             return MemoryLimits{scratch, stack, matrix, keep};
           }),
           py::kw_only(),
           py::arg("scratch_bytes") = MemoryLimits().scratch_bytes,
           py::arg("stack_bytes") = MemoryLimits().stack_bytes,
           py::arg("matrix_bytes") = MemoryLimits().matrix_bytes,
           py::arg("keep_bytes") = MemoryLimits().keep_bytes)
      .def_readwrite("scratch_bytes", &MemoryLimits::scratch_bytes)
      .def_readwrite("stack_bytes", &MemoryLimits::stack_bytes)
      .def_readwrite("matrix_bytes", &MemoryLimits::matrix_bytes)
      .def_readwrite("keep_bytes", &MemoryLimits::keep_bytes);

  py::class_<Batch>(module, "Batch")
      .def(py::init([](const Tensor& losses,
                       const NamedTensors& parameters,
                       const std::optional<Tensor>& outputs,
                       int64_t batch_size,
                       Reduction reduction,
                       BatchNormPolicy batch_norm,
                       SharedTerms shared_terms,
                       std::vector<int64_t> samples,
                       const std::optional<MemoryLimits>& memory) {
             BatchOptions options;
             options.outputs = or_undefined(outputs);
             options.batch_size = batch_size;
             options.reduction = reduction;
             options.batch_norm = batch_norm;
             options.shared_terms = shared_terms;
             options.samples = std::move(samples);
             if (memory) options.memory = *memory;
             return Batch(losses, parameters_of(parameters), std::move(options));
           }),
           py::arg("losses"),
           py::arg("parameters"),
           py::kw_only(),
           py::arg("outputs") = std::nullopt,
           py::arg("batch_size") = 0,
           py::arg("reduction") = Reduction::kMean,
           py::arg("batch_norm") = BatchNormPolicy::kRefuse,
           py::arg("shared_terms") = SharedTerms::kKeep,
           py::arg("samples") = std::vector<int64_t>(),
           py::arg("memory") = std::nullopt)
      .def("of", &Batch::of, py::arg("samples"))
      .def_property_readonly("losses", [](const Batch& batch) { return batch.losses(); })
      .def_property_readonly("parameters",
                             [](const Batch& batch) { return named_tensors(batch.parameters()); })
      .def_property_readonly("size", &Batch::size)
      .def_property_readonly("is_scalar", &Batch::is_scalar)
      .def("__len__", &Batch::size);
  // Returns size, reduction and factor of a scalar loss as its graph has them; a size of 0 if it
  // does not say.
  module.def(
      "read_scalar",
      [](const Tensor& loss) {
        const py::gil_scoped_release unlocked;
        const ScalarReading reading = loss.grad_fn() ? read_scalar(loss) : ScalarReading{};
        return std::make_tuple(reading.batch_size, reading.reduction, reading.factor);
      },
      py::arg("loss"));
  py::class_<Leaves>(module, "Leaves")
      .def(py::init<std::vector<Tensor>>(), py::arg("tensors"))
      .def("are_reached_from", &Leaves::are_reached_from, py::arg("loss"), Unlocked());
  bind_coverage(module);
}

}  // namespace flightdeck::python
