#include "tools/headway/wrapped.hpp"

#include <algorithm>
#include <ranges>

namespace headway::tool {
namespace {

/// Characters, of which some have several bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out(indent, ' ');
  std::size_t at = indent;
  bool first = true;
  for (const auto part : text | std::views::split(' ')) {
    const std::string_view word(part);
    const auto width = width_of(word);
    if (!first && columns != 0 && at + 1 + width > columns) {
      out.erase(out.find_last_not_of(' ') + 1);  // what parts columns of a table
      out += '\n' + std::string(indent + 4, ' ');
      at = indent + 4;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width;
    first = false;
  }
  return out + '\n';
}

}  // namespace headway::tool
