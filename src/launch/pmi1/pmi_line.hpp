#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::launch {

/// A parsed line of the PMI-1 wire: `cmd=get_result rc=0 value=x`.
/// Shape:    owns the text; at most `fields_max` fields. Servers use any order and add fields of
///           their own, so fields are found by key; words without '=' are skipped.
/// Errors:   `parse` returns nothing if the line does not begin with cmd=NAME or mcmd=NAME.
/// Source:   the PMI-1 wire protocol of MPICH. Fuzzed by tests/fuzz/pmi_line_fuzz.cpp.
class pmi_line {
 public:
  static constexpr std::size_t fields_max = 64;

  /// `line` without its newline. A character after a backslash does not separate fields; values
  /// stay escaped, so that a server can pass them on unchanged.
  [[nodiscard]] static std::optional<pmi_line> parse(std::string_view line);

  /// "get_result" of the example above; "spawn" for mcmd=spawn.
  [[nodiscard]] std::string_view command() const noexcept { return view(fields_.front().value); }
  [[nodiscard]] bool is_multi_line() const noexcept;
  /// The first value of `key`, as it was on the wire. Valid as long as this line lives.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;
  /// The same as a decimal number; nothing if it is absent or not a number.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const noexcept;
  /// rc= of a reply. Older servers omit it on success.
  [[nodiscard]] bool succeeded() const noexcept;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  struct piece {
    std::size_t begin = 0, size = 0;
  };
  struct field {
    piece key, value;
  };
  [[nodiscard]] std::string_view view(piece p) const noexcept {
    return std::string_view(text_).substr(p.begin, p.size);
  }

  std::string text_;
  std::vector<field> fields_;
};

/// A decimal number and nothing else, or nothing.
[[nodiscard]] std::optional<std::int64_t> decimal(std::string_view text) noexcept;

/// Free text as the value of a field: a backslash before each space and backslash, control
/// characters become '?'. `unescaped` removes the backslashes.
[[nodiscard]] std::string escaped(std::string_view text);
[[nodiscard]] std::string unescaped(std::string_view value);

}  // namespace headway::launch
