// SPDX-License-Identifier: MIT
#include "kernels/tables/tables.h"

#include <map>
#include <mutex>

#include "kernels/tables/reference.h"
#include "kernels/tables/run_time_cuda.h"
#include "kernels/tables_source.h"

namespace flightdeck::kernels {

class Tables {
 public:
  Tables() = default;  // of plain loops
  Tables(const RunTimeCuda& cuda, void* module)
      : cuda_(&cuda),
        gram_parts(cuda.function(module, "gram_parts")),
        scatter(cuda.function(module, "scatter")),
        count_products(cuda.function(module, "count_products")),
        pack(cuda.function(module, "pack")),
        sweep_parts(cuda.function(module, "sweep_parts")),
        sweep_sums(cuda.function(module, "sweep_sums")),
        slope_parts(cuda.function(module, "slope_parts")),
        slope_sums(cuda.function(module, "slope_sums")),
        add_up(cuda.function(module, "add_up")),
        entry_parts(cuda.function(module, "entry_parts")),
        entry_totals(cuda.function(module, "entry_totals")) {}

  bool is_reference() const { return cuda_ == nullptr; }
  bool is_complete() const {
    return gram_parts && scatter && count_products && pack && sweep_parts && sweep_sums &&
           slope_parts && slope_sums && add_up && entry_parts && entry_totals;
  }

  template <typename... Arguments>
  bool launch(void* function,
              const LaunchShape& shape,
              void* stream,
              const Arguments&... arguments) const {
    const void* pointers[] = {&arguments...};
    return cuda_->launch(function, shape, stream, const_cast<void**>(pointers));
  }

 private:
  const RunTimeCuda* cuda_ = nullptr;

 public:
  void *gram_parts = nullptr, *scatter = nullptr, *count_products = nullptr, *pack = nullptr,
       *sweep_parts = nullptr, *sweep_sums = nullptr, *slope_parts = nullptr, *slope_sums = nullptr,
       *add_up = nullptr, *entry_parts = nullptr, *entry_totals = nullptr;
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

const Tables* reference_tables() {
  static const Tables tables;
  return &tables;
}

bool gram_parts(const Tables& tables,
                void* stream,
                const FactorTable& factors,
                int entries,
                int N,
                double* parts,
                double* squares) {
  if (tables.is_reference()) return reference::gram_parts(factors, entries, N, parts, squares);
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
  if (tables.is_reference()) {
    return reference::scatter(
        entries, N, scale, parts, squares, dots, deviations, norms, squared_means);
  }
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

bool slopes(const Tables& tables,
            void* stream,
            const SlopeTable& entries,
            int blocks,
            int N,
            double* parts,
            float* slopes) {
  if (tables.is_reference()) return reference::slopes(entries, N, slopes);
  const auto samples = static_cast<unsigned>(N);
  const LaunchShape of_parts = {
      {static_cast<unsigned>(blocks), (samples + kSlopeTile - 1) / kSlopeTile, 1},
      {kThreads, 1, 1}};
  const LaunchShape of_sums = {
      {static_cast<unsigned>(entries.entries), (samples + kThreads - 1) / kThreads, 1},
      {kThreads, 1, 1}};
  return tables.launch(tables.slope_parts, of_parts, stream, entries, N, parts) &&
         tables.launch(tables.slope_sums, of_sums, stream, entries, blocks, N, parts, slopes);
}

bool add_up(const Tables& tables, void* stream, const SumTable& sums, int count) {
  if (tables.is_reference()) return reference::add_up(sums, count);
  constexpr unsigned kBlocks = 4;  // a part is a number per sample, as a rule
  const LaunchShape shape = {{kBlocks, static_cast<unsigned>(count), 1}, {kThreads, 1, 1}};
  return tables.launch(tables.add_up, shape, stream, sums);
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
  if (tables.is_reference()) return reference::count_products(factors, entries, N, bins, counts);
  LaunchShape shape = {
      {static_cast<unsigned>(lines), static_cast<unsigned>(N), static_cast<unsigned>(entries)},
      {kThreads, 1, 1}};
  shape.shared_bytes = static_cast<unsigned>(sizeof(unsigned) * (bins.count + 3));
  return tables.launch(tables.count_products, shape, stream, factors, bins, centre, counts);
}

bool pack(
    const Tables& tables, void* stream, const ParcelTable& parcels, int entries, double* list) {
  if (tables.is_reference()) return reference::pack(parcels, entries, list);
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
  if (tables.is_reference()) return reference::sweep(pairs, sums);
  const LaunchShape of_parts = {{static_cast<unsigned>(blocks), 1, 1}, {kThreads, 1, 1}};
  const LaunchShape of_sums = {{static_cast<unsigned>(pairs.entries), 1, 1}, {kThreads, 1, 1}};
  const int count = static_cast<int>(blocks);
  return tables.launch(tables.sweep_parts, of_parts, stream, pairs, parts) &&
         tables.launch(tables.sweep_sums, of_sums, stream, pairs, count, parts, sums);
}

bool entry_numbers(const Tables& tables,
                   void* stream,
                   const Entries& entries,
                   int64_t blocks,
                   double* parts,
                   double* numbers) {
  if (tables.is_reference()) return reference::entry_numbers(entries, numbers);
  const LaunchShape of_parts = {{static_cast<unsigned>(blocks), 1, 1}, {kThreads, 1, 1}};
  const LaunchShape of_all = {{1, 1, 1}, {kThreads, 1, 1}};
  const int count = static_cast<int>(blocks);
  return tables.launch(tables.entry_parts, of_parts, stream, entries, parts) &&
         tables.launch(tables.entry_totals, of_all, stream, count, parts, numbers);
}

}  // namespace flightdeck::kernels
