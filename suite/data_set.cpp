// SPDX-License-Identifier: MIT
#include "suite/data_set.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <ATen/ATen.h>

#include "suite/data/source.h"
#include "suite/entry_registry.h"

namespace flightdeck::suite {
namespace data_sets {

#define FLIGHTDECK_ENTRY(name) DataSource name();
#include "flightdeck/data_sets.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace data_sets

namespace {

Registry<DataSource>& data_registry() {
  static auto* registry = new Registry<DataSource>({
#define FLIGHTDECK_ENTRY(name) data_sets::name(),
#include "flightdeck/data_sets.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

std::vector<std::string> folders_to_search(const DataSource& source, const std::string& folder) {
  std::vector<std::string> bases;
  if (!folder.empty()) {
    bases = {folder};
  } else {
    const std::string data = environment("FLIGHTDECK_DATA");
    if (!data.empty()) bases.push_back(data + "/" + source.name);
    const std::string home = environment("HOME");
    if (!home.empty()) bases.push_back(home + "/.local/share/flightdeck/" + source.name);
    bases.insert(bases.end(), source.places.begin(), source.places.end());
  }
  std::vector<std::string> folders;
  for (const std::string& base : bases) {
    folders.push_back(base);
    for (const std::string& inside : source.folders) folders.push_back(base + "/" + inside);
  }
  return folders;
}

std::vector<std::string> missing_files(const DataSource& source, const std::string& folder) {
  std::vector<std::string> missing;
  for (const std::string& file : source.files) {
    const std::string path = folder + "/" + file;
    std::error_code ignored;  // a folder that may not be read holds nothing
    const bool exists = std::filesystem::exists(path, ignored) ||
                        (source.may_be_gzip && std::filesystem::exists(path + ".gz", ignored));
    if (!exists) missing.push_back(file);
  }
  return missing;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Names the files that are missing from the folder that comes nearest, and every folder.
[[noreturn]] void refuse_missing(const DataSource& source, const DataDescription& description) {
  std::string nearest = description.searched.front();
  for (const std::string& folder : description.searched) {
    if (missing_files(source, folder).size() < missing_files(source, nearest).size()) {
      nearest = folder;
    }
  }
  TORCH_CHECK(false,
              "data: ",
              source.name,
              " was not found: ",
              nearest,
              " lacks ",
              joined(missing_files(source, nearest)),
              "; searched ",
              joined(description.searched),
              "; ",
              source.how_to_get,
              ", then name the folder by option or put it in $FLIGHTDECK_DATA/",
              source.name,
              ", or train on synthetic data");
}

Parts read_files(const DataSource& source, const DataOptions& options, DataSet& data) {
  const DataDescription description = describe_data(source.name, options.folder);
  if (!description.is_found) refuse_missing(source, description);
  data.origin = description.folder;
  try {
    return source.read(description.folder);
  } catch (const c10::Error& error) {
    TORCH_CHECK(false,
                error.what_without_backtrace(),
                " (to get ",
                source.name,
                " anew: ",
                source.how_to_get,
                ")");
  }
}

Parts generate(const DataSource& source, const DataOptions& options, DataSet& data) {
  data.is_synthetic = !source.files.empty() || source.is_synthetic;
  data.origin = data.is_synthetic ? "synthetic, generated with seed " + std::to_string(options.seed)
                                  : "generated as published";
  TORCH_CHECK_VALUE(source.generate,
                    "data: ",
                    source.name,
                    " has no synthetic data in place of its files; train on the files");
  return source.generate(options.seed);
}

Samples chosen(const Samples& samples, const Tensor& places) {
  return {samples.inputs.index_select(0, places),
          samples.targets.index_select(0, places),
          places.clone()};
}

Samples first(const Samples& samples, int64_t n) {
  if (n >= samples.size()) return samples;
  return {samples.inputs.slice(0, 0, n).clone(),
          samples.targets.slice(0, 0, n).clone(),
          samples.places.defined() ? samples.places.slice(0, 0, n).clone() : Tensor()};
}

// Takes the permutation's first samples for validation, the rest for training. Both keep its order,
// so the first few of either are a random choice.
void split(const DataSource& source,
           const Parts& parts,
           const DataOptions& options,
           DataSet& data) {
  const int64_t n = parts.train.size();
  const int64_t limit = options.limit > 0 ? options.limit : std::max(n, parts.test.size());
  if (parts.valid.size() > 0) {
    data.train = first(parts.train, limit);
    data.valid = first(parts.valid, limit);
  } else {
    Generator generator = generator_of(options.seed, /*purpose=*/1);
    const Tensor order = permutation(generator, n);
    const int64_t valid = std::llround(source.valid_share * static_cast<double>(n));
    data.valid = chosen(parts.train, order.slice(0, 0, std::min(valid, limit)));
    data.train = chosen(parts.train, order.slice(0, valid, std::min(n, valid + limit)));
  }
  data.train_eval = first(data.train, data.valid.size());
  data.test = first(parts.test, limit);
}

void check_not_empty(const DataSet& data) {
  for (const Part part : {Part::kTrain, Part::kTrainEval, Part::kValid, Part::kTest}) {
    TORCH_CHECK(data.part(part).size() > 0,
                "data: ",
                data.name,
                " from ",
                data.origin,
                " has 0 samples in its part ",
                name_of(part),
                " but needs at least 1; fetch the files again");
  }
}

}  // namespace

const DataSource& find_data_source(const std::string& name) {
  return find_entry(data_registry(), name, "data set");
}

bool register_data_source(DataSource source) {
  const bool reads = !source.files.empty();
  const char* missing = !source.prepare              ? "prepare"
                        : reads && !source.read      ? "read"
                        : !reads && !source.generate ? "generate"
                                                     : nullptr;
  TORCH_CHECK_VALUE(!missing,
                    "register_data_source: the data set '",
                    source.name,
                    "' has no function ",
                    missing,
                    "; set it");
  return add_entry(data_registry(), std::move(source), "register_data_source", "data set");
}

std::vector<std::string> data_set_names() { return data_registry().names(); }

DataDescription describe_data(const std::string& name, const std::string& folder) {
  const DataSource& source = find_data_source(name);
  DataDescription description;
  description.name = source.name;
  description.summary = source.summary;
  description.needs_files = !source.files.empty();
  description.files = source.files;
  description.how_to_get = source.how_to_get;
  description.is_found = !description.needs_files;
  if (!description.needs_files) return description;
  description.searched = folders_to_search(source, folder);
  for (const std::string& candidate : description.searched) {
    if (!missing_files(source, candidate).empty()) continue;
    description.is_found = true;
    description.folder = candidate;
    break;
  }
  return description;
}

DataSet load_data(const std::string& name, const DataOptions& options) {
  const DataSource& source = find_data_source(name);
  TORCH_CHECK_VALUE(options.limit >= 0,
                    "load_data: limit is ",
                    options.limit,
                    " but must be at least 0; leave it at 0 for all samples");
  DataSet data;
  data.name = source.name;
  data.classes = source.classes;
  const bool reads = !source.files.empty() && !options.synthetic;
  const Parts parts = reads ? read_files(source, options, data) : generate(source, options, data);
  split(source, parts, options, data);
  check_not_empty(data);
  data.prepare = options.raw && source.prepare_raw ? source.prepare_raw : source.prepare;
  if (options.augment) data.augment = source.augment;
  return data;
}

}  // namespace flightdeck::suite
