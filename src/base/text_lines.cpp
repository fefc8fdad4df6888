#include "base/text_lines.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"

namespace headway::base {

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
