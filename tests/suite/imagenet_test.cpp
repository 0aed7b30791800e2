// SPDX-License-Identifier: MIT
// ImageNet from folders of JPEG files that are written here.
#include <cstdio>
#include <jpeglib.h>

#include <torch/torch.h>

#include "errors.h"
#include "suite/augment.h"
#include "suite/batches.h"
#include "suite/files.h"
#include "suite/formats/jpeg.h"

namespace flightdeck::suite {
namespace {

// One colour all over, components as libjpeg has them: 3 are RGB, 1 is grey, 4 are CMYK.
std::string jpeg_of(int height, int width, const std::vector<uint8_t>& colour) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = static_cast<int>(colour.size());
  info.in_color_space = colour.size() == 3   ? JCS_RGB
                        : colour.size() == 1 ? JCS_GRAYSCALE
                                             : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row;
  for (int i = 0; i < width; ++i) row.insert(row.end(), colour.begin(), colour.end());
  for (int i = 0; i < height; ++i) {
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  const std::string text(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return text;
}

class Imagenet : public FilesTest {
 protected:
  void SetUp() override {
    FilesTest::SetUp();
    options_.folder = folder_;
  }
  void write_images() {
    for (const char* name : {"train/n01/a.JPEG", "train/n01/b.JPEG", "train/n03/c.JPEG"}) {
      for (int i = 0; i < 20; ++i) {
        write(name + std::to_string(i), jpeg_of(300, 400, {200, 100, 50}));
      }
    }
    write("val/n01/x.JPEG", jpeg_of(20, 30, {10, 20, 30}));
    write("val/n03/y.JPEG", jpeg_of(260, 230, {10, 20, 30}));
  }
  void expect_colour(const at::Tensor& image, double red, double green, double blue) {
    const at::Tensor found = image.to(torch::kDouble).mean(at::IntArrayRef({1, 2}));
    EXPECT_TRUE(torch::allclose(found, torch::tensor({red, green, blue}, torch::kDouble), 0, 2.5))
        << found;
  }
  std::string message() {
    return tests::error_of([&] { load_data("imagenet", options_); });
  }

  DataOptions options_;
};

TEST_F(Imagenet, ReadsColourGreyAndCmyk) {
  write("colour", jpeg_of(10, 12, {200, 100, 50}));
  write("grey", jpeg_of(10, 12, {77}));
  write("ink", jpeg_of(10, 12, {255, 128, 0, 128}));  // inverted, as Adobe's files are
  const at::Tensor colour = read_jpeg(path("colour"));
  EXPECT_EQ(colour.sizes(), (std::vector<int64_t>{3, 10, 12}));
  expect_colour(colour, 200, 100, 50);
  expect_colour(read_jpeg(path("grey")), 77, 77, 77);
  expect_colour(read_jpeg(path("ink")), 128, 64, 0);
}

TEST_F(Imagenet, NamesAFileThatIsNoImage) {
  const auto message_of = [&](const std::string& name) {
    return tests::error_of([&] { read_jpeg(path(name)); });
  };
  write("text", "not an image at all");
  tests::expect_mentions(message_of("text"), {"text", "no JPEG file"});
  write("empty", "");
  tests::expect_mentions(message_of("empty"), {"empty", "no JPEG file"});
  const std::string image = jpeg_of(200, 200, {1, 2, 3});
  write("short", image.substr(0, image.size() / 2));
  tests::expect_mentions(message_of("short"), {"short", "truncated", "bytes"});
  tests::expect_mentions(message_of("none"), {"none", "cannot read"});
}

TEST_F(Imagenet, RefusesAnImageOfTooManyPixels) {
  std::string bytes = jpeg_of(16, 16, {200, 100, 50});
  // The frame header: marker, length, bits per sample, height, width.
  const size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  bytes.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  write("large", bytes);
  tests::expect_mentions(tests::error_of([&] { read_jpeg(path("large")); }),
                         {"65500 x 65500 pixels", "134217728"});
}

TEST_F(Imagenet, LabelsSortedFoldersFromOne) {
  write_images();
  const DataSet data = load_data("imagenet", options_);
  EXPECT_EQ(data.classes, 1001);
  EXPECT_EQ(data.train.size() + data.valid.size(), 60);
  EXPECT_EQ(data.valid.size(), 2);  // 50 000 of 1 281 167
  EXPECT_TRUE(torch::equal(data.test.targets, torch::tensor({1, 2})));
  EXPECT_EQ(data.train.targets.max().item<int64_t>(), 2);
}

TEST_F(Imagenet, CropsInTheMiddleForTestingAndAnywhereForTraining) {
  write_images();
  options_.raw = true;
  const DataSet data = load_data("imagenet", options_);
  const at::Tensor test = data.prepare(data.test.inputs);
  ASSERT_EQ(test.sizes(), (std::vector<int64_t>{2, 3, 224, 224}));
  expect_colour(test[0], 10, 20, 30);
  BatchOptions options;
  options.batch_size = 2;
  const Batch batch = Batches(data, Part::kTrain, options).next();
  ASSERT_EQ(batch.inputs.sizes(), (std::vector<int64_t>{2, 3, 224, 224}));
  expect_colour(batch.inputs[1], 200, 100, 50);
}

TEST_F(Imagenet, NamesFoldersThatDoNotFit) {
  tests::expect_mentions(message(), {"imagenet was not found", "train, val", "image-net.org"});
  write("train/flat.JPEG", "");
  write("val/n01/a.JPEG", "");
  tests::expect_mentions(message(), {"/train", "0 folders", "1000 classes"});
  write("train/n02/a.JPEG", "");
  tests::expect_mentions(message(), {"/val", "n01", "training folder"});
}

TEST(ImagenetSynthetic, LooksLikeTheRealOne) {
  DataOptions options;
  options.synthetic = true;
  options.limit = 4;
  const DataSet data = load_data("imagenet", options);
  EXPECT_GE(data.train.targets.min().item<int64_t>(), 1);
  BatchOptions two;
  two.batch_size = 2;
  for (const Part part : {Part::kTrain, Part::kTest}) {
    const Batch batch = Batches(data, part, two).next();
    ASSERT_EQ(batch.inputs.sizes(), (std::vector<int64_t>{2, 3, 224, 224}));
    EXPECT_NEAR(batch.inputs.mean().item<double>(), 0.0, 1e-3);
  }
}

}  // namespace
}  // namespace flightdeck::suite
