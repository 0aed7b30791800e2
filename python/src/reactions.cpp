// SPDX-License-Identifier: MIT
// What a loop of Python's lets happen when a lamp lights.
#include "flightdeck/reactions.h"

#include "bind.h"

namespace flightdeck::python {
namespace {

using Tensors = std::map<std::string, Tensor>;

// Takes what flightdeck.reactions keeps of a model and its optimizer.
ReactingLoop loop_from(const py::object& given, const Cockpit& cockpit) {
  ReactingLoop loop;
  loop.parameters = cockpit.parameters();
  const Held held(given);
  loop.learning_rate = [held] {
    const py::gil_scoped_acquire lock;
    return held.get().attr("learning_rate")().cast<double>();
  };
  loop.rate_factor = [held] {
    const py::gil_scoped_acquire lock;
    return held.get().attr("rate_factor").cast<double>();
  };
  loop.set_rate_factor = [held](double factor) {
    const py::gil_scoped_acquire lock;
    held.get().attr("set_rate_factor")(factor);
  };
  loop.save_model = [held] {
    const py::gil_scoped_acquire lock;
    return held.get().attr("save_model")().cast<Tensors>();
  };
  loop.save_optimizer = [held] {
    const py::gil_scoped_acquire lock;
    return std::string(held.get().attr("save_optimizer")().cast<py::bytes>());
  };
  loop.restore = [held](const Tensors& model, const std::string& optimizer) {
    const py::gil_scoped_acquire lock;
    held.get().attr("restore")(model, py::bytes(optimizer));
  };
  return loop;
}

Reactions::Tell tell_function(const py::object& given) {
  if (given.is_none()) return {};
  return [function = Held(given)](int64_t step, const std::string& what) {
    const py::gil_scoped_acquire lock;
    function.get()(step, what);
  };
}

}  // namespace

void bind_reactions(py::module_& module) {
  py::class_<ReactionOptions>(module, "ReactionOptions")
      .def(py::init())
      .def_readwrite("stop_on", &ReactionOptions::stop_on)
      .def_readwrite("checkpoint_on", &ReactionOptions::checkpoint_on)
      .def_readwrite("lower_rate_on", &ReactionOptions::lower_rate_on)
      .def_readwrite("clip_on", &ReactionOptions::clip_on)
      .def_readwrite("skip_on", &ReactionOptions::skip_on)
      .def_readwrite("restore_on", &ReactionOptions::restore_on)
      .def_readwrite("look_every", &ReactionOptions::look_every)
      .def_readwrite("pause", &ReactionOptions::pause)
      .def_readwrite("most", &ReactionOptions::most)
      .def_readwrite("clip_norm", &ReactionOptions::clip_norm)
      .def_readwrite("keep_every", &ReactionOptions::keep_every);
  py::class_<Reactions>(module, "Reactions")
      .def(py::init([](const ReactionOptions& options,
                       const std::string& folder,
                       const py::object& loop,
                       Cockpit& cockpit,
                       const py::object& tell) {
             return std::make_unique<Reactions>(
                 options, folder, loop_from(loop, cockpit), cockpit, tell_function(tell));
           }),
           py::arg("options"),
           py::arg("folder"),
           py::arg("loop"),
           py::arg("cockpit"),
           py::arg("tell") = py::none(),
           py::keep_alive<1, 5>())
      .def("takes_update", &Reactions::takes_update, py::arg("step"), Unlocked())
      .def("takes_checkpoint", &Reactions::takes_checkpoint)
      .def_property_readonly("stopped_by", &Reactions::stopped_by)
      .def("save", &Reactions::save)
      .def("load", &Reactions::load, py::arg("saved"));
}

}  // namespace flightdeck::python
