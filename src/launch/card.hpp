#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway::launch {

/// Everything a rank has published, by name: what the ranks give each other at an exchange.
using card = std::map<std::string, std::vector<std::byte>, std::less<>>;

inline constexpr std::size_t card_name_bytes_max = 32;
inline constexpr std::size_t card_bytes_max = 1 << 20;

/// One block of bytes: for each entry a byte with the name's length, the name, four bytes (low
/// byte first) with the value's length, the value.
[[nodiscard]] std::vector<std::byte> pack_card(const card& entries);
/// Nothing if `bytes` is not what `pack_card` makes. Fuzzed by tests/fuzz/greeting_fuzz.cpp.
[[nodiscard]] std::optional<card> unpack_card(std::span<const std::byte> bytes);

/// Bytes as text that every PMI server carries unharmed (URL-safe base64, no padding), and back.
[[nodiscard]] std::string to_wire_text(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::vector<std::byte>> from_wire_text(std::string_view text);

}  // namespace headway::launch
