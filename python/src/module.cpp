// SPDX-License-Identifier: MIT
// flightdeck._engine: the library as Python sees it, before the typed layer of python/flightdeck.
#include <torch/version.h>

#include "bind.h"

PYBIND11_MODULE(_engine, module) {
  using namespace flightdeck::python;
  module.doc() = "The compiled part of flightdeck; use the package.";
  module.attr("version") = FLIGHTDECK_VERSION;
  module.attr("torch_version") = TORCH_VERSION;
  bind_errors(module);
  bind_batch(module);
  bind_gradients(module);
  bind_operators(module);
  bind_data_sets(module);
  bind_curvature(module);
  bind_spectra(module);
  bind_vivit(module);
  bind_readings(module);
  bind_views(module);
  bind_quantities(module);
  bind_cockpit(module);
  bind_records(module);
  bind_lamps(module);
  bind_diagnoses(module);
  bind_reactions(module);
  bind_server(module);
  bind_rules(module);
  bind_saved_tensors(module);
  bind_hooks(module);
  bind_tool(module);
  bind_bench(module);
}
