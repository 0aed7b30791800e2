// SPDX-License-Identifier: MIT
#include "rows/gpu_tables.h"

#include <algorithm>
#include <dlfcn.h>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "kernels/tables/tables.h"
#include "rows/histogram_bins.h"

namespace flightdeck {
namespace {

using kernels::kTableEntries;
using kernels::Tables;

// More samples are better multiplied by LibTorch.
constexpr int64_t kMostSamples = 1024;
constexpr int64_t kMostBins = 8192;
constexpr int64_t kBlocks = 132 * 8;  // a few per multiprocessor of a large GPU

// The stream that LibTorch uses in this thread. By LibTorch's C interface: headers of CUDA are not
// needed, nor is a LibTorch with CUDA when this is built.
bool current_stream(const at::Device& device, void** stream) {
  using Get = int32_t (*)(int32_t device, void** stream);
  static const Get get = [] {
    void* library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    return library ? reinterpret_cast<Get>(dlsym(library, "aoti_torch_get_current_cuda_stream"))
                   : nullptr;
  }();
  return get && get(device.index(), stream) == 0;
}

// Calls `launch(tables, stream)` on the device; false if the kernels are not to be had.
template <typename Launch>
bool launched(const at::Device& device, const Launch& launch) {
  void* stream = nullptr;
  if (!current_stream(device, &stream)) return false;
  const Tables* tables = kernels::tables();
  return tables != nullptr && launch(*tables, stream);
}

at::TensorOptions doubles_on(const Tensor& tensor) { return tensor.options().dtype(at::kDouble); }

kernels::Factors factors_of(const TableRows& rows) {
  const bool has_a = rows.a.defined();
  return {has_a ? rows.a.data_ptr<float>() : nullptr,
          rows.b.data_ptr<float>(),
          has_a ? rows.a.stride(0) : 0,
          rows.b.stride(0),
          has_a ? static_cast<int>(rows.a.size(1)) : 1,
          static_cast<int>(rows.b.size(1))};
}

// Entries side by side, whatever the stride of the samples.
Tensor in_lines(const Tensor& factor) {
  return !factor.defined() || factor.size(1) == 1 || factor.stride(1) == 1 ? factor
                                                                           : factor.contiguous();
}

std::vector<TableRows> in_lines(const std::vector<TableRows>& rows) {
  std::vector<TableRows> lines;
  for (const TableRows& one : rows) lines.push_back({in_lines(one.a), in_lines(one.b)});
  return lines;
}

// Calls `part(table, first, count)` for as many rows as a table holds.
template <typename Part>
bool for_each_table(const std::vector<TableRows>& rows, const Part& part) {
  for (size_t first = 0; first < rows.size(); first += kTableEntries) {
    const size_t count = std::min<size_t>(kTableEntries, rows.size() - first);
    kernels::FactorTable table{};
    for (size_t k = 0; k < count; ++k) table.entry[k] = factors_of(rows[first + k]);
    if (!part(table, static_cast<int64_t>(first), static_cast<int>(count))) return false;
  }
  return true;
}

}  // namespace

bool fits_tables(const Tensor& tensor) {
  return tensor.is_cuda() && tensor.scalar_type() == at::kFloat && tensor.numel() > 0;
}

bool fit_tables(const Tensor& x, const Tensor& y) {
  return fits_tables(x) && fits_tables(y) && x.device() == y.device() &&
         x.is_non_overlapping_and_dense() && x.sizes() == y.sizes() && x.strides() == y.strides();
}

std::optional<TableScatter> scatter_by_table(const std::vector<TableRows>& given, double share) {
  const auto P = static_cast<int64_t>(given.size()), N = given[0].b.size(0);
  if (N > kMostSamples) return std::nullopt;
  const std::vector<TableRows> rows = in_lines(given);
  const Tensor& first_b = rows[0].b;
  const at::DeviceGuard guard(first_b.device());
  const int64_t tiles = (N + kernels::kGramTile - 1) / kernels::kGramTile;
  const Tensor parts = at::empty({P, tiles, N}, doubles_on(first_b));
  const Tensor squares = at::empty({P, N}, doubles_on(first_b));
  TableScatter out = {at::empty({P, N}, doubles_on(first_b)),
                      at::empty({P, N}, doubles_on(first_b)),
                      at::empty({P, N}, first_b.options()),
                      at::empty({P}, doubles_on(first_b))};
  const auto samples = static_cast<int>(N);
  const bool done = launched(first_b.device(), [&](const Tables& tables, void* stream) {
    const bool has_parts =
        for_each_table(rows, [&](kernels::FactorTable& table, int64_t first, int count) {
          return kernels::gram_parts(tables,
                                     stream,
                                     table,
                                     count,
                                     samples,
                                     parts.data_ptr<double>() + first * tiles * N,
                                     squares.data_ptr<double>() + first * N);
        });
    return has_parts && kernels::scatter(tables,
                                         stream,
                                         static_cast<int>(P),
                                         samples,
                                         share * static_cast<double>(N),
                                         parts.data_ptr<double>(),
                                         squares.data_ptr<double>(),
                                         out.dots.data_ptr<double>(),
                                         out.deviations.data_ptr<double>(),
                                         out.norms.data_ptr<float>(),
                                         out.squared_mean.data_ptr<double>());
  });
  if (!done) return std::nullopt;
  return out;
}

std::optional<Tensor> dots_by_table(const std::vector<TableRows>& given) {
  const std::vector<TableRows> lines = in_lines(given);
  const Tensor& first_b = lines[0].b;
  const at::DeviceGuard guard(first_b.device());
  const int64_t N = first_b.size(0);
  const Tensor dots = at::empty({static_cast<int64_t>(lines.size()), N}, first_b.options());
  const bool done = launched(first_b.device(), [&](const Tables& tables, void* stream) {
    return for_each_table(lines, [&](kernels::FactorTable& table, int64_t first, int entries) {
      for (int k = 0; k < entries; ++k) {
        if (lines[static_cast<size_t>(first + k)].a.size(0) == 1) table.entry[k].a_stride = 0;
      }
      return kernels::row_dots(
          tables, stream, table, entries, static_cast<int>(N), dots.data_ptr<float>() + first * N);
    });
  });
  if (!done) return std::nullopt;
  return dots;
}

std::optional<Tensor> counts_by_table(const std::vector<TableRows>& given, const Bins& bins) {
  const int64_t size = bins.count + 3, N = given[0].b.size(0);
  if (size > kMostBins) return std::nullopt;
  const std::vector<TableRows> rows = in_lines(given);
  const Tensor& first_b = rows[0].b;
  const at::DeviceGuard guard(first_b.device());
  const Tensor counts =
      at::zeros({static_cast<int64_t>(rows.size()), size}, first_b.options().dtype(at::kLong));
  const auto [low, high, scale, count] = equal_bins<float>(bins);
  const kernels::TableBins equal = {low, high, scale, count};
  const auto centre = static_cast<int>(raw_index<float>(0, equal_bins<float>(bins)));
  const int64_t lines =
      1 + kBlocks / std::max<int64_t>(1, N * static_cast<int64_t>(rows.size()) / 4);
  const bool done = launched(first_b.device(), [&](const Tables& tables, void* stream) {
    return for_each_table(rows, [&](kernels::FactorTable& table, int64_t first, int entries) {
      return kernels::count_products(tables,
                                     stream,
                                     table,
                                     entries,
                                     static_cast<int>(N),
                                     static_cast<int>(lines),
                                     equal,
                                     centre,
                                     counts.data_ptr<int64_t>() + first * size);
    });
  });
  if (!done) return std::nullopt;
  return counts;
}

std::optional<TableSums> sums_by_table(const std::vector<TablePair>& pairs) {
  const Tensor& first_x = pairs[0].x;
  const at::DeviceGuard guard(first_x.device());
  std::vector<Tensor> squares, before;
  const bool done = launched(first_x.device(), [&](const Tables& tables, void* stream) {
    for (size_t first = 0; first < pairs.size(); first += kTableEntries) {
      const size_t count = std::min<size_t>(kTableEntries, pairs.size() - first);
      kernels::PairTable table{};
      table.entries = static_cast<int>(count);
      int64_t blocks = 0;
      const auto pointer = [](const Tensor& tensor) {
        return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
      };
      for (size_t k = 0; k < count; ++k) {
        const TablePair& pair = pairs[first + k];
        table.entry[k] = {pointer(pair.x),
                          pointer(pair.y),
                          pointer(pair.difference),
                          pointer(pair.copy),
                          pair.x.numel(),
                          blocks};
        blocks += (pair.x.numel() + kernels::kSweepPerBlock - 1) / kernels::kSweepPerBlock;
      }
      const Tensor parts = at::empty({blocks, 2}, doubles_on(first_x));
      const Tensor sums = at::empty({2, static_cast<int64_t>(count)}, doubles_on(first_x));
      if (!kernels::sweep(
              tables, stream, table, blocks, parts.data_ptr<double>(), sums.data_ptr<double>())) {
        return false;
      }
      squares.push_back(sums[0]);
      before.push_back(sums[1]);
    }
    return true;
  });
  if (!done) return std::nullopt;
  const auto joined = [](const std::vector<Tensor>& parts) {
    return parts.size() == 1 ? parts[0] : at::cat(parts);
  };
  return TableSums{joined(squares), joined(before)};
}

std::optional<TableSums> sums_by_table(const std::vector<Tensor>& x, const std::vector<Tensor>& y) {
  std::vector<TablePair> pairs;
  for (size_t k = 0; k < x.size(); ++k) {
    if (!fit_tables(x[k], y[k]) || x[k].device() != x[0].device()) return std::nullopt;
    pairs.push_back({x[k], y[k], {}, {}});
  }
  if (pairs.empty()) return std::nullopt;
  return sums_by_table(pairs);
}

std::optional<Tensor> packed_by_table(const std::vector<const Tensor*>& tensors) {
  const at::DeviceGuard guard(tensors[0]->device());
  std::vector<Tensor> contiguous;
  std::vector<kernels::Parcel> parcels;
  int64_t size = 0;
  for (const Tensor* given : tensors) {
    const auto type = given->scalar_type();
    const bool fits = type == at::kFloat || type == at::kDouble || type == at::kLong;
    contiguous.push_back(fits ? given->contiguous() : given->to(at::kDouble).contiguous());
    const auto parcel_type = type == at::kFloat  ? kernels::ParcelType::kFloat
                             : type == at::kLong ? kernels::ParcelType::kInt64
                                                 : kernels::ParcelType::kDouble;
    parcels.push_back({contiguous.back().data_ptr(), given->numel(), size, parcel_type});
    size += given->numel();
  }
  const Tensor list = at::empty({size}, doubles_on(*tensors[0]));
  const bool done = launched(list.device(), [&](const Tables& tables, void* stream) {
    for (size_t first = 0; first < parcels.size(); first += kTableEntries) {
      const size_t count = std::min<size_t>(kTableEntries, parcels.size() - first);
      kernels::ParcelTable table{};
      std::copy_n(parcels.begin() + static_cast<std::ptrdiff_t>(first), count, table.entry);
      if (!kernels::pack(tables, stream, table, static_cast<int>(count), list.data_ptr<double>())) {
        return false;
      }
    }
    return true;
  });
  if (!done) return std::nullopt;
  return list;
}

}  // namespace flightdeck
