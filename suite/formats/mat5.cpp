// SPDX-License-Identifier: MIT
// A level 5 file is a header of 128 bytes and a list of elements: a tag (type, length) and data.
// Arrays are elements of type matrix, mostly each compressed by zlib; their parts are elements too:
// flags, sizes, name, values.
#include "suite/formats/mat5.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include <ATen/Functions.h>
#include <zlib.h>

#include "src/base/limits.h"
#include "src/base/plain_file.h"

namespace flightdeck::suite {
namespace {

enum Type : uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt32 = 5,
  kUint32 = 6,
  kMatrix = 14,
  kCompressed = 15
};

// The bytes of one element, inflated if they are compressed.
class Bytes {
 public:
  Bytes(std::ifstream& file, const std::string& path, int64_t length, bool is_compressed)
      : file_(file), path_(path), left_(length) {
    if (!is_compressed) return;
    stream_.reset(new z_stream());
    TORCH_CHECK(inflateInit(stream_.get()) == Z_OK, "mat5: zlib cannot start on ", path_);
  }

  void read(void* out, int64_t count) {
    if (stream_) {
      inflate_to(static_cast<uint8_t*>(out), count);
    } else {
      read_file(out, count);
    }
  }

  void skip(int64_t count) {
    std::array<uint8_t, 8> padding;
    TORCH_INTERNAL_ASSERT(count <= static_cast<int64_t>(padding.size()));
    read(padding.data(), count);
  }

 private:
  struct End {
    void operator()(z_stream* stream) const {
      inflateEnd(stream);
      delete stream;
    }
  };

  void read_file(void* out, int64_t count) {
    TORCH_CHECK(count <= left_,
                "mat5: an element of ",
                path_,
                " has ",
                left_,
                " bytes left where ",
                count,
                " are needed; fetch the file again");
    file_.read(static_cast<char*>(out), count);
    TORCH_CHECK(file_.gcount() == count,
                "mat5: ",
                path_,
                " ends ",
                count - file_.gcount(),
                " bytes too early; fetch the file again");
    left_ -= count;
  }

  void inflate_to(uint8_t* out, int64_t count) {
    while (count > 0) {
      if (stream_->avail_in == 0) {
        const int64_t chunk = std::clamp<int64_t>(left_, 1, static_cast<int64_t>(input_.size()));
        read_file(input_.data(), chunk);
        stream_->next_in = input_.data();
        stream_->avail_in = static_cast<uInt>(chunk);
      }
      const uInt wanted = static_cast<uInt>(std::min<int64_t>(count, int64_t{1} << 30));
      stream_->next_out = out;
      stream_->avail_out = wanted;
      const int status = inflate(stream_.get(), Z_NO_FLUSH);
      const int64_t got = wanted - stream_->avail_out;
      out += got;
      count -= got;
      TORCH_CHECK(status == Z_OK || (status == Z_STREAM_END && count == 0),
                  "mat5: compressed data in ",
                  path_,
                  " are damaged or end early (zlib status ",
                  status,
                  "); fetch the file again");
    }
  }

  std::ifstream& file_;
  const std::string& path_;
  int64_t left_;
  std::unique_ptr<z_stream, End> stream_;
  std::vector<uint8_t> input_ = std::vector<uint8_t>(1 << 16);
};

struct Tag {
  uint32_t type = 0;
  uint32_t length = 0;
  bool is_small = false;  // the data follow within the tag's own 8 bytes
};

Tag parse_tag(const std::array<uint32_t, 2>& words) {
  if (words[0] >> 16 != 0) return {words[0] & 0xffff, words[0] >> 16, true};
  return {words[0], words[1], false};
}

// Reads a part of a matrix: data of at most `limit` bytes with the padding to 8 bytes.
std::vector<uint8_t> read_part(Bytes& bytes, Type type, const char* what, const std::string& path) {
  constexpr uint32_t kLimit = 4096;  // flags, sizes and names are short
  std::array<uint32_t, 2> words;
  bytes.read(words.data(), 8);
  const Tag tag = parse_tag(words);
  TORCH_CHECK(tag.type == type && tag.length <= (tag.is_small ? 4 : kLimit),
              "mat5: ",
              what,
              " of an array in ",
              path,
              " have type ",
              tag.type,
              " and ",
              tag.length,
              " bytes but should have type ",
              uint32_t{type},
              " and at most ",
              kLimit,
              "; fetch the file again");
  std::vector<uint8_t> data(tag.length);
  if (tag.is_small) {
    std::memcpy(data.data(), &words[1], tag.length);
  } else {
    bytes.read(data.data(), tag.length);
    bytes.skip((8 - tag.length % 8) % 8);
  }
  return data;
}

at::Tensor read_values(Bytes& bytes,
                       const std::vector<int64_t>& shape,
                       const std::string& variable,
                       const std::string& path) {
  std::array<uint32_t, 2> words;
  bytes.read(words.data(), 8);
  const Tag tag = parse_tag(words);
  TORCH_CHECK(tag.type == kUint8,
              "mat5: ",
              variable,
              " in ",
              path,
              " is stored as type ",
              tag.type,
              " but only unsigned bytes (type ",
              uint32_t{kUint8},
              ") are read; fetch the file again");
  int64_t count = 1;
  for (const int64_t size : shape) {
    TORCH_CHECK(size >= 0 && (size == 0 || count <= (int64_t{1} << 32) / size),
                "mat5: ",
                variable,
                " in ",
                path,
                " has sizes ",
                at::IntArrayRef(shape),
                " but an element of a file holds less than 2^32 bytes; fetch the file again");
    count *= size;
  }
  TORCH_CHECK(tag.length == count,
              "mat5: ",
              variable,
              " in ",
              path,
              " has ",
              tag.length,
              " values but sizes ",
              at::IntArrayRef(shape),
              "; fetch the file again");
  TORCH_CHECK(count <= (tag.is_small ? 4 : limits::kMatBytes),
              "mat5: ",
              variable,
              " in ",
              path,
              " has ",
              count,
              " values, more than the ",
              tag.is_small ? 4 : limits::kMatBytes,
              " that are read of such an element; fetch the file again");
  at::Tensor values = at::empty(shape, at::kByte);
  if (tag.is_small) {
    std::memcpy(values.data_ptr<uint8_t>(), &words[1], tag.length);
  } else {
    bytes.read(values.data_ptr<uint8_t>(), count);
  }
  return values;
}

// Returns the matrix at the front of `bytes` if it is called `variable`, else an undefined tensor.
at::Tensor read_matrix(Bytes& bytes, const std::string& variable, const std::string& path) {
  read_part(bytes, kUint32, "flags", path);
  const std::vector<uint8_t> sizes = read_part(bytes, kInt32, "sizes", path);
  const std::vector<uint8_t> name = read_part(bytes, kInt8, "name", path);
  if (std::string(name.begin(), name.end()) != variable) return at::Tensor();
  std::vector<int64_t> shape(sizes.size() / 4);
  TORCH_CHECK(!shape.empty() && shape.size() <= limits::kDimensions,
              "mat5: ",
              variable,
              " in ",
              path,
              " has ",
              shape.size(),
              " dimensions, not 1 to ",
              limits::kDimensions,
              "; fetch the file again");
  for (size_t i = 0; i < shape.size(); ++i) {
    int32_t size = 0;
    std::memcpy(&size, &sizes[4 * i], 4);
    shape[shape.size() - 1 - i] = size;
  }
  return read_values(bytes, shape, variable, path);
}

void check_header(std::ifstream& file, const std::string& path) {
  std::array<char, 128> header = {};
  file.read(header.data(), header.size());
  TORCH_CHECK(file.gcount() == static_cast<std::streamsize>(header.size()) && header[125] == 1 &&
                  header[126] == 'I' && header[127] == 'M',
              "mat5: ",
              path,
              " is not a little-endian MATLAB file of level 5: it has ",
              file.gcount(),
              " of the 128 header bytes and they end in ",
              int{header[125]},
              " ",
              int{header[126]},
              " ",
              int{header[127]},
              " where 1 73 77 are due; fetch the file again");
}

}  // namespace

at::Tensor read_mat5(const std::string& path, const std::string& variable) {
  check_plain(path);
  std::ifstream file(path, std::ios::binary);
  TORCH_CHECK(file.good(), "mat5: cannot open ", path);
  check_header(file, path);
  std::array<uint32_t, 2> words;
  while (file.read(reinterpret_cast<char*>(words.data()), 8)) {
    const Tag element = parse_tag(words);
    const std::streamoff next = file.tellg() + std::streamoff{element.length};
    Bytes bytes(file, path, element.length, element.type == kCompressed);
    Tag matrix = element;
    if (element.type == kCompressed) {
      bytes.read(words.data(), 8);
      matrix = parse_tag(words);
    }
    if (matrix.type == kMatrix) {
      at::Tensor values = read_matrix(bytes, variable, path);
      if (values.defined()) return values;
    }
    file.seekg(next);
  }
  TORCH_CHECK(false,
              "mat5: ",
              path,
              " holds no array called ",
              variable,
              "; fetch the file of the right data set again");
}

}  // namespace flightdeck::suite
