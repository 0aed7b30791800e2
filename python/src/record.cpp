// SPDX-License-Identifier: MIT
// Records on disk: reading and exporting. Series of numbers are NumPy arrays.
#include "record.h"

#include <fstream>

#include <pybind11/numpy.h>

#include "serve/report.h"

namespace flightdeck::python {
namespace {

py::tuple columns_of(const std::vector<NumberPoint>& points) {
  const auto count = static_cast<py::ssize_t>(points.size());
  py::array_t<int64_t> steps(count);
  py::array_t<double> times(count), values(count);
  for (py::ssize_t k = 0; k < count; ++k) {
    steps.mutable_at(k) = points[static_cast<size_t>(k)].step;
    times.mutable_at(k) = points[static_cast<size_t>(k)].time;
    values.mutable_at(k) = points[static_cast<size_t>(k)].value;
  }
  return py::make_tuple(steps, times, values);
}

StepRange range_of(std::optional<int64_t> first, std::optional<int64_t> last) {
  StepRange range;
  if (first) range.first = *first;
  if (last) range.last = *last;
  return range;
}

// Opens a record. A folder that is not there is Python's FileNotFoundError.
std::shared_ptr<RunReader> open_reader(const std::string& folder, double patience_s) {
  try {
    const py::gil_scoped_release unlocked;
    ReadOptions options;
    options.patience_s = patience_s;
    return std::make_shared<RunReader>(folder, options);
  } catch (const std::invalid_argument& error) {
    if (RunReader::is_run(folder)) throw;
    PyErr_SetString(PyExc_FileNotFoundError, error.what());
    throw py::error_already_set();
  }
}

template <typename Write>
void write_file(const std::string& path, const Write& write) {
  std::ofstream file(path, std::ios::binary);
  if (!file) {
    const py::gil_scoped_acquire lock;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
    throw py::error_already_set();
  }
  write(file);
}

template <typename Class, typename Get>
void bind_reader(Class& reader, Get get) {
  using Self = typename Class::type;
  reader
      .def(
          "info", [get](const Self& self) { return get(self).info(); }, Unlocked())
      .def(
          "status", [get](const Self& self) { return get(self).status(); }, Unlocked())
      .def(
          "last_step", [get](const Self& self) { return get(self).last_step(); }, Unlocked())
      .def(
          "last_time", [get](const Self& self) { return get(self).last_time(); }, Unlocked())
      .def(
          "series", [get](const Self& self) { return get(self).series(); }, Unlocked())
      .def(
          "notes", [get](const Self& self) { return get(self).notes(); }, Unlocked())
      .def(
          "find",
          [get](const Self& self,
                const std::string& quantity,
                const std::string& group,
                const std::string& field) -> std::optional<SeriesInfo> {
            const auto found = get(self).find(quantity, group, field);
            return found ? std::make_optional(*found) : std::nullopt;
          },
          py::arg("quantity"),
          py::arg("group") = "",
          py::arg("field") = "",
          Unlocked())
      .def(
          "numbers",
          [get](const Self& self,
                int64_t series,
                std::optional<int64_t> first,
                std::optional<int64_t> last) {
            std::vector<NumberPoint> points;
            {
              const py::gil_scoped_release unlocked;
              points = get(self).numbers(series, range_of(first, last));
            }
            return columns_of(points);
          },
          py::arg("series"),
          py::arg("first") = std::nullopt,
          py::arg("last") = std::nullopt)
      .def(
          "readings",
          [get](const Self& self,
                int64_t series,
                std::optional<int64_t> first,
                std::optional<int64_t> last) {
            return get(self).readings(series, range_of(first, last));
          },
          py::arg("series"),
          py::arg("first") = std::nullopt,
          py::arg("last") = std::nullopt,
          Unlocked())
      .def(
          "frames",
          [get](const Self& self,
                int64_t series,
                int64_t at_most,
                std::optional<int64_t> first,
                std::optional<int64_t> last) {
            return get(self).frames(series, range_of(first, last), at_most);
          },
          py::arg("series"),
          py::arg("at_most"),
          py::arg("first") = std::nullopt,
          py::arg("last") = std::nullopt,
          Unlocked())
      .def(
          "report_html",
          [get](const Self& self, const std::string& name) {
            return serve::make_report(get(self), name).html;
          },
          py::arg("name"),
          Unlocked())
      .def(
          "export_csv",
          [get](const Self& self, const std::string& path) {
            write_file(path, [&](std::ostream& file) { export_csv(get(self), file); });
          },
          py::arg("path"),
          Unlocked())
      .def(
          "export_json_lines",
          [get](const Self& self, const std::string& path) {
            write_file(path, [&](std::ostream& file) { export_json_lines(get(self), file); });
          },
          py::arg("path"),
          Unlocked())
      .def(
          "export_tensorboard",
          [get](const Self& self, const std::string& folder) {
            return export_tensorboard(get(self), folder);
          },
          py::arg("folder"),
          Unlocked());
}

}  // namespace

void bind_records(py::module_& module) {
  py::class_<SeriesInfo>(module, "SeriesInfo")
      .def_readonly("id", &SeriesInfo::id)
      .def_readonly("quantity", &SeriesInfo::quantity)
      .def_readonly("field", &SeriesInfo::field)
      .def_readonly("group", &SeriesInfo::group)
      .def_readonly("kind", &SeriesInfo::kind)
      .def_readonly("count", &SeriesInfo::count)
      .def_readonly("first_step", &SeriesInfo::first_step)
      .def_readonly("last_step", &SeriesInfo::last_step)
      .def("__repr__", [](const SeriesInfo& series) {
        return "<SeriesInfo " + series.quantity + (series.field.empty() ? "" : "/" + series.field) +
               (series.group.empty() ? "" : "@" + series.group) + ", " +
               std::to_string(series.count) + " steps>";
      });
  py::class_<RunReader, std::shared_ptr<RunReader>> reader(module, "RunReader");
  reader.def(py::init(&open_reader), py::arg("folder"), py::arg("patience_s") = 60.0)
      .def_static("is_run", &RunReader::is_run, py::arg("folder"))
      .def_static("fingerprint", &RunReader::fingerprint, py::arg("folder"));
  bind_reader(reader, [](const RunReader& self) -> const RunReader& { return self; });
  py::class_<LentReader, std::shared_ptr<LentReader>> lent(module, "LentRunReader");
  bind_reader(lent, [](const LentReader& self) -> const RunReader& { return self.get(); });
}

}  // namespace flightdeck::python
