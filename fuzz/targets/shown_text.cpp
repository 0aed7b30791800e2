// SPDX-License-Identifier: MIT
// Names and notes on their way to a terminal, a spreadsheet and a reader of JSON.
#include "base/csv.h"
#include "fuzz/fuzz.h"
#include "record/json_writer.h"
#include "record/text.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text = fuzz::text_of(bytes, size);
  for (const std::string& shown : {record::printable(text), record::json_string(text)}) {
    fuzz::require(record::valid_utf8(shown) == shown);
    for (size_t i = 0; i < shown.size(); ++i) {
      const auto byte = static_cast<uint8_t>(shown[i]);
      fuzz::require(byte >= 0x20 && byte != 0x7f);
      const bool is_c1 = byte == 0xc2 && static_cast<uint8_t>(shown[i + 1]) < 0xa0;
      fuzz::require(!is_c1);
    }
  }
  const std::string field = csv_field(text);
  const size_t first = field.rfind('"', 0) == 0 ? 1 : 0;
  fuzz::require(field.size() <= first ||
                std::string("=+-@\t\r").find(field[first]) == std::string::npos);
  return 0;
}
