// SPDX-License-Identifier: MIT
#include "suite/formats/cifar_binary.h"

#include <filesystem>
#include <fstream>

#include <ATen/Functions.h>

#include "src/base/limits.h"
#include "src/base/plain_file.h"

namespace flightdeck::suite {

CifarRecords read_cifar_binary(const std::string& path, int64_t label_bytes) {
  constexpr int64_t kImage = 3 * 32 * 32;
  const int64_t record = label_bytes + kImage;
  check_plain(path);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  TORCH_CHECK(file.good(), "cifar: cannot open ", path);
  const int64_t length = file.tellg();
  TORCH_CHECK(length <= limits::kCifarBytes,
              "cifar: ",
              path,
              " has ",
              length,
              " bytes, more than the ",
              limits::kCifarBytes,
              " that are read of such a file; fetch the file again");
  TORCH_CHECK(length > 0 && length % record == 0,
              "cifar: ",
              path,
              " has ",
              length,
              " bytes but should be a whole number of records of ",
              record,
              " bytes; fetch the file again");
  at::Tensor bytes = at::empty({length / record, record}, at::kByte);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data_ptr<uint8_t>()), length);
  TORCH_CHECK(
      file.gcount() == length, "cifar: read ", file.gcount(), " of ", length, " bytes of ", path);
  return {bytes.slice(1, label_bytes).contiguous().view({-1, 3, 32, 32}),
          bytes.slice(1, 0, label_bytes).contiguous()};
}

}  // namespace flightdeck::suite
