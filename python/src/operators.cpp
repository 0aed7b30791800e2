// SPDX-License-Identifier: MIT
// Symmetric matrices that are known by their products.
#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>

#include "bind.h"

namespace flightdeck::python {
namespace {

// This and the next function convert torch.dtype from and to a scalar type.
py::object dtype_object(at::ScalarType type) {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(torch::getTHPDtype(type)));
}

at::ScalarType scalar_type(const py::object& dtype) {
  if (!THPDtype_Check(dtype.ptr())) throw py::type_error("dtype must be a torch.dtype");
  return reinterpret_cast<THPDtype*>(dtype.ptr())->scalar_type;
}

// Multiplies by a function of Python's.
class FunctionOperator : public LinearOperator {
 public:
  FunctionOperator(py::object multiply, int64_t dim, at::TensorOptions options)
      : multiply_(std::move(multiply)), dim_(dim), options_(options) {}
  int64_t dim() const override { return dim_; }
  at::TensorOptions options() const override { return options_; }
  Tensor multiply(const Tensor& vectors) const override {
    const py::gil_scoped_acquire lock;
    return heeding_interrupts([&] { return multiply_.get()(vectors).cast<Tensor>(); });
  }

 private:
  Held multiply_;
  int64_t dim_;
  at::TensorOptions options_;
};

// Stands for A + damping I and holds its A.
class HeldDampedOperator : public DampedOperator {
 public:
  HeldDampedOperator(std::shared_ptr<const LinearOperator> undamped, double damping)
      : DampedOperator(*undamped, damping), undamped_(std::move(undamped)) {}

 private:
  std::shared_ptr<const LinearOperator> undamped_;
};

using Operator = std::shared_ptr<LinearOperator>;

// Multiplies vectors; [D] is one vector.
Tensor multiply(const LinearOperator& op, const Tensor& vectors) {
  return vectors.dim() == 1 ? op.multiply(vectors.unsqueeze(0)).squeeze(0) : op.multiply(vectors);
}

}  // namespace

void bind_operators(py::module_& module) {
  py::class_<LinearOperator, Operator>(module, "LinearOperator")
      .def_property_readonly("dim", &LinearOperator::dim)
      .def_property_readonly("dtype",
                             [](const LinearOperator& op) {
                               return dtype_object(c10::typeMetaToScalarType(op.options().dtype()));
                             })
      .def_property_readonly("device",
                             [](const LinearOperator& op) { return op.options().device(); })
      .def("multiply", &multiply, py::arg("vectors"), Unlocked());
  py::class_<CurvatureOperator, LinearOperator, std::shared_ptr<CurvatureOperator>>(
      module, "CurvatureOperator")
      .def("split", &CurvatureOperator::split, py::arg("vectors"), Unlocked())
      .def("join", &CurvatureOperator::join, py::arg("parts"), Unlocked())
      .def("gradient", &CurvatureOperator::gradient, Unlocked())
      .def_property_readonly("remarks", &CurvatureOperator::remarks);

  module.def("dense_operator", [](const Tensor& matrix) -> Operator {
    return std::make_shared<DenseOperator>(matrix);
  });
  module.def("damped_operator", [](const Operator& op, double damping) -> Operator {
    return std::make_shared<HeldDampedOperator>(op, damping);
  });
  module.def("sub_block_operator", [](const Operator& op, int64_t begin, int64_t end) -> Operator {
    return std::make_shared<SubBlockOperator>(op, begin, end);
  });
  module.def("over_ranks", [](const Operator& own, int64_t samples, const py::object& ranks) {
    return std::const_pointer_cast<LinearOperator>(over_ranks(own, samples, ranks_from(ranks)));
  });
  module.def("line_blocks", &line_blocks, py::arg("parameter"), py::arg("count"));
  module.def("function_operator",
             [](const py::object& function,
                int64_t dim,
                const py::object& dtype,
                const at::Device& device) -> Operator {
               return std::make_shared<FunctionOperator>(
                   function, dim, at::TensorOptions().dtype(scalar_type(dtype)).device(device));
             });
  module.def(
      "curvature_operator",
      [](const Batch& batch, CurvatureKind kind, std::vector<std::vector<size_t>> groups) {
        ProductOptions options;
        options.groups = std::move(groups);
        return std::const_pointer_cast<CurvatureOperator>(curvature_operator(batch, kind, options));
      },
      py::arg("batch"),
      py::arg("kind"),
      py::kw_only(),
      py::arg("groups") = std::vector<std::vector<size_t>>(),
      Unlocked());
  module.def(
      "averaged_blocks",
      [](const Batch& batch,
         CurvatureKind kind,
         BatchAverage average,
         std::optional<BatchAverage> parameter_average,
         PchOrder pch_order) {
        AveragedBlocksOptions options;
        options.kind = kind;
        options.average = average;
        options.parameter_average = parameter_average;
        options.pch_order = pch_order;
        std::vector<std::pair<std::string, Operator>> blocks;
        for (const AveragedBlock& block : averaged_blocks(batch, options)) {
          blocks.emplace_back(block.name, std::const_pointer_cast<LinearOperator>(block.block));
        }
        return blocks;
      },
      py::arg("batch"),
      py::kw_only(),
      py::arg("kind") = CurvatureKind::kGgn,
      py::arg("average") = BatchAverage::kProducts,
      py::arg("parameter_average") = std::nullopt,
      py::arg("pch_order") = AveragedBlocksOptions().pch_order,
      Unlocked());
}

}  // namespace flightdeck::python
