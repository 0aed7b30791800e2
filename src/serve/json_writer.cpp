// SPDX-License-Identifier: MIT
#include "serve/json_writer.h"

#include "record/text.h"

namespace flightdeck::serve {

void JsonWriter::separate() {
  if (!is_first_) text_ += ',';
  is_first_ = false;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  is_first_ = true;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::key(const char* name) {
  separate();
  text_ += record::json_string(name);
  text_ += ':';
  is_first_ = true;
}

void JsonWriter::value(const std::string& text) {
  separate();
  text_ += record::json_string(text);
}

void JsonWriter::value(int64_t number) {
  separate();
  text_ += std::to_string(number);
}

void JsonWriter::value(double number) {
  separate();
  text_ += record::json_number(number);
}

void JsonWriter::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
}

}  // namespace flightdeck::serve
