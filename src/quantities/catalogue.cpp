// SPDX-License-Identifier: MIT
// The quantities by name, and the papers' presets. Entries live in catalogue/, one file each.
#include <mutex>

#include <c10/util/Exception.h>

#include "base/nearest.h"
#include "base/registry.h"
#include "base/words.h"
#include "flightdeck/quantity.h"

namespace flightdeck {
namespace quantities {

#define FLIGHTDECK_ENTRY(name) Quantity name(Settings& settings);
#include "flightdeck/quantities.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace quantities

namespace {

struct Entry {
  std::string name;
  std::string summary;  // of those that a program added; the others say it when they are made
  std::function<Quantity(Settings& settings)> make;
};

Registry<Entry>& quantity_registry() {
  static auto* registry = new Registry<Entry>({
#define FLIGHTDECK_ENTRY(name) {#name, "", &quantities::name},
#include "flightdeck/quantities.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

Quantity make(const Entry& entry, Settings settings) {
  settings.set_owner(entry.name);
  Quantity quantity = entry.make(settings);
  settings.check_all_known();
  return quantity.settings(settings);
}

bool register_entry(Entry entry) {
  const std::string fault = fault_of_name(entry.name);
  TORCH_CHECK_VALUE(fault.empty(), "register_quantity: ", fault);
  const std::string name = entry.name, summary = entry.summary;
  if (const Entry* same = quantity_registry().add(std::move(entry))) {
    TORCH_CHECK_VALUE(false,
                      "register_quantity: ",
                      taken_name("quantity", name, make(*same, {}).summary(), summary));
  }
  return true;
}

// Holds the papers' presets and those of the program, in the order in which they came.
class Presets {
 public:
  static Presets& all() {
    static auto* presets = new Presets();
    return *presets;
  }

  std::vector<PresetInfo> list() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return presets_;
  }

  void add(PresetInfo preset) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const PresetInfo& known : presets_) {
      TORCH_CHECK_VALUE(known.name != preset.name,
                        "register_preset: ",
                        taken_name("preset", preset.name, known.summary, preset.summary));
    }
    presets_.push_back(std::move(preset));
  }

 private:
  Presets() {
    std::vector<std::string> names = {"alpha",
                                      "distance",
                                      "grad_hist_1d",
                                      "grad_norm",
                                      "inner_test",
                                      "learning_rate",
                                      "loss",
                                      "norm_test",
                                      "ortho_test",
                                      "time",
                                      "update_size"};
    presets_.push_back({"economy", "first order only: what every run can afford", names});
    names.insert(names.end(), {"tic_diag", "hess_trace"});
    presets_.push_back({"business", "economy and the diagonal of the Hessian", names});
    names.insert(names.end(), {"hess_max_ev", "grad_hist_2d"});
    presets_.push_back({"full", "business, the largest eigenvalue and the 2d histogram", names});
    presets_.push_back({"diagnosis",
                        "what tells faults apart at a low price: graph, data, scales, steps",
                        {"activation_scale",
                         "alpha",
                         "dead_units",
                         "finite",
                         "grad_norm",
                         "inputs",
                         "learning_rate",
                         "logits",
                         "loss",
                         "parameters",
                         "saturated_units",
                         "spikes",
                         "time",
                         "trained",
                         "update_ratio",
                         "update_size",
                         "wiring"},
                        // Lamps that wait for values have them after the start; beyond it one step
                        // in 25 keeps the price below a tenth (docs/decisions/0165).
                        DueSteps::every_after(25, 50)});
  }

  mutable std::mutex mutex_;
  std::vector<PresetInfo> presets_;
};

}  // namespace

Quantity quantity(const std::string& name, Settings settings) {
  if (const Entry* entry = quantity_registry().find(name)) {
    return make(*entry, std::move(settings));
  }
  const std::vector<std::string> names = quantity_registry().names();
  const std::string near = nearest_name(name, names);
  TORCH_CHECK_VALUE(false,
                    "quantity: there is no quantity '",
                    name,
                    "'",
                    near.empty() ? "; choose" : "; did you mean '" + near + "'? Choose",
                    " one of ",
                    joined(names));
}

std::vector<Quantity> all_quantities() {
  std::vector<Quantity> all;
  for (const Entry& entry : quantity_registry().all()) all.push_back(make(entry, {}));
  return all;
}

bool register_quantity(Quantity quantity) {
  std::string name = quantity.name(), summary = quantity.summary();
  return register_entry(
      {std::move(name), std::move(summary), [quantity](Settings&) { return quantity; }});
}

bool register_quantity(std::function<Quantity(Settings& settings)> make) {
  TORCH_CHECK_VALUE(make, "register_quantity: the function is empty; pass one that makes it");
  Settings defaults;
  const Quantity quantity = make(defaults);
  return register_entry({quantity.name(), quantity.summary(), std::move(make)});
}

std::vector<PresetInfo> all_presets() { return Presets::all().list(); }

bool register_preset(PresetInfo preset) {
  const std::string fault = fault_of_name(preset.name);
  TORCH_CHECK_VALUE(fault.empty(), "register_preset: ", fault);
  Presets::all().add(std::move(preset));
  return true;
}

PresetInfo find_preset(const std::string& name) {
  std::vector<std::string> names;
  for (PresetInfo& info : all_presets()) {
    if (info.name == name) return std::move(info);
    names.push_back(info.name);
  }
  TORCH_CHECK_VALUE(
      false, "preset: there is no preset '", name, "'; choose one of ", joined(names));
}

std::vector<Quantity> preset(const std::string& name, const DueSteps& due) {
  std::vector<Quantity> quantities;
  for (const std::string& entry : find_preset(name).quantities) {
    Quantity one = quantity(entry);
    quantities.push_back(one.on(one.is_light() ? DueSteps::every(1) : due));
  }
  return quantities;
}

std::vector<Quantity> preset(const std::string& name) {
  return preset(name, find_preset(name).due.value_or(DueSteps()));
}

}  // namespace flightdeck
