#include "base/text_lines.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"

namespace headway::base {
namespace {

constexpr std::size_t line_bytes_max = 255;

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < ' '; }

}  // namespace

bool is_one_line(std::string_view text) noexcept {
  return !text.empty() && text.size() <= line_bytes_max && std::ranges::none_of(text, is_control);
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, is_control, ' ');
  text.resize(std::min(text.size(), line_bytes_max));
  return text.empty() ? "unknown" : text;
}

std::string with_sum(std::string text) {
  const auto sum = hash_of(text);
  return std::move(text) + fmt::format("sum {:016x}\n", sum);
}

result<std::string_view> without_sum(std::string_view text) {
  const auto last = text.rfind("sum ");
  if (last == std::string_view::npos) return failed(fault_kind::bad_input, "no sum at the end");
  const auto lines = text.substr(0, last);
  if (text.substr(last) != fmt::format("sum {:016x}\n", hash_of(lines)))
    return failed(fault_kind::bad_input, "the sum over it is wrong");
  return lines;
}

}  // namespace headway::base
