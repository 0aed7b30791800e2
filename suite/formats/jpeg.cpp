// SPDX-License-Identifier: MIT
#include "suite/formats/jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <jerror.h>
#include <jpeglib.h>

#include <ATen/ATen.h>

#include "src/base/limits.h"
#include "src/base/plain_file.h"

namespace flightdeck::suite {
namespace {

struct Errors {
  jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
  bool is_truncated;
};

Errors& errors_of(j_common_ptr info) { return *reinterpret_cast<Errors*>(info->err); }

void leave(j_common_ptr info) {
  Errors& errors = errors_of(info);
  errors.base.format_message(info, errors.message);
  std::longjmp(errors.back, 1);
}

// Notes the only warning that loses pixels, which libjpeg would fill with grey.
void note_warning(j_common_ptr info, int level) {
  Errors& errors = errors_of(info);
  if (level < 0 && errors.base.msg_code == JWRN_JPEG_EOF) errors.is_truncated = true;
}

// Limits the scans: a progressive image may go over all its pixels again and again.
void count_scans(j_common_ptr info) {
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= limits::kJpegScans) return;
  Errors& errors = errors_of(info);
  std::snprintf(errors.message,
                sizeof errors.message,
                "it has more than %d scans",
                static_cast<int>(limits::kJpegScans));
  std::longjmp(errors.back, 1);
}

// libjpeg leaves by longjmp, so the functions that call it hold nothing that has to be destroyed.
class Decoder {
 public:
  Decoder() {
    info_ = {};
    errors_ = {};
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = &leave;
    errors_.base.emit_message = &note_warning;
    jpeg_create_decompress(&info_);
    progress_ = {};
    progress_.progress_monitor = &count_scans;
    info_.progress = &progress_;
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  bool start(const std::string& bytes) {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info_, TRUE);
    if (int64_t{info_.image_width} * info_.image_height > limits::kJpegPixels) {
      std::snprintf(errors_.message,
                    sizeof errors_.message,
                    "%u x %u pixels are more than the %lld that are read",
                    info_.image_width,
                    info_.image_height,
                    static_cast<long long>(limits::kJpegPixels));
      return false;
    }
    const bool is_cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info_);
    return true;
  }

  bool read(uint8_t* rows) {
    if (setjmp(errors_.back) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = rows + int64_t{info_.output_scanline} * width() * channels();
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  int64_t height() const { return info_.output_height; }
  int64_t width() const { return info_.output_width; }
  int64_t channels() const { return info_.output_components; }
  bool is_inverted() const { return info_.saw_Adobe_marker; }  // of CMYK
  bool is_truncated() const { return errors_.is_truncated; }
  const char* message() const { return errors_.message; }

 private:
  jpeg_decompress_struct info_;
  jpeg_progress_mgr progress_;
  Errors errors_;
};

std::string bytes_of(const std::string& path) {
  try {
    return read_plain(path, limits::kJpegBytes);
  } catch (const std::runtime_error& error) {
    TORCH_CHECK(false, "data: ", error.what(), "; check that it exists and may be read");
  }
}

at::Tensor from_cmyk(const at::Tensor& image, bool is_inverted) {  // [H, W, 4]
  const at::Tensor ink = image.to(at::kFloat);
  const at::Tensor light = is_inverted ? ink : 255.0 - ink;
  return (light.slice(2, 0, 3) * light.slice(2, 3) / 255.0).round().to(at::kByte);
}

}  // namespace

bool has_jpeg() { return true; }

at::Tensor read_jpeg(const std::string& path) {
  const std::string bytes = bytes_of(path);
  Decoder decoder;
  const auto check = [&](bool is_good) {
    TORCH_CHECK(is_good,
                "data: ",
                path,
                " is no JPEG file that can be read (",
                decoder.message(),
                "); fetch it again, or convert it to JPEG");
  };
  check(decoder.start(bytes));
  at::Tensor image = at::empty({decoder.height(), decoder.width(), decoder.channels()}, at::kByte);
  check(decoder.read(image.data_ptr<uint8_t>()));
  TORCH_CHECK(!decoder.is_truncated(),
              "data: ",
              path,
              " is truncated: its ",
              bytes.size(),
              " bytes end before the image does; fetch it again");
  if (image.size(2) == 4) image = from_cmyk(image, decoder.is_inverted());
  return image.permute({2, 0, 1}).contiguous();
}

}  // namespace flightdeck::suite
