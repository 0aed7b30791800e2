// SPDX-License-Identifier: MIT
// War and Peace in English, character by character: samples of 50 that follow one another, each
// with the text one character later as its target.
#include <cmath>

#include <ATen/ATen.h>

#include "suite/data/source.h"
#include "suite/formats/text.h"
#include "suite/text.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr const char* kFile = "war-and-peace.txt";

// Cuts a text into samples; leaves out characters behind the last full one.
Samples cut(const Tensor& text) {
  const int64_t n = (text.size(0) - 1) / kTextLength;
  const auto from = [&](int64_t begin) {
    return text.slice(0, begin, begin + n * kTextLength).reshape({n, kTextLength});
  };
  return {from(0).clone(), from(1).to(at::kLong)};
}

// Takes the last fifth for testing, and as much from the beginning for validation.
Parts split(const Tensor& text) {
  const int64_t n = text.size(0);
  const int64_t test = n - static_cast<int64_t>(std::ceil(0.8 * static_cast<double>(n)));
  Parts parts;
  parts.valid = cut(text.slice(0, 0, test));
  parts.train = cut(text.slice(0, test, n - test));
  parts.test = cut(text.slice(0, n - test));
  return parts;
}

Parts read_tolstoi(const std::string& folder) {
  const std::string path = folder + "/" + kFile;
  const std::string bytes = read_text(path);
  const Tensor text = ranks_of(decode_utf8(without_frame(bytes), path), kVocabulary, path);
  constexpr int64_t kLeast = 6 * (kTextLength + 1);
  TORCH_CHECK(text.size(0) >= kLeast,
              "data: ",
              path,
              " has ",
              text.size(0),
              " characters but needs at least ",
              kLeast,
              "; the novel has about 3.3 million");
  return split(text);
}

// Makes a text that can be learnt: most characters are one of three successors of the one before.
Parts generate_tolstoi(uint64_t seed) {
  Generator generator = generator_of(seed, /*purpose=*/0);
  uint8_t successors[kVocabulary][3];
  for (auto& row : successors) {
    for (uint8_t& entry : row)
      entry = static_cast<uint8_t>(uniform_integer(generator, kVocabulary));
  }
  Tensor text = at::empty({250000}, at::kByte);
  uint8_t* out = text.data_ptr<uint8_t>();
  uint8_t last = 0;
  for (int64_t i = 0; i < text.size(0); ++i) {
    const int64_t choice = uniform_integer(generator, 4);
    last = choice < 3 ? successors[last][choice]
                      : static_cast<uint8_t>(uniform_integer(generator, kVocabulary));
    out[i] = last;
  }
  return split(text);
}

}  // namespace

DataSource tolstoi() {
  DataSource source;
  source.name = "tolstoi";
  source.summary = "War and Peace, 3.3 million characters, 83 different ones";
  source.files = {kFile};
  source.how_to_get =
      "save the plain text of War and Peace, in UTF-8, as war-and-peace.txt (the published runs "
      "read "
      "attic/sequences/war-and-peace.txt of "
      "https://github.com/AllenDowney/fluent-python-notebooks, a copy of "
      "https://www.gutenberg.org/ebooks/2600)";
  source.train_samples = 52258;
  source.test_samples = 13064;
  source.classes = kVocabulary;
  source.read = &read_tolstoi;
  source.generate = &generate_tolstoi;
  source.prepare = [](const Tensor& characters) { return characters.to(at::kLong); };
  return source;
}

}  // namespace flightdeck::suite::data_sets
