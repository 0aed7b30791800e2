// SPDX-License-Identifier: MIT
// The cockpit and its watches.
#include <unistd.h>

#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/python_variable.h>

#include "readings.h"

namespace flightdeck::python {
namespace {

// Watches one `with` block and ends with it; an exception drops the step. One that is forgotten
// ends when Python collects it, where nothing may be thrown. An idle one watches nothing.
class LoopWatch {
 public:
  LoopWatch() = default;
  explicit LoopWatch(StepWatch watch) : watch_(std::move(watch)) {}
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;
  ~LoopWatch() {
    if (!watch_) return;
    const py::gil_scoped_release unlocked;
    try {
      watch_->end();
    } catch (...) {
      // Strict cockpits throw from `end`, but a destructor has nobody to tell in Python.
    }
  }
  void end() {
    if (watch_) watch_->end();
  }
  void drop() {
    if (watch_) watch_->drop();
  }
  bool is_active() const { return watch_ && watch_->is_active(); }

 private:
  std::optional<StepWatch> watch_;
};

// Returns the rates of any optimizer that has param_groups as those of torch.optim do.
std::vector<std::pair<Tensor, double>> learning_rates_of(const py::object& optimizer) {
  std::vector<std::pair<Tensor, double>> rates;
  for (const py::handle group : optimizer.attr("param_groups")) {
    const double rate = py::float_(group["lr"]).cast<double>();
    for (const py::handle tensor : group["params"]) rates.emplace_back(tensor.cast<Tensor>(), rate);
  }
  return rates;
}

// Returns a tensor as it is and any other sequence of integers as one; an undefined one for None.
Tensor integers_of(const py::object& given, const char* name) {
  if (given.is_none()) return {};
  if (THPVariable_Check(given.ptr())) return given.cast<Tensor>();
  try {
    return at::tensor(given.cast<std::vector<int64_t>>(), at::kLong);
  } catch (const py::cast_error&) {
    throw py::type_error(
        std::string("watch: ") + name + " is a " +
        py::str(py::type::of(given).attr("__name__")).cast<std::string>() +
        " that holds something other than integers; give a tensor or a list of ints, "
        "one per sample");
  }
}

Grouping grouping_of(const py::object& given) {
  if (py::isinstance<py::str>(given)) return Grouping::parse(given.cast<std::string>());
  return Grouping::by_pattern(given.cast<std::vector<std::string>>());
}

std::function<void(const std::string&)> text_function(const py::object& given) {
  if (given.is_none()) return {};
  return [function = Held(given)](const std::string& text) {
    const py::gil_scoped_acquire lock;
    function.get()(text);
  };
}

std::shared_ptr<Cockpit> make_cockpit(const NamedTensors& parameters,
                                      const std::vector<Quantity>& quantities,
                                      const py::object& groups,
                                      bool strict,
                                      BatchNormPolicy batch_norm,
                                      SharedTerms shared_terms,
                                      uint64_t seed,
                                      const std::optional<MemoryLimits>& memory,
                                      const py::object& on_warning,
                                      const py::object& ranks) {
  CockpitOptions options;
  options.ranks = ranks_from(ranks);
  options.grouping = grouping_of(groups);
  options.strict = strict;
  options.batch_norm = batch_norm;
  options.shared_terms = shared_terms;
  options.seed = seed;
  if (memory) options.memory = *memory;
  options.on_warning = text_function(on_warning);
  // The cockpit's end waits for the calls of other threads, which may wait for the lock of Python.
  return {new Cockpit(parameters_of(parameters), quantities, std::move(options)),
          [made_in = getpid()](Cockpit* cockpit) {
            if (getpid() != made_in) return;  // forked: the threads that it would wait for are not
            const py::gil_scoped_release unlocked;
            delete cockpit;
          }};
}

// Has (tensor, rate, momentum, averages, is_nesterov, scale) of each parameter.
using GivenFormula = std::tuple<Tensor, double, double, bool, bool, std::optional<Tensor>>;

std::optional<std::vector<std::pair<Tensor, UpdateFormula>>> update_formulas_of(
    const std::optional<std::vector<GivenFormula>>& given) {
  if (!given) return std::nullopt;
  std::vector<std::pair<Tensor, UpdateFormula>> formulas;
  for (const auto& [tensor, rate, momentum, averages, is_nesterov, scale] : *given) {
    formulas.emplace_back(
        tensor, UpdateFormula{rate, momentum, averages, is_nesterov, or_undefined(scale)});
  }
  return formulas;
}

std::unique_ptr<LoopWatch> watch(Cockpit& cockpit,
                                 int64_t step,
                                 const py::object& losses,
                                 const py::object& optimizer,
                                 std::optional<double> learning_rate,
                                 const std::optional<Tensor>& outputs,
                                 int64_t batch_size,
                                 Reduction reduction,
                                 const py::object& sample_ids,
                                 const py::object& labels,
                                 const py::object& predictions,
                                 const std::optional<Tensor>& inputs,
                                 std::vector<std::pair<std::string, double>> phases,
                                 const std::optional<std::vector<GivenFormula>>& update_formulas) {
  StepOptions told;
  told.inputs = or_undefined(inputs);
  told.phases = std::move(phases);
  told.update_formulas = update_formulas_of(update_formulas);
  told.sample_ids = integers_of(sample_ids, "sample_ids");
  told.labels = integers_of(labels, "labels");
  told.predictions = integers_of(predictions, "predictions");
  told.learning_rate = learning_rate;
  if (!optimizer.is_none()) told.learning_rates = learning_rates_of(optimizer);
  if (py::isinstance<Batch>(losses)) {
    const Batch batch = losses.cast<Batch>();
    const py::gil_scoped_release unlocked;
    return std::make_unique<LoopWatch>(cockpit.watch(step, batch, told));
  }
  const Tensor given = losses.cast<Tensor>();
  const py::gil_scoped_release unlocked;
  if (!outputs && batch_size == 0) {
    return std::make_unique<LoopWatch>(cockpit.watch(step, given, told));
  }
  BatchOptions said;
  said.outputs = or_undefined(outputs);
  said.batch_size = batch_size;
  said.reduction = reduction;
  said.batch_norm = cockpit.options().batch_norm;
  said.shared_terms = cockpit.options().shared_terms;
  said.memory = cockpit.options().memory;
  const Batch batch(given, cockpit.parameters(), std::move(said));
  return std::make_unique<LoopWatch>(cockpit.watch(step, batch, told));
}

OnFinding finding_function(const py::object& given) {
  return [function = Held(given)](const Finding& finding, const Diagnosis& diagnosis) {
    const py::gil_scoped_acquire lock;
    heeding_interrupts([&] {
      try {
        return function.get()(finding, diagnosis);
      } catch (py::error_already_set& error) {
        // The thread that drops the function reads the text without the lock, so this makes a copy.
        if (error.matches(PyExc_KeyboardInterrupt)) throw;
        throw std::runtime_error(std::string("on_finding: ") + error.what());
      }
    });
  };
}

FindingSinkOptions finding_options(const std::vector<std::string>& on,
                                   double pause_s,
                                   int64_t every,
                                   bool looks_at_end) {
  FindingSinkOptions options;
  options.on = on;
  options.pause_s = pause_s;
  options.every = every;
  options.looks_at_end = looks_at_end;
  return options;
}

// Records to a folder. One that already holds a run is Python's FileExistsError.
void record_to(Cockpit& cockpit, const std::string& folder, std::optional<int64_t> resume_at) {
  RecorderOptions options;
  options.resume_at = resume_at;
  try {
    const py::gil_scoped_release unlocked;
    cockpit.record_to(folder, options);
  } catch (const std::runtime_error& error) {
    if (resume_at || !RunReader::is_run(folder)) throw;
    PyErr_SetString(PyExc_FileExistsError, error.what());
    throw py::error_already_set();
  }
}

void bind_watch(py::module_& module) {
  py::class_<LoopWatch>(module, "StepWatch")
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__",
           [](LoopWatch& watch, const py::object& type, const py::object&, const py::object&) {
             const bool is_failure = !type.is_none();
             const py::gil_scoped_release unlocked;
             if (is_failure) {
               watch.drop();
             } else {
               watch.end();
             }
           })
      .def("end", &LoopWatch::end, Unlocked())
      .def("drop", &LoopWatch::drop, Unlocked())
      .def_property_readonly("is_active", py::cpp_function(&LoopWatch::is_active, Unlocked()));
  module.def("idle_watch", [] { return std::make_unique<LoopWatch>(); });
}

}  // namespace

std::shared_ptr<Ranks> ranks_from(const py::object& given) {
  if (given.is_none()) return nullptr;
  RanksFunctions functions;
  functions.size = given.attr("size").cast<int64_t>();
  functions.rank = given.attr("rank").cast<int64_t>();
  functions.device = at::Device(py::str(given.attr("device")).cast<std::string>());
  const auto call = [&](const char* name) {
    return [function = Held(given.attr(name))](const Tensor& own) {
      const py::gil_scoped_acquire lock;
      return function.get()(own).cast<Tensor>();
    };
  };
  functions.sum = call("sum");
  functions.max = call("max");
  functions.min = call("min");
  functions.gather = call("gather");
  return ranks_by(std::move(functions));
}

void bind_cockpit(py::module_& module) {
  bind_watch(module);
  py::class_<Cockpit, std::shared_ptr<Cockpit>>(module, "Cockpit")
      .def(py::init(&make_cockpit),
           py::arg("parameters"),
           py::arg("quantities"),
           py::kw_only(),
           py::arg("groups") = "automatic",
           py::arg("strict") = false,
           py::arg("batch_norm") = BatchNormPolicy::kRefuse,
           py::arg("shared_terms") = SharedTerms::kKeep,
           py::arg("seed") = 0,
           py::arg("memory") = std::nullopt,
           py::arg("on_warning") = py::none(),
           py::arg("ranks") = py::none())
      .def("add", &Cockpit::add, py::arg("quantity"), Unlocked())
      .def(
          "add_sink",
          [](Cockpit& cockpit, const py::object& sink) {
            const std::shared_ptr<Sink> added = sink_of(sink);
            const py::gil_scoped_release unlocked;
            cockpit.add_sink(added);
          },
          py::arg("sink"))
      .def("record_to", &record_to, py::arg("folder"), py::arg("resume_at") = std::nullopt)
      .def(
          "on_finding",
          [](Cockpit& cockpit,
             const py::object& call,
             const std::vector<std::string>& on,
             double pause_s,
             int64_t every,
             bool looks_at_end) {
            const OnFinding function = finding_function(call);
            const py::gil_scoped_release unlocked;
            cockpit.on_finding(function, finding_options(on, pause_s, every, looks_at_end));
          },
          py::arg("call"),
          py::kw_only(),
          py::arg("on") = FindingSinkOptions().on,
          py::arg("pause_s") = FindingSinkOptions().pause_s,
          py::arg("every") = FindingSinkOptions().every,
          py::arg("looks_at_end") = FindingSinkOptions().looks_at_end)
      .def(
          "alert",
          [](Cockpit& cockpit,
             const std::string& command,
             const std::string& webhook,
             const std::string& run,
             double limit_s,
             const py::object& on_warning,
             const std::vector<std::string>& on,
             double pause_s) {
            AlertOptions options;
            options.command = command;
            options.webhook = webhook;
            options.run = run;
            options.limit_s = limit_s;
            options.on_warning = text_function(on_warning);
            const py::gil_scoped_release unlocked;
            cockpit.on_finding(alerts(std::move(options)), finding_options(on, pause_s, 0, true));
          },
          py::kw_only(),
          py::arg("command") = "",
          py::arg("webhook") = "",
          py::arg("run") = "",
          py::arg("limit_s") = AlertOptions().limit_s,
          py::arg("on_warning") = py::none(),
          py::arg("on") = FindingSinkOptions().on,
          py::arg("pause_s") = FindingSinkOptions().pause_s)
      .def("remark", &Cockpit::remark, py::arg("step"), py::arg("text"), Unlocked())
      .def("describe", &Cockpit::describe, py::arg("key"), py::arg("value"), Unlocked())
      .def("watch",
           &watch,
           py::arg("step"),
           py::arg("losses"),
           py::arg("optimizer") = py::none(),
           py::kw_only(),
           py::arg("learning_rate") = std::nullopt,
           py::arg("outputs") = std::nullopt,
           py::arg("batch_size") = 0,
           py::arg("reduction") = Reduction::kMean,
           py::arg("sample_ids") = py::none(),
           py::arg("labels") = py::none(),
           py::arg("predictions") = py::none(),
           py::arg("inputs") = std::nullopt,
           py::arg("phases") = std::vector<std::pair<std::string, double>>(),
           py::arg("update_formulas") = std::nullopt)
      .def("sit_out", &Cockpit::sit_out, py::arg("step"), Unlocked())
      .def("log",
           py::overload_cast<int64_t, const std::map<std::string, double>&>(&Cockpit::log),
           py::arg("step"),
           py::arg("values"),
           Unlocked())
      .def("save", &Cockpit::save, Unlocked())
      .def("load", &Cockpit::load, py::arg("saved"), Unlocked())
      .def_property_readonly(
          "parameters", [](const Cockpit& cockpit) { return named_tensors(cockpit.parameters()); })
      .def("is_due", &Cockpit::is_due, py::arg("step"), Unlocked())
      .def("reads_graph", &Cockpit::reads_graph, py::arg("step"), Unlocked())
      .def("plan", &Cockpit::plan, py::arg("step"), Unlocked())
      .def("flush", &Cockpit::flush, Unlocked())
      .def("finish", &Cockpit::finish, py::arg("ending") = Ending::kFinished, Unlocked());
}

}  // namespace flightdeck::python
