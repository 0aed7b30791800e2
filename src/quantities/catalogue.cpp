// SPDX-License-Identifier: MIT
// The quantities by name, and the papers' presets. Entries live in catalogue/, one file each.
#include <c10/util/Exception.h>

#include "base/nearest.h"
#include "flightdeck/quantity.h"

namespace flightdeck {
namespace quantities {

#define FLIGHTDECK_ENTRY(name) Quantity name(Settings& settings);
#include "flightdeck/quantities.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace quantities

namespace {

struct Entry {
  const char* name;
  Quantity (*make)(Settings& settings);
};

const std::vector<Entry>& table() {
  static const std::vector<Entry> entries = {
#define FLIGHTDECK_ENTRY(name) {#name, &quantities::name},
#include "flightdeck/quantities.inc"
#undef FLIGHTDECK_ENTRY
  };
  return entries;
}

Quantity make(const Entry& entry, Settings settings) {
  settings.set_owner(entry.name);
  Quantity quantity = entry.make(settings);
  settings.check_all_known();
  return quantity.settings(settings);
}

}  // namespace

Quantity quantity(const std::string& name, Settings settings) {
  std::vector<std::string> names;
  for (const Entry& entry : table()) {
    if (entry.name == name) return make(entry, std::move(settings));
    names.push_back(entry.name);
  }
  const std::string near = nearest_name(name, names);
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  TORCH_CHECK_VALUE(false,
                    "quantity: there is no quantity '",
                    name,
                    "'",
                    near.empty() ? "; choose" : "; did you mean '" + near + "'? Choose",
                    " one of ",
                    all);
}

std::vector<Quantity> all_quantities() {
  std::vector<Quantity> all;
  for (const Entry& entry : table()) all.push_back(make(entry, {}));
  return all;
}

const std::vector<PresetInfo>& all_presets() {
  static const std::vector<PresetInfo> presets = [] {
    std::vector<std::string> names = {"alpha",
                                      "distance",
                                      "grad_hist_1d",
                                      "grad_norm",
                                      "inner_test",
                                      "loss",
                                      "norm_test",
                                      "ortho_test",
                                      "update_size"};
    std::vector<PresetInfo> all;
    all.push_back({"economy", "first order only: what every run can afford", names});
    names.insert(names.end(), {"tic_diag", "hess_trace"});
    all.push_back({"business", "economy and the diagonal of the Hessian", names});
    names.insert(names.end(), {"hess_max_ev", "grad_hist_2d"});
    all.push_back({"full", "business, the largest eigenvalue and the 2d histogram", names});
    return all;
  }();
  return presets;
}

std::vector<Quantity> preset(const std::string& name, const Schedule& schedule) {
  std::string names;
  for (const PresetInfo& info : all_presets()) {
    names += (names.empty() ? "" : ", ") + info.name;
    if (info.name != name) continue;
    std::vector<Quantity> quantities;
    for (const std::string& entry : info.quantities) {
      quantities.push_back(quantity(entry).on(schedule));
    }
    return quantities;
  }
  TORCH_CHECK_VALUE(false, "preset: there is no preset '", name, "'; choose one of ", names);
}

}  // namespace flightdeck
