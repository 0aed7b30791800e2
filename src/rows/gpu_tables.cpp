// SPDX-License-Identifier: MIT
#include "rows/gpu_tables.h"

#include <algorithm>
#include <dlfcn.h>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "kernels/isa.h"
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

// Finds the stream that LibTorch uses in this thread, by LibTorch's C interface: headers of CUDA
// are not needed, nor is a LibTorch with CUDA when this is built.
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
  if (device.is_cpu()) return launch(*kernels::reference_tables(), stream);
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
          has_a ? static_cast<int>(rows.a.size(-1)) : 1,
          static_cast<int>(rows.b.size(-1))};
}

// Puts entries side by side, whatever the stride of the samples.
Tensor in_lines(const Tensor& factor) {
  return !factor.defined() || factor.size(-1) == 1 || factor.stride(-1) == 1 ? factor
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

bool cpu_plays_gpu() {
  static const bool plays = kernels::wishes_gpu_reference();
  return plays;
}

bool runs_behind(const at::Device& device) { return !device.is_cpu() || cpu_plays_gpu(); }

bool fits_tables(const Tensor& tensor) {
  return (tensor.is_cuda() || (tensor.is_cpu() && cpu_plays_gpu())) &&
         tensor.scalar_type() == at::kFloat && tensor.numel() > 0;
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

namespace {

kernels::Slope slope_of(const TableSlope& given, int first_block) {
  const bool has_a = given.a.defined();
  kernels::Slope slope{};
  slope.a = has_a ? given.a.data_ptr<float>() : nullptr;
  slope.b = given.b.data_ptr<float>();
  slope.u = given.u.data_ptr<float>();
  const auto position_stride = [](const Tensor& factor) {
    return factor.dim() == 3 ? factor.stride(1) : 0;
  };
  if (has_a) {
    slope.a_stride = given.a.stride(0);
    slope.a_position = position_stride(given.a);
  }
  slope.b_stride = given.b.stride(0);
  slope.b_position = position_stride(given.b);
  slope.I = has_a ? static_cast<int>(given.a.size(-1)) : 1;
  slope.u_i = given.u_i;
  slope.u_j = given.u_j;
  slope.T = given.b.dim() == 3 ? static_cast<int>(given.b.size(1)) : 1;
  slope.J = static_cast<int>(given.b.size(-1));
  slope.first_block = first_block;
  return slope;
}

}  // namespace

bool slopes_pay(const TableSlope& slope) {
  // The kernel does some ten teraflops on a large GPU; LibTorch takes five launches.
  constexpr double kMostFlops = 4e8;
  const double I = slope.a.defined() ? static_cast<double>(slope.a.size(-1)) : 1;
  return 2.0 * static_cast<double>(slope.b.numel()) * I <= kMostFlops;
}

std::optional<Tensor> slopes_by_table(const std::vector<TableSlope>& given) {
  std::vector<TableSlope> all;
  for (const TableSlope& one : given) {
    all.push_back({in_lines(one.a), in_lines(one.b), one.u, one.u_i, one.u_j});
  }
  const Tensor& first_b = all[0].b;
  const at::DeviceGuard guard(first_b.device());
  const int64_t N = first_b.size(0);
  const Tensor slopes = at::empty({static_cast<int64_t>(all.size()), N}, first_b.options());
  const bool done = launched(first_b.device(), [&](const Tables& tables, void* stream) {
    for (size_t first = 0; first < all.size(); first += kernels::kTableSlopes) {
      const size_t count = std::min<size_t>(kernels::kTableSlopes, all.size() - first);
      kernels::SlopeTable table{};
      table.entries = static_cast<int>(count);
      int blocks = 0;
      for (size_t k = 0; k < count; ++k) {
        table.entry[k] = slope_of(all[first + k], blocks);
        blocks += (table.entry[k].I + kernels::kSlopeTile - 1) / kernels::kSlopeTile;
      }
      const Tensor parts = at::empty({blocks, N}, doubles_on(first_b));
      float* const to = slopes.data_ptr<float>() + static_cast<int64_t>(first) * N;
      const auto samples = static_cast<int>(N);
      if (!kernels::slopes(tables, stream, table, blocks, samples, parts.data_ptr<double>(), to)) {
        return false;
      }
    }
    return true;
  });
  if (!done) return std::nullopt;
  return slopes;
}

namespace {

std::optional<kernels::ParcelType> parcel_type(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return kernels::ParcelType::kFloat;
    case at::kDouble:
      return kernels::ParcelType::kDouble;
    case at::kLong:
      return kernels::ParcelType::kInt64;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool fits_sums(const Tensor& part) {
  constexpr int64_t kLargest = int64_t{1} << 14;
  return (part.is_cuda() || part.is_cpu()) && part.numel() <= kLargest && part.is_contiguous() &&
         parcel_type(part).has_value();
}

std::optional<std::vector<Tensor>> add_up_by_table(const std::vector<TableSum>& sums) {
  std::vector<Tensor> results;
  const c10::Device device = sums[0].parts[0].device();
  const at::DeviceGuard guard(device);
  for (size_t first = 0; first < sums.size();) {
    kernels::SumTable table{};
    int parts = 0, count = 0;
    for (; first < sums.size() && count < kernels::kTableSums; ++first, ++count) {
      const TableSum& sum = sums[first];
      const auto own = static_cast<int>(sum.parts.size());
      if (own > kernels::kTableParts) return std::nullopt;
      if (parts + own > kernels::kTableParts) break;
      for (const Tensor& part : sum.parts) {
        const bool fits = fits_sums(part) && part.device() == device &&
                          part.scalar_type() == sum.parts[0].scalar_type() &&
                          part.numel() == sum.parts[0].numel();
        if (!fits) return std::nullopt;
        table.part[parts++] = part.data_ptr();
      }
      results.push_back(at::empty_like(sum.parts[0]));
      table.sum[count] = results.back().data_ptr();
      table.length[count] = sum.parts[0].numel();
      table.first[count + 1] = parts;
      table.type[count] = *parcel_type(sum.parts[0]);
      table.is_root[count] = sum.is_root ? 1 : 0;
    }
    const bool done = launched(device, [&](const Tables& tables, void* stream) {
      return kernels::add_up(tables, stream, table, count);
    });
    if (!done) return std::nullopt;
  }
  return results;
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

bool has_samples(const Tensor& values, const Layout& layout) {
  return layout.is_batch() && !layout.is_scattered() && layout.dim < values.dim() &&
         values.size(layout.dim) == layout.length();
}

std::optional<Tensor> entry_numbers_by_table(const Tensor& values,
                                             double tiny,
                                             double huge,
                                             const Layout& layout) {
  if (values.is_cpu() && !cpu_plays_gpu()) return std::nullopt;
  if (!values.is_cpu() && !values.is_cuda()) return std::nullopt;
  if (values.numel() == 0) return std::nullopt;
  const at::DeviceGuard guard(values.device());
  const at::ScalarType given = values.scalar_type();
  const bool is_float = given == at::kFloat || given == at::kHalf || given == at::kBFloat16;
  Tensor entries = values.to(is_float ? at::kFloat : at::kDouble);
  if (!entries.is_non_overlapping_and_dense()) entries = entries.contiguous();
  const auto type = is_float ? kernels::ParcelType::kFloat : kernels::ParcelType::kDouble;
  const bool is_known = has_samples(entries, layout);
  // Entries lie side by side, so those of a sample come every so many.
  const int64_t stride = is_known ? entries.stride(layout.dim) * layout.inner : 1;
  const kernels::Entries table = {
      entries.data_ptr(), entries.numel(), tiny, huge, stride, is_known ? layout.N : 0, type};
  const int64_t blocks = (table.count + kernels::kSweepPerBlock - 1) / kernels::kSweepPerBlock;
  const Tensor parts = at::empty({blocks, kernels::kEntryNumbers}, doubles_on(values));
  const Tensor numbers = at::empty({kernels::kEntryNumbers}, doubles_on(values));
  const bool done = launched(values.device(), [&](const Tables& tables, void* stream) {
    return kernels::entry_numbers(
        tables, stream, table, blocks, parts.data_ptr<double>(), numbers.data_ptr<double>());
  });
  if (!done) return std::nullopt;
  return numbers;
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
