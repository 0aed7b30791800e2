// SPDX-License-Identifier: MIT
#include "curvature/kept_products.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <ATen/ATen.h>

#include "base/whole_file.h"

namespace flightdeck {
namespace {

// Stands in front of the entries. The machine that writes it also reads it: it is as in memory.
struct Head {
  char mark[8] = {'f', 'd', 'p', 'r', 'o', 'd', '0', '1'};
  uint64_t of = 0;  // fingerprint of what was multiplied
  int64_t batches = 0, samples = 0;
  int64_t type = 0, lines = 0, entries = 0;
};

std::string bytes_of(const Head& head, const Tensor& values) {
  std::string bytes(sizeof(Head) + values.nbytes(), '\0');
  std::memcpy(bytes.data(), &head, sizeof(Head));
  std::memcpy(bytes.data() + sizeof(Head), values.data_ptr(), values.nbytes());
  return bytes;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns nothing where the file is missing, is of other vectors, or does not hold what its head
// says.
std::optional<std::pair<Head, Tensor>> read(const std::string& path, const Tensor& vectors) {
  const std::string bytes = content_of(path);
  Head head;
  if (bytes.size() < sizeof(Head)) return {};
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof(Head));
  const bool is_ours = std::memcmp(head.mark, Head().mark, sizeof(head.mark)) == 0 &&
                       head.of == fingerprint(vectors) && head.lines == vectors.size(0) &&
                       head.entries == vectors.size(1) &&
                       (head.type == int64_t(at::kFloat) || head.type == int64_t(at::kDouble));
  if (!is_ours) return {};
  Tensor values = at::empty({head.lines, head.entries},
                            at::TensorOptions().dtype(static_cast<at::ScalarType>(head.type)));
  if (bytes.size() != sizeof(Head) + values.nbytes()) return {};
  std::memcpy(values.data_ptr(), bytes.data() + sizeof(Head), values.nbytes());
  return std::make_pair(head, values);
}

void write(const std::string& path,
           const Tensor& vectors,
           const Tensor& values,
           int64_t batches,
           int64_t samples) {
  const Tensor plain = values.to(at::kCPU).contiguous();
  Head head;
  head.of = fingerprint(vectors);
  head.batches = batches;
  head.samples = samples;
  head.type = static_cast<int64_t>(plain.scalar_type());
  head.lines = plain.size(0);
  head.entries = plain.size(1);
  replace_file(path, bytes_of(head, plain));
}

std::string product_path(const std::string& folder, int64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "product_%06lld", static_cast<long long>(number));
  return folder + "/" + name;
}

std::string partial_path(const std::string& folder, int64_t number) {
  return product_path(folder, number) + "_partial";
}

}  // namespace

// Takes eight bytes at a time, since parameters have millions of entries.
uint64_t fingerprint(const Tensor& tensor, uint64_t seed) {
  const Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  const char* bytes = static_cast<const char*>(plain.data_ptr());
  const size_t size = plain.nbytes();
  uint64_t hash = (seed ^ 0xcbf29ce484222325u) * 0x100000001b3u;
  for (size_t begin = 0; begin < size; begin += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + begin, std::min<size_t>(8, size - begin));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

KeptProducts::KeptProducts(std::string folder, const std::string& description)
    : folder_(std::move(folder)) {
  const std::string path = folder_ + "/operator";
  const std::string there = content_of(path);
  TORCH_CHECK_VALUE(there.empty() || there == description,
                    "data set operator: the folder '",
                    folder_,
                    "' has the products of another matrix (",
                    there,
                    ") than this one (",
                    description,
                    "); give it another folder, or the same parameters and batches");
  if (there.empty()) replace_file(path, description);
}

std::optional<Tensor> KeptProducts::product(int64_t number, const Tensor& vectors) const {
  const auto found = read(product_path(folder_, number), vectors);
  return found ? std::optional<Tensor>(found->second) : std::nullopt;
}

std::optional<KeptProducts::Partial> KeptProducts::partial(int64_t number,
                                                           const Tensor& vectors) const {
  const auto found = read(partial_path(folder_, number), vectors);
  if (!found) return {};
  return Partial{found->first.batches, found->first.samples, found->second};
}

void KeptProducts::keep(int64_t number, const Tensor& vectors, const Tensor& result) const {
  write(product_path(folder_, number), vectors, result, 0, 0);
  forget_partial(number);
}

void KeptProducts::forget_partial(int64_t number) const {
  std::error_code ignored;
  std::filesystem::remove(partial_path(folder_, number), ignored);
}

void KeptProducts::keep(int64_t number, const Tensor& vectors, const Partial& partial) const {
  write(partial_path(folder_, number), vectors, partial.sum, partial.batches, partial.samples);
}

}  // namespace flightdeck
