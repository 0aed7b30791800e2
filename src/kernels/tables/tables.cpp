// SPDX-License-Identifier: MIT
#include "kernels/tables/tables.h"

#include <map>
#include <mutex>

#include "kernels/tables/run_time_cuda.h"
#include "kernels/tables_source.h"

namespace flightdeck::kernels {

class Tables {
 public:
  explicit Tables(const RunTimeCuda& cuda, void* module)
      : cuda_(cuda),
        gram_parts(cuda.function(module, "gram_parts")),
        scatter(cuda.function(module, "scatter")),
        count_products(cuda.function(module, "count_products")),
        pack(cuda.function(module, "pack")),
        row_dots(cuda.function(module, "row_dots")),
        sweep_parts(cuda.function(module, "sweep_parts")),
        sweep_sums(cuda.function(module, "sweep_sums")) {}

  bool is_complete() const {
    return gram_parts && scatter && count_products && pack && row_dots && sweep_parts && sweep_sums;
  }

  template <typename... Arguments>
  bool launch(void* function,
              const LaunchShape& shape,
              void* stream,
              const Arguments&... arguments) const {
    const void* pointers[] = {&arguments...};
    return cuda_.launch(function, shape, stream, const_cast<void**>(pointers));
  }

 private:
  const RunTimeCuda& cuda_;

 public:
  void *gram_parts, *scatter, *count_products, *pack, *row_dots, *sweep_parts, *sweep_sums;
};

namespace {

struct Found {
  std::unique_ptr<Tables> tables;
  std::string text;
};

Found find() {
  Found found;
  const RunTimeCuda* cuda = RunTimeCuda::find(found.text);
  if (!cuda) return found;
  void* module = cuda->compiled(kTablesSource, found.text);
  if (!module) return found;
  found.tables = std::make_unique<Tables>(*cuda, module);
  if (!found.tables->is_complete()) {
    found.tables.reset();
    found.text = "off, a kernel is missing in what was compiled";
  }
  return found;
}

const Found& found_for_context() {
  static std::mutex mutex;
  static std::map<void*, Found> found;
  const std::lock_guard<std::mutex> lock(mutex);
  void* context = RunTimeCuda::current_context();
  const auto known = found.find(context);
  return known != found.end() ? known->second : found.emplace(context, find()).first->second;
}

constexpr unsigned kThreads = 256;

}  // namespace

const Tables* tables() { return found_for_context().tables.get(); }
std::string tables_text() { return found_for_context().text; }

bool gram_parts(const Tables& tables,
                void* stream,
                const FactorTable& factors,
                int entries,
                int N,
                double* parts,
                double* squares) {
  const auto tiles = static_cast<unsigned>((N + kGramTile - 1) / kGramTile);
  const LaunchShape shape = {{tiles, tiles, static_cast<unsigned>(entries)},
                             {kGramTile, kGramTile, 1}};
  return tables.launch(tables.gram_parts, shape, stream, factors, N, parts, squares);
}

bool scatter(const Tables& tables,
             void* stream,
             int entries,
             int N,
             double scale,
             const double* parts,
             const double* squares,
             double* dots,
             double* deviations,
             float* norms,
             double* squared_means) {
  const int tiles = (N + kGramTile - 1) / kGramTile;
  const LaunchShape shape = {{static_cast<unsigned>(entries), 1, 1}, {kThreads, 1, 1}};
  return tables.launch(tables.scatter,
                       shape,
                       stream,
                       N,
                       tiles,
                       scale,
                       parts,
                       squares,
                       dots,
                       deviations,
                       norms,
                       squared_means);
}

bool row_dots(const Tables& tables,
              void* stream,
              const FactorTable& factors,
              int entries,
              int N,
              float* dots) {
  const LaunchShape shape = {{static_cast<unsigned>(N), static_cast<unsigned>(entries), 1},
                             {kThreads, 1, 1}};
  return tables.launch(tables.row_dots, shape, stream, factors, dots);
}

bool count_products(const Tables& tables,
                    void* stream,
                    const FactorTable& factors,
                    int entries,
                    int N,
                    int lines,
                    const TableBins& bins,
                    int centre,
                    int64_t* counts) {
  LaunchShape shape = {
      {static_cast<unsigned>(lines), static_cast<unsigned>(N), static_cast<unsigned>(entries)},
      {kThreads, 1, 1}};
  shape.shared_bytes = static_cast<unsigned>(sizeof(unsigned) * (bins.count + 3));
  return tables.launch(tables.count_products, shape, stream, factors, bins, centre, counts);
}

bool pack(
    const Tables& tables, void* stream, const ParcelTable& parcels, int entries, double* list) {
  constexpr unsigned kBlocks = 4;  // a parcel is a number per sample, as a rule
  const LaunchShape shape = {{kBlocks, static_cast<unsigned>(entries), 1}, {kThreads, 1, 1}};
  return tables.launch(tables.pack, shape, stream, parcels, list);
}

bool sweep(const Tables& tables,
           void* stream,
           const PairTable& pairs,
           int64_t blocks,
           double* parts,
           double* sums) {
  const LaunchShape of_parts = {{static_cast<unsigned>(blocks), 1, 1}, {kThreads, 1, 1}};
  const LaunchShape of_sums = {{static_cast<unsigned>(pairs.entries), 1, 1}, {kThreads, 1, 1}};
  const int count = static_cast<int>(blocks);
  return tables.launch(tables.sweep_parts, of_parts, stream, pairs, parts) &&
         tables.launch(tables.sweep_sums, of_sums, stream, pairs, count, parts, sums);
}

}  // namespace flightdeck::kernels
