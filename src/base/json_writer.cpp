#include "base/json_writer.hpp"

#ifdef __clang__  // RapidJSON adds to a null pointer before it has any memory
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <cmath>

#include "base/assert.hpp"

namespace headway::base {

struct json_writer::parts {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer{text};
};

namespace {

rapidjson::SizeType length_of(std::string_view text) noexcept {
  return static_cast<rapidjson::SizeType>(text.size());
}

}  // namespace

json_writer::json_writer() : parts_(std::make_unique<parts>()) {}
json_writer::~json_writer() = default;

void json_writer::value(std::string_view text) {
  parts_->writer.String(text.data(), length_of(text));
}
void json_writer::value(std::uint64_t number) { parts_->writer.Uint64(number); }
void json_writer::value(std::int64_t number) { parts_->writer.Int64(number); }
void json_writer::value(double number) {
  if (std::isfinite(number)) parts_->writer.Double(number);
  else parts_->writer.Null();
}
void json_writer::value(bool is_true) { parts_->writer.Bool(is_true); }
void json_writer::name(std::string_view member) {
  parts_->writer.Key(member.data(), length_of(member));
}

void json_writer::begin_object() { parts_->writer.StartObject(); }
void json_writer::end_object() { parts_->writer.EndObject(); }
void json_writer::begin_array() { parts_->writer.StartArray(); }
void json_writer::end_array() { parts_->writer.EndArray(); }
void json_writer::break_line() { parts_->text.Put('\n'); }

std::string json_writer::take() {
  HEADWAY_ASSERT(parts_->writer.IsComplete());
  std::string whole(parts_->text.GetString(), parts_->text.GetSize());
  parts_->text.Clear();
  parts_->writer.Reset(parts_->text);
  return whole;
}

}  // namespace headway::base
