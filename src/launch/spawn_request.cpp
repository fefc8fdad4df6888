#include "launch/spawn_request.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace headway::launch {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

void put(std::string& to, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    to += digits[byte >> 4];
    to += digits[byte & 15];
  }
}

std::optional<std::string> bytes_of(std::string_view word) {
  if (word.size() % 2 != 0) return std::nullopt;
  std::string made;
  for (std::size_t i = 0; i < word.size(); i += 2) {
    const auto high = digits.find(word[i]), low = digits.find(word[i + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    made += static_cast<char>(high << 4 | low);
  }
  return made;
}

/// Takes what ends with a zero byte.
std::optional<std::string> take_text(std::string_view& from) {
  const auto end = from.find('\0');
  if (end == from.npos) return std::nullopt;
  std::string text(from.substr(0, end));
  from.remove_prefix(end + 1);
  return text;
}

}  // namespace

std::string spawn_request::packed() const {
  std::string made;
  const auto put_text = [&](std::string_view text) {
    put(made, text);
    made += "00";
  };
  put_text(directory);
  for (const auto* list : {&arguments, &environment}) {
    put_text(std::to_string(list->size()));
    for (const auto& text : *list) put_text(text);
  }
  return made;
}

std::optional<spawn_request> spawn_request::unpack(std::string_view word) {
  if (word.size() > packed_bytes_max) return std::nullopt;
  const auto bytes = bytes_of(word);
  if (!bytes) return std::nullopt;
  std::string_view left = *bytes;
  spawn_request made;
  auto directory = take_text(left);
  if (!directory) return std::nullopt;
  made.directory = std::move(*directory);
  for (auto* list : {&made.arguments, &made.environment}) {
    const auto count = take_text(left);
    if (!count || count->empty() || count->size() > 6 ||
        count->find_first_not_of("0123456789") != count->npos)
      return std::nullopt;
    for (int i = std::stoi(*count); i > 0; --i) {
      auto text = take_text(left);
      if (!text) return std::nullopt;
      list->push_back(std::move(*text));
    }
  }
  return left.empty() ? std::optional(std::move(made)) : std::nullopt;
}

bool is_of_outer_launcher(std::string_view entry) noexcept {
  constexpr std::array<std::string_view, 8> words = {"PMI_",
                                                     "PMIX_",
                                                     "HYDI_",
                                                     "OMPI_COMM_WORLD_",
                                                     "HEADWAY_WIRE=",
                                                     "MPI_LOCAL",
                                                     "HEADWAY_SPAWN_PORT=",
                                                     "HEADWAY_PARENT_PORT="};
  return std::ranges::any_of(words, [&](auto word) { return entry.starts_with(word); });
}

}  // namespace headway::launch
