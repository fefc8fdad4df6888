#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headway::base {

/// Writes JSON as text: RapidJSON's writer, with the names of members beside their values.
/// Numbers that JSON cannot express (infinite, not a number) become null.
class json_writer {
 public:
  json_writer();
  ~json_writer();
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;

  void value(std::string_view text);
  void value(std::uint64_t number);
  void value(std::int64_t number);
  void value(double number);
  void value(bool is_true);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(std::integral auto number) {
    if constexpr (std::signed_integral<decltype(number)>) value(std::int64_t{number});
    else value(std::uint64_t{number});
  }
  void name(std::string_view member);
  void member(std::string_view called, const auto& what) {
    name(called);
    value(what);
  }

  /// `members()` writes the members.
  void object(const auto& members) {
    begin_object();
    members();
    end_object();
  }
  /// `write(entry)` writes one value for each entry of the range. With `lines` each is on a line of
  /// its own.
  void array(const auto& entries, const auto& write, bool lines = false) {
    begin_array();
    for (const auto& entry : entries) {
      if (lines) break_line();
      write(entry);
    }
    end_array();
  }

  /// A member on a line of its own: such an array, an entry a line.
  void lines(std::string_view called, const auto& entries, const auto& write) {
    break_line();
    name(called);
    array(entries, write, true);
  }

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  /// What comes next begins on a new line.
  void break_line();

  /// What was written, which is one whole value. The writer begins another one.
  [[nodiscard]] std::string take();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::base
