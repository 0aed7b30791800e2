// SPDX-License-Identifier: MIT
#include "suite/formats/idx.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/Functions.h>
#include <zlib.h>

#include "src/base/limits.h"
#include "src/base/plain_file.h"

namespace flightdeck::suite {
namespace {

class GzipReader {
 public:
  explicit GzipReader(const std::string& path) : path_(path) {
    check_plain(path);
    file_.reset(gzopen(path.c_str(), "rb"));
    TORCH_CHECK(file_ != nullptr, "idx: cannot open ", path);
  }

  void read(uint8_t* out, int64_t count) {
    while (count > 0) {
      const unsigned chunk = static_cast<unsigned>(std::min<int64_t>(count, int64_t{1} << 30));
      const int got = gzread(file_.get(), out, chunk);
      TORCH_CHECK(got > 0,
                  "idx: ",
                  path_,
                  " ends ",
                  count,
                  " bytes before the length its header states; fetch the file again");
      out += got;
      count -= got;
    }
  }

  bool is_at_end() {
    uint8_t next = 0;
    return gzread(file_.get(), &next, 1) == 0;
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace

at::Tensor read_idx(const std::string& path, int dimensions) {
  GzipReader file(path);
  std::array<uint8_t, 4> magic;  // two zeros, element type, number of dimensions
  file.read(magic.data(), magic.size());
  constexpr uint8_t kUnsignedByte = 0x08;
  const bool has_bytes = magic[0] == 0 && magic[1] == 0 && magic[2] == kUnsignedByte;
  TORCH_CHECK(has_bytes && magic[3] == dimensions,
              "idx: ",
              path,
              " starts with bytes ",
              int{magic[0]},
              " ",
              int{magic[1]},
              " ",
              int{magic[2]},
              " ",
              int{magic[3]},
              " but an IDX file of unsigned bytes in ",
              dimensions,
              " dimensions starts with 0 0 8 ",
              dimensions);

  std::vector<int64_t> shape;
  int64_t count = 1;
  for (uint8_t dimension = 0; dimension < magic[3]; ++dimension) {
    std::array<uint8_t, 4> size;  // big-endian
    file.read(size.data(), size.size());
    shape.push_back(int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
    // The product does not overflow: the bound of `count` and the size are both below 2^32.
    count = std::min(count * shape.back(), limits::kIdxBytes + 1);
  }
  TORCH_CHECK(count <= limits::kIdxBytes,
              "idx: ",
              path,
              " states the sizes ",
              at::IntArrayRef(shape),
              ", more than the ",
              limits::kIdxBytes,
              " values that are read of such a file; fetch the file again");
  at::Tensor values = at::empty(shape, at::kByte);
  file.read(values.data_ptr<uint8_t>(), values.numel());
  TORCH_CHECK(file.is_at_end(),
              "idx: ",
              path,
              " goes on after the ",
              values.numel(),
              " values its header states; fetch the file again");
  return values;
}

}  // namespace flightdeck::suite
